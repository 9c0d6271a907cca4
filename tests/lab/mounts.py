# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is mounted in a directory, and removing a directory without what is mounted in it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.lab.supervisor import wait_until


def mounts_below(directory: Path) -> list[Path]:
    """Return what is mounted in a directory, the innermost first."""
    prefix = f"{directory}/"
    points = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    return [Path(point) for point in reversed(points) if point.startswith(prefix)]


def unmount(directory: Path, seconds: float = 60) -> None:
    """Unmount all that is mounted in a directory; LabError when something stays in use."""

    def is_free() -> bool:
        for point in mounts_below(directory):
            subprocess.run(["umount", str(point)], capture_output=True, check=False)
        return not mounts_below(directory)

    wait_until(is_free, f"the end of what is mounted in {directory}", seconds, 0.02)


def remove_tree(path: Path) -> None:
    """Remove a directory, never anything that is mounted in it."""
    if path.exists():
        subprocess.run(["rm", "-rf", "--one-file-system", str(path)], check=True)
