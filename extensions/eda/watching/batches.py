# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Collects changes into few events: a batch grows until the queue accepts it, and while a playbook runs.

Only one playbook runs at a time, so slow clusters must not delay others. Three kinds of clusters have separate
events: changed ones, rechecked ones, and (a few at a time) those whose Secrets cannot be watched now. At least
every second event is for changed clusters, if there are any.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Collection, Iterable
from typing import Any, Callable, Protocol

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.api import Named
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.watch import LOGGER

__all__ = ["Batches", "Queue", "engine_is_busy"]

# Seconds between two checks of a busy engine, and after which a batch is put anyway: another rulebook's
# playbook may be running.
_LOOK = 0.25
_LONGEST = 300.0
# Maximum number of failing clusters in one event. A run handles this number concurrently, and each cluster may
# use all of its time limit.
_FEW = 16


class Queue(Protocol):
    """The queue that ansible-rulebook passes to a source."""

    async def put(self, data: Any) -> None:
        """Put an event; wait while the queue is full."""


def _nothing(unused_clusters: list[str]) -> list[dict[str, Any]]:
    return []


class Batches:
    """The clusters to process, each once, and the changes that are the reason.

    :param delay: seconds from the first change of a batch to its event.
    :param most: maximum number of clusters in one event.
    :param busy: returns whether an earlier batch is still processed, as far as that is known.
    """

    def __init__(self, queue: Queue, delay: float, most: int, busy: Callable[[], bool]) -> None:
        self._queue = queue
        self._delay = delay
        self._most = most
        self._busy = busy
        # Returns the current entries of clusters in the list.
        self.describe: Callable[[list[str]], list[dict[str, Any]]] = _nothing
        # Returns the clusters with a Secret that cannot be watched now.
        self.troubled: Callable[[], Collection[str]] = frozenset
        self._clusters: dict[str, dict[tuple[str, str], dict[str, str]]] = {}
        self._problems: dict[tuple[Named, str], dict[str, Any]] = {}
        # Whether the last event was for changed clusters.
        self._changed_last = False
        self._some = asyncio.Event()

    def add(
        self,
        clusters: Iterable[str],
        secret: Named | None = None,
        kind: str | None = None,
        version: str | None = None,
    ) -> None:
        """Add clusters to process; the change is ADDED, MODIFIED or DELETED."""
        for cluster in clusters:
            changes = self._clusters.setdefault(cluster, {})
            if secret and kind:
                changes[secret.namespace, secret.name] = {
                    "cluster_id": cluster,
                    "namespace": secret.namespace,
                    "name": secret.name,
                    "type": kind,
                    "resourceVersion": version or "",
                }
        if self._clusters:
            self._some.set()

    def problem(self, clusters: Iterable[str], secret: Named, text: str | None) -> None:
        """Report that watching fails, or works again (None): the last report of a batch counts."""
        for cluster in clusters:
            found = {"cluster_id": cluster, "namespace": secret.namespace, "name": secret.name}
            state = {"state": "failing", "message": text} if text else {"state": "solved"}
            self._problems[secret, cluster] = {**found, **state}
        self._some.set()

    async def run(self) -> None:
        """Never returns; cancel it."""
        while True:
            await self._some.wait()
            await self._gather()
            await self._put(self._take())
            if not self._clusters and not self._problems:
                self._some.clear()

    async def _gather(self) -> None:
        """Let the batch grow for its delay, and while the engine is busy."""
        begun = time.monotonic()
        while (left := begun + self._delay - time.monotonic()) > 0 and len(self._clusters) < self._most:
            await asyncio.sleep(min(left, _LOOK))
        while self._busy() and time.monotonic() - begun < _LONGEST:
            await asyncio.sleep(_LOOK)

    def _take(self) -> list[dict[str, Any]]:
        """Return the events to put now."""
        events: list[dict[str, Any]] = []
        if self._problems:
            events.append({"kubernetes_secret": {"problems": list(self._problems.values())}})
            self._problems = {}
        clusters = self._next()
        if clusters:
            changes = [change for cluster in clusters for change in self._clusters.pop(cluster).values()]
            event = {"clusters": clusters, "changes": changes, "targets": self.describe(clusters)}
            events.append({"kubernetes_secret": event})
        return events

    def _next(self) -> list[str]:
        """Return the clusters of one event, all of one kind, the longest wait first."""
        changed: list[str] = []
        looked_at: list[str] = []
        slow: list[str] = []
        troubled = self.troubled()
        for cluster, changes in self._clusters.items():
            kind = slow if cluster in troubled else changed if changes else looked_at
            kind.append(cluster)
        others = looked_at[: self._most] or slow[: min(_FEW, self._most)]
        # A secret that changes all the time must not delay the others forever.
        self._changed_last = bool(changed) and not (others and self._changed_last)
        return changed[: self._most] if self._changed_last else others

    async def _put(self, events: list[dict[str, Any]]) -> None:
        for event in events:
            while True:
                try:
                    await self._queue.put(event)
                    break
                except Exception as error:  # noqa: BLE001 - the end of a source ends the rulebook
                    LOGGER.error("an event could not be queued (%s); trying again", type(error).__name__)
                    await asyncio.sleep(1.0)


def engine_is_busy() -> bool:
    """Return whether ansible-rulebook, in whose process this is, runs an action now; False if unknown.

    Without ``--max-concurrent-actions 1`` it accepts any number of events while a playbook runs, and would
    run the playbook once for each. An accepted event therefore proves nothing.
    """
    settings = getattr(sys.modules.get("ansible_rulebook.conf"), "settings", None)
    free = getattr(getattr(settings, "max_actions_semaphore", None), "_value", None)
    limit = getattr(settings, "max_concurrent_actions", None)
    return isinstance(free, int) and isinstance(limit, int) and free < limit
