# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Room for nodes: the host's limit of inotify instances, raised while there are labs and then put back.

A plain node takes six, one with a kubelet twelve, and the usual limit for all of root's is 128. A node that
gets none does not boot, without a word that says why. Call both with the labs' lock held.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

SETTING = Path("/proc/sys/fs/inotify/max_user_instances")
WANTED = 1024


def make_room(saved: Path) -> None:
    """Raise the limit if it is low; ``saved`` keeps what it was. Without the right to, leave it."""
    with contextlib.suppress(OSError):
        limit = int(SETTING.read_text())
        if limit < WANTED:
            if not saved.exists():
                saved.write_text(f"{limit}\n")
            SETTING.write_text(f"{WANTED}\n")


def put_back(saved: Path) -> None:
    """Give the host the limit it had."""
    if saved.exists():
        with contextlib.suppress(OSError):
            SETTING.write_text(saved.read_text())
        saved.unlink()
