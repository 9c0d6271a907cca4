# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Collects events into batches: each cluster once, and in at most one run at a time. Pure.

Only the newest message of a pending cluster stays unacknowledged. Older ones are acknowledged at once: if
this process dies, the broker still has one message that names the cluster.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Batch", "BatchQueue", "PendingCluster"]

# Seconds before the second attempt for clusters whose run died, doubled for each later one.
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 30.0


@dataclass
class PendingCluster:
    """A cluster that waits for a run.

    :param token: the message to acknowledge afterwards; None without one.
    :param since: when it began to wait.
    :param after: the earliest time of its run.
    :param tries: runs that died with it.
    """

    cluster_id: str
    since: float
    token: Any = None
    traceparent: str | None = None
    after: float = 0.0
    tries: int = 0


@dataclass(frozen=True)
class Batch:
    """The clusters of one run."""

    clusters: Sequence[PendingCluster] = field(default_factory=tuple)

    @property
    def ids(self) -> list[str]:
        return [one.cluster_id for one in self.clusters]

    @property
    def tokens(self) -> list[Any]:
        """The messages to acknowledge at the end of the run."""
        return [one.token for one in self.clusters if one.token is not None]

    @property
    def traceparents(self) -> dict[str, str]:
        return {one.cluster_id: one.traceparent for one in self.clusters if one.traceparent}


class BatchQueue:
    """The clusters that wait for a run, and the batch of the current run. There is one run at a time.

    :param size: clusters in a batch.
    :param window: seconds for which events are collected, from the first one.
    :param tries: how many runs may die with a cluster before its message is acknowledged anyway.
    """

    def __init__(
        self, size: int, window: float, tries: int = 3, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._size = max(1, size)
        self._window = window
        self._tries = tries
        self._clock = clock
        self._pending: dict[str, PendingCluster] = {}
        self._running: Batch = Batch()

    def __len__(self) -> int:
        return len(self._pending)

    def add(self, cluster_id: str, token: Any = None, traceparent: str | None = None) -> list[Any]:
        """Queue a cluster, with or without an event; return the tokens that need no run any more."""
        known = self._pending.get(cluster_id)
        if known is None:
            self._pending[cluster_id] = PendingCluster(cluster_id, self._clock(), token, traceparent)
            return []
        known.traceparent = traceparent or known.traceparent
        if token is None or known.token is None:
            known.token = token if token is not None else known.token
            return []
        former, known.token = known.token, token
        return [former]

    def ready(self, orphaned: Collection[str] = ()) -> float | None:
        """Return the seconds until ``take`` has a batch, 0: now; None: nothing waits.

        :param orphaned: clusters that another process' run works on.
        """
        if self._running.clusters:
            return None
        now = self._clock()
        free = [one for one in self._pending.values() if one.cluster_id not in orphaned]
        if sum(one.after <= now for one in free) >= self._size:
            return 0.0
        times = (max(one.since + self._window, one.after) for one in free)
        first = min(times, default=None)
        return None if first is None else max(0.0, first - now)

    def take(self, orphaned: Collection[str] = ()) -> Batch:
        """Return the next batch, longest wait first. It stays the run's until ``done`` or ``requeue_failed``."""
        now = self._clock()
        free = (one for one in self._pending.values() if one.after <= now and one.cluster_id not in orphaned)
        chosen = sorted(free, key=lambda one: one.since)[: self._size]
        for one in chosen:
            del self._pending[one.cluster_id]
        self._running = Batch(tuple(chosen))
        return self._running

    def done(self) -> list[Any]:
        """The run has ended with a result; return the tokens to acknowledge."""
        batch, self._running = self._running, Batch()
        return batch.tokens

    def requeue_failed(self, stopped: Collection[str] | None = None) -> tuple[list[Any], list[str]]:
        """The run has ended without a result: queue its clusters again, unless their attempts are used up.

        :param stopped: the clusters without a result, if the run has done the others; None: all.
        :return: the tokens to acknowledge, and the clusters that are given up.
        """
        batch, self._running = self._running, Batch()
        now = self._clock()
        tokens: list[Any] = []
        given_up: list[str] = []
        for one in batch.clusters:
            if stopped is not None and one.cluster_id not in stopped:
                tokens += [] if one.token is None else [one.token]
                continue
            one.tries += 1
            newer = self._pending.get(one.cluster_id)
            if one.tries >= self._tries:
                given_up.append(one.cluster_id)
                tokens += [] if one.token is None else [one.token]
                continue
            one.after = now + min(_FIRST_PAUSE * 2.0 ** min(one.tries - 1, 30), _LONGEST_PAUSE)
            if newer is not None:
                # A new event arrived during the run, and its message is for both.
                tokens += [one.token] if one.token is not None and newer.token is not None else []
                one.token = newer.token if newer.token is not None else one.token
                one.traceparent = newer.traceparent or one.traceparent
            self._pending[one.cluster_id] = one
        return tokens, given_up

    def unacknowledged(self) -> list[Any]:
        """Return the tokens of all pending clusters and of the running batch."""
        waiting: Iterable[PendingCluster] = (*self._pending.values(), *self._running.clusters)
        return [one.token for one in waiting if one.token is not None]
