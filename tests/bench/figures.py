# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Statistics, file stamps, and the report of a measurement with its goals."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench.report import machine


class Goal(NamedTuple):
    """A figure and its goal: at most ``limit``."""

    what: str
    value: float
    limit: float
    unit: str = ""

    @property
    def reached(self) -> bool:
        return self.value <= self.limit

    def __str__(self) -> str:
        mark = "" if self.reached else "  NOT REACHED"
        return f"{self.what}: {self.value:g} {self.unit}".rstrip() + f" (asked: at most {self.limit:g}){mark}"


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 1)


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return the two percentiles that have goals."""
    return {"p50": percentile(values, 0.5), "p99": percentile(values, 0.99)}


def stamp(path: Path) -> tuple[int, int] | None:
    """Return a value that changes with each write of the file; None if there is no file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def conclude(directory: Path, name: str, found: dict[str, Any], goals: Sequence[Goal]) -> None:
    """Print the result and the goals, and write the result to ``directory/TIME-name.json``.

    A missed goal does not fail a bench, because figures depend on the machine and its load.
    """
    print(json.dumps(found, indent=2))
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{time.strftime('%Y-%m-%dT%H%M%SZ', time.gmtime())}-{name}.json"
    path.write_text(json.dumps({"machine": machine(), name: found}, indent=2) + "\n")
    print("", *goals, path, sep="\n")
