# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How long a file takes to change, and what is said of a measurement in the end."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench.report import machine


class Goal(NamedTuple):
    """What the project asks of a figure: at most ``limit``."""

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
    """The two that are asked for."""
    return {"p50": percentile(values, 0.5), "p99": percentile(values, 0.99)}


def stamp(path: Path) -> tuple[int, int] | None:
    """Another one with each write of the file; ``None``: there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def conclude(directory: Path, name: str, found: dict[str, Any], goals: Sequence[Goal]) -> None:
    """Print it, with the goals that are not reached, and keep it as ``directory/TIME-name.json``.

    No goal that is missed fails a bench: figures depend on the machine, and on what else it does.
    """
    print(json.dumps(found, indent=2))
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{time.strftime('%Y-%m-%dT%H%M%SZ', time.gmtime())}-{name}.json"
    path.write_text(json.dumps({"machine": machine(), name: found}, indent=2) + "\n")
    print("", *goals, path, sep="\n")
