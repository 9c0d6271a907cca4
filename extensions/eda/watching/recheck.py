# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Schedules another look some time after a change: its run may have failed, or nodes were not ready.

The next run does what an earlier one did not finish; the event source does not learn how a run ended.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from typing import Callable

__all__ = ["Recheck"]

# Seconds after a change; doubled each time while they are less than the time to resync.
_FIRST = 15.0


class Recheck:
    """When to process which cluster again.

    :param most: seconds between two resyncs of all clusters; 0: never, and no rechecks either.
    """

    def __init__(self, most: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        # Cluster to the time of the next look, and the seconds before it.
        self._next: dict[str, tuple[float, float]] = {}

    def changed(self, clusters: Iterable[str]) -> None:
        """Start again with these clusters."""
        if self._most >= _FIRST:
            self._next.update(dict.fromkeys(clusters, (self._clock() + _FIRST, _FIRST)))

    def due(self) -> list[str]:
        """Return the clusters whose time has come since the last call."""
        now = self._clock()
        found = [cluster for cluster, (when, _after) in self._next.items() if when <= now]
        for cluster in found:
            after = 2 * self._next.pop(cluster)[1]
            if after < self._most:
                self._next[cluster] = (now + after, after)
        return found

    def keep_only(self, clusters: Collection[str]) -> None:
        """Forget all other clusters."""
        for cluster in self._next.keys() - set(clusters):
            del self._next[cluster]
