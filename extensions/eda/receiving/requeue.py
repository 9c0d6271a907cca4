# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Schedules clusters without an event: a Job runs, waits or failed, a removal continues, or a service did not
answer.

A run's result has the seconds until the next run (``again``). While the results of runs are the same, the
pauses double, up to a minute, because more runs would not help. Pure.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable

__all__ = ["Requeue"]

_LONGEST = 60.0
_SHORTEST = 0.5


@dataclass
class _Schedule:
    observed: tuple[Any, ...]
    pause: float
    due_at: float | None


class Requeue:
    """The clusters that are due later.

    :param longest: the longest pause in seconds.
    """

    def __init__(self, longest: float = _LONGEST, clock: Callable[[], float] = time.monotonic) -> None:
        self._longest = longest
        self._clock = clock
        self._schedules: dict[str, _Schedule] = {}

    def __len__(self) -> int:
        return len(self._schedules)

    def forget(self, cluster_id: str) -> None:
        """Drop a cluster: an event queued it, or nothing is left to do for it. Its next pause is the
        shortest.
        """
        self._schedules.pop(cluster_id, None)

    def observe(self, row: Mapping[str, Any]) -> None:
        """Schedule a cluster by its row of a run's result."""
        cluster_id, seconds = row.get("id"), row.get("again")
        if not isinstance(cluster_id, str):
            return
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds >= 0:
            self._schedules.pop(cluster_id, None)
            return
        found = (row.get("generation"), row.get("state"), row.get("reason"))
        known = self._schedules.get(cluster_id)
        pause = min(max(float(seconds), _SHORTEST), self._longest)
        if known is not None and known.observed == found and not row.get("job_created"):
            pause = max(pause, min(2 * known.pause, self._longest))
        self._schedules[cluster_id] = _Schedule(found, pause, self._clock() + pause)

    def due(self) -> list[str]:
        """Return the clusters that are due now.

        None of them is due again before ``observe`` schedules it.
        """
        now = self._clock()
        due = [
            one
            for one, schedule in self._schedules.items()
            if schedule.due_at is not None and schedule.due_at <= now
        ]
        for cluster_id in due:
            self._schedules[cluster_id].due_at = None
        return due

    def seconds_until_due(self) -> float | None:
        """Return the seconds until the next cluster is due, 0 or more; None if there is none."""
        times = [schedule.due_at for schedule in self._schedules.values() if schedule.due_at is not None]
        return max(0.0, min(times) - self._clock()) if times else None
