# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A control group of its own for each node, in every hierarchy the machine has.

What runs on a node is in its groups, so they also say what has to be ended when nothing else is known.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

from tests.lab.supervisor import is_running, wait_until


def hierarchies() -> list[Path]:
    """Return where the hierarchies are mounted, of either version."""
    out = []
    for line in Path("/proc/self/mounts").read_text().splitlines():
        point, kind = line.split()[1:3]
        if kind in ("cgroup", "cgroup2"):
            out.append(Path(point))
    return out


def create(name: str) -> list[Path]:
    """Make the group (``lab/node``) everywhere; return the files a process writes its pid to, to join."""
    joins = []
    for root in hierarchies():
        group = root
        for part in Path(name).parts:
            group = group / part
            group.mkdir(exist_ok=True)
            for setting in ("cpuset.cpus", "cpuset.mems"):
                _copy_down(group, setting)
        joins.append(group / "cgroup.procs")
    return joins


def pids(name: str) -> set[int]:
    """Return what runs in the group and those below it."""
    found: set[int] = set()
    for root in hierarchies():
        for procs in _below(root / name):
            with contextlib.suppress(OSError):
                found.update(int(pid) for pid in (procs / "cgroup.procs").read_text().split())
    return {pid for pid in found if pid and is_running(pid)}


def kill(name: str, seconds: float = 60) -> None:
    """End all that runs in the group; LabError when something survives."""

    def is_empty() -> bool:
        left = pids(name)
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not left

    wait_until(is_empty, f"the end of the processes of {name}", seconds, 0.01)


def remove(name: str, seconds: float = 60) -> None:
    """Remove the group and those below it; LabError when one is still in use."""

    def is_gone() -> bool:
        groups = [group for root in hierarchies() for group in _below(root / name)]
        for group in groups:
            with contextlib.suppress(OSError):
                group.rmdir()
        return not any(group.exists() for group in groups)

    wait_until(is_gone, f"the removal of the control groups of {name}", seconds, 0.01)


def _below(group: Path) -> Iterator[Path]:
    """The group and all below it, deepest first."""
    for directory, _parts, _files in os.walk(group, topdown=False):
        yield Path(directory)


def _copy_down(group: Path, setting: str) -> None:
    """Copy the parent's value. In version 1 no process can join a new cpuset before its CPUs and memory are set."""
    with contextlib.suppress(OSError):
        mine = group / setting
        if mine.exists() and not mine.read_text().strip():
            mine.write_text((group.parent / setting).read_text())
