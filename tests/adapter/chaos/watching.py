# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Detects two runs with the same cluster at the same time, from the table of locks in /proc."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from pathlib import Path

from tests.lab.supervisor import listing

__all__ = ["Overlaps"]

_LOOK = 0.02


class Overlaps:
    """Reads the directories of all runs until the ``with`` block ends.

    :param base: the parent directory of the runs' directories; it may not exist yet.
    """

    def __init__(self, base: Path) -> None:
        self.found: list[str] = []
        # Directories of runs that held their lock.
        self.seen: set[Path] = set()
        self._base = base
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Overlaps:
        self._thread.start()
        return self

    def __exit__(self, *_unused: object) -> None:
        self._stop.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._stop.wait(_LOOK):
            working = self._working()
            self.seen |= set(working)
            taken: dict[str, Path] = {}
            for path, clusters in working.items():
                for cluster in clusters:
                    other = taken.setdefault(cluster, path)
                    if other != path:
                        word = f"{cluster}: in two runs at once, {other} and {path}"
                        self.found += [] if word in self.found else [word]

    def _working(self) -> dict[Path, list[str]]:
        """The clusters of each run that holds its lock, by the run's directory."""
        directories = {}
        for lock in listing(self._base, "*/*/lock"):
            with suppress(OSError, ValueError):
                clusters = json.loads((lock.parent / "run.json").read_text())["clusters"]
                directories[lock.stat().st_ino] = (lock.parent, clusters)
        held = set()
        for line in Path("/proc/locks").read_text().splitlines():
            words = line.split()
            if words[1:4] == ["FLOCK", "ADVISORY", "WRITE"]:
                held.add(int(words[5].split(":")[2]))
        return {path: clusters for inode, (path, clusters) in directories.items() if inode in held}
