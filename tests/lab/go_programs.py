# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Builds programs from the Go modules that a ``go.mod`` of the lab pins, once a machine.

The binaries lie outside the checkout, under a name made from ``go.mod``, ``go.sum`` and the build's flags.
An existing binary is never built again.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.lab.supervisor import LabError, run

__all__ = ["GoPrograms"]


@dataclass(frozen=True)
class GoPrograms:
    """Main packages, by the name of their binary, and the directory of the ``go.mod`` that pins them."""

    name: str
    module: Path
    packages: Mapping[str, str]
    ldflags: str = "-s -w"

    @property
    def flags(self) -> list[str]:
        return ["-trimpath", "-buildvcs=false", f"-ldflags={self.ldflags}"]

    @property
    def cache_name(self) -> str:
        """The name of the directory in the cache."""
        digest = hashlib.sha256()
        for name in ("go.mod", "go.sum"):
            digest.update((self.module / name).read_bytes())
        digest.update(
            "\0".join([*self.flags, *self.packages, platform.system(), platform.machine()]).encode()
        )
        return f"{self.name}-{digest.hexdigest()[:16]}"

    def build(self, target: Path) -> None:
        """Build all programs into a new directory. Prints a line for each program."""
        target.mkdir()
        print(f"{self.name}: the first build takes some minutes, later runs none", flush=True)
        for number, (name, package) in enumerate(self.packages.items(), 1):
            started = time.monotonic()
            print(f"{self.name}: building {name} ({number}/{len(self.packages)}) ...", flush=True)
            self.go("build", *self.flags, "-o", str(target / name), package)
            size = (target / name).stat().st_size / 1e6
            print(f"{self.name}: {name}: {time.monotonic() - started:.0f} s, {size:.0f} MB", flush=True)

    def go(self, *arguments: str) -> str:
        """Run ``go`` in the module and return its output."""
        go = shutil.which("go")
        if go is None:
            raise LabError(f"{self.name}: building from source needs Go (1.25 or newer) on PATH")
        return run(go, *arguments, cwd=self.module, env={**os.environ, "CGO_ENABLED": "0"})
