# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Directories of supervised processes that end with the process that wanted them, or with the next one.

A test process that is killed leaves its brokers running. The next one that wants some of the kind ends them
first; ``python -m tests.lab.scratch`` does so by hand.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.lab.supervisor import Supervisor, listing, start_time

__all__ = ["supervised", "sweep"]

_PREFIX = "pull-secret-lab-"
_OWNER = "owner"


@contextmanager
def supervised(kind: str) -> Iterator[Path]:
    """A directory for a ``Supervisor``; at the end its processes are ended, and it is removed."""
    sweep()
    directory = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{kind}-"))
    (directory / _OWNER).write_text(f"{os.getpid()} {start_time(os.getpid())}")
    try:
        yield directory
    finally:
        _end(directory)


def sweep() -> list[str]:
    """End what killed processes left; the names of the directories."""
    found = []
    for directory in listing(Path(tempfile.gettempdir()), f"{_PREFIX}*"):
        try:
            number, _space, started = (directory / _OWNER).read_text().partition(" ")
            pid = int(number)
        except (OSError, ValueError):
            # Its process is creating or removing it.
            continue
        if start_time(pid) != started:
            _end(directory)
            found.append(directory.name)
    return found


def _end(directory: Path) -> None:
    if directory.name.startswith(f"{_PREFIX}cluster-api-"):
        from tests.lab.cluster_api import ClusterApiLab  # imports this module

        ClusterApiLab(directory / "lab").down()
    supervisor = Supervisor(directory)
    # A broker before the name server that it asks (epmd).
    for name in sorted(supervisor.names(), reverse=True):
        supervisor.stop(name, 30)
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    for name in sweep():
        print(f"ended {name}")
    sys.exit(0)
