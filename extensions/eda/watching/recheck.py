# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Schedules repeated runs for a changed cluster: its run may have failed, or nodes may not have been ready.

The event source does not learn how a run ended. A later run finishes the work of an earlier one.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from typing import Callable

__all__ = ["Recheck"]

# Seconds from a change to the first recheck. The interval doubles while it is less than the resync interval.
_FIRST = 15.0


class Recheck:
    """The times at which clusters are due again.

    :param most: seconds between two resyncs of all clusters; 0 disables resyncs and rechecks.
    """

    def __init__(self, most: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        # Cluster to the time of the next recheck, and the interval before it.
        self._next: dict[str, tuple[float, float]] = {}

    def changed(self, clusters: Iterable[str]) -> None:
        """Schedule these clusters with the first interval."""
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
