# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes what is costly once a machine, in the cache outside the checkout."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tests.lab.mounts import remove_tree, unmount
from tests.tools import env

__all__ = ["made_once"]


def made_once(name: str, make: Callable[[Path], object]) -> Path:
    """Return a file or directory of the cache; if it is missing, ``make`` makes it at the path it is given.

    Only one process makes it, and another process never sees a part of it. Prints how long it took.
    """
    target = env.CACHE / name
    if not target.exists():
        with env.lock(name):
            if not target.exists():  # another process made it while this one waited
                partial = target.with_name(f"{name}.partial")
                unmount(partial)  # a process that was killed may have left its /proc
                remove_tree(partial)
                target.parent.mkdir(parents=True, exist_ok=True)
                started = time.monotonic()
                print(f"lab: making {name}, once ...", flush=True)
                make(partial)
                partial.rename(target)
                print(f"lab: {name}: {time.monotonic() - started:.0f} s", flush=True)
    return target
