# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The outcomes that the page nodes promises: one list for the module and the syncer."""

from __future__ import annotations

import fcntl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from tests.node.world import FILE


class Unwell(NamedTuple):
    """A kubelet that does not come up; ``{ready}`` in ``says``: seconds within which it had to be well."""

    row: str
    mode: str
    kind: str
    job: str
    says: str

    def __str__(self) -> str:
        return f"{self.mode}-{self.kind}"


_ENDS = "Type=simple or exec that exits at once, a crash after 2 s"
_FAILS = "notify that exits, exec whose binary is bad"
_EXIT_CODE = "systemd reports the result 'failed' for the restart; the unit's result is 'exit-code'"
UNWELL = (
    Unwell(_ENDS, "exit", "simple", "done", "kubelet ended: the unit is activating/auto-restart"),
    Unwell(_ENDS, "exit", "exec", "done", "kubelet ended: the unit is activating/auto-restart"),
    Unwell(_ENDS, "missing", "simple", "done", "kubelet ended: the unit is activating/auto-restart"),
    Unwell(_ENDS, "crash", "notify", "done", "kubelet ended: the unit is activating/auto-restart"),
    Unwell(_ENDS, "crash", "simple", "done", "kubelet ended: the unit is activating/auto-restart"),
    Unwell(_FAILS, "exit", "notify", "failed", _EXIT_CODE),
    Unwell(_FAILS, "missing", "exec", "failed", _EXIT_CODE),
    Unwell("never says READY=1", "unready", "notify", "failed", "the unit's result is 'timeout'"),
    Unwell(
        "healthz never answers 200",
        "unhealthy",
        "notify",
        "done",
        "not healthy within {ready} s: healthz answers 500",
    ),
)

# How something else comes to be in the file's place, and what is said of it.
NO_FILE = (
    (f"ln -s /etc/hostname {FILE}", "is a symbolic link and was not changed"),
    (f"mkdir {FILE}", "is a directory and was not changed"),
    (f"mkfifo {FILE}", "is not a regular file and was not changed"),
)

# A test that shows these rows of the page's table.
row = pytest.mark.row


def shown(modules: Iterable[ModuleType]) -> set[str]:
    """The rows that the modules' tests show."""
    tests = [vars(module)[name] for module in modules for name in vars(module) if name.startswith("test_")]
    marks = [mark for test in tests for mark in getattr(test, "pytestmark", ()) if mark.name == "row"]
    return {name for mark in marks for name in mark.args}


@contextmanager
def another_run(directory: Path) -> Iterator[None]:
    """Hold the lock for writes in kubelet's directory, as another run does."""
    path = directory / ".config.json.hyperfleet-writing"
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
        path.unlink()
