# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One control plane for all test processes that want one at the same time.

The first to come starts it, the last to leave ends it. One that was started by hand (``up``) is used and
left as it was found. A test process that was killed does not count any more.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

from tests.lab.control_plane.build import build
from tests.lab.control_plane.cluster import ControlPlane, State
from tests.lab.supervisor import listing, start_time


@contextlib.contextmanager
def leased(plane: ControlPlane) -> Iterator[State]:
    """Give a running control plane for the time of a with block; LabError when there can be none."""
    build()  # outside the lock: it may take minutes
    with plane.locked():
        state = plane.state()
        if state is None:
            state = plane.restart()
            _marker(plane).touch()
        lease = _leases(plane) / f"{os.getpid()}-{uuid.uuid4().hex}"
        lease.parent.mkdir(exist_ok=True)
        lease.write_text(start_time(os.getpid()) or "")
    try:
        yield state
    finally:
        with plane.locked():
            lease.unlink(missing_ok=True)
            if _marker(plane).exists() and not any(map(_is_live, listing(_leases(plane), "*"))):
                plane.remove()


def keep(plane: ControlPlane) -> None:
    """Let it live on when the last lease ends: someone has asked for it by hand."""
    _marker(plane).unlink(missing_ok=True)


def _marker(plane: ControlPlane) -> Path:
    return plane.directory / "ends-with-its-leases"


def _leases(plane: ControlPlane) -> Path:
    return plane.directory / "leases"


def _is_live(lease: Path) -> bool:
    return start_time(int(lease.name.partition("-")[0])) == lease.read_text()
