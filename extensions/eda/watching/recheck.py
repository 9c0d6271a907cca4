# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Looking again, some time after a change: the run that was for it may have failed, or nodes were not ready.

What a run did not finish the next one does; the event source does not learn how a run ended.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from typing import Callable

__all__ = ["Recheck"]

# Seconds after a change; each time twice as many, for as long as they are fewer than the time to resync.
_FIRST = 15.0


class Recheck:
    """When to look at which cluster again.

    :param most: seconds between two looks at all clusters; 0: there are none, and nobody looks again.
    """

    def __init__(self, most: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        # Of clusters to the time of the next look, and the seconds before it.
        self._next: dict[str, tuple[float, float]] = {}

    def changed(self, clusters: Iterable[str]) -> None:
        """Begin again with these."""
        if self._most >= _FIRST:
            self._next.update(dict.fromkeys(clusters, (self._clock() + _FIRST, _FIRST)))

    def due(self) -> list[str]:
        """Whose time has come since it was asked last."""
        now = self._clock()
        found = [cluster for cluster, (when, _after) in self._next.items() if when <= now]
        for cluster in found:
            after = 2 * self._next.pop(cluster)[1]
            if after < self._most:
                self._next[cluster] = (now + after, after)
        return found

    def keep_only(self, clusters: Collection[str]) -> None:
        """Forget all others."""
        for cluster in self._next.keys() - set(clusters):
            del self._next[cluster]
