# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Changes made into few events: while one batch is taken, and while a playbook runs, the next one grows.

There is one playbook at a time, so what costs time must not hold up what does not. Three kinds of clusters
get events of their own: those that changed, those that are only looked at again, and those whose API server
does not answer, a few at a time. What changed is in every second event at the latest.
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

# Seconds between two looks at a busy engine, and after which a batch is put all the same: what is busy may
# be another rulebook's playbook.
_LOOK = 0.25
_LONGEST = 300.0
# Clusters with trouble in one event: no more than a run handles at once, since each may take its time limit.
_FEW = 16


class Queue(Protocol):
    """What ansible-rulebook gives a source."""

    async def put(self, data: Any) -> None:
        """Waits while the engine takes nothing."""


def _nothing(unused_clusters: list[str]) -> list[dict[str, Any]]:
    return []


class Batches:
    """Clusters that are to be looked at, each once, and the changes that are why.

    :param delay: seconds from the first change of a batch to its event.
    :param most: clusters in one event.
    :param busy: whether an earlier batch is still being worked on, as far as that can be known.
    """

    def __init__(self, queue: Queue, delay: float, most: int, busy: Callable[[], bool]) -> None:
        self._queue = queue
        self._delay = delay
        self._most = most
        self._busy = busy
        # Gives the entries of clusters, as the list has them when the event is put.
        self.describe: Callable[[list[str]], list[dict[str, Any]]] = _nothing
        # Gives the clusters of which something cannot be watched now.
        self.troubled: Callable[[], Collection[str]] = frozenset
        self._clusters: dict[str, dict[tuple[str, str], dict[str, str]]] = {}
        self._problems: dict[tuple[Named, str], dict[str, Any]] = {}
        # Whether the last event was of clusters that changed.
        self._changed_last = False
        self._some = asyncio.Event()

    def add(
        self,
        clusters: Iterable[str],
        secret: Named | None = None,
        kind: str | None = None,
        version: str | None = None,
    ) -> None:
        """These clusters are to be looked at; a change that is why is ADDED, MODIFIED or DELETED."""
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
        """Watching fails, or does no longer (None): the last word of a batch counts."""
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
        """Let the batch grow for its delay, and for as long as nobody could work on it."""
        begun = time.monotonic()
        while (left := begun + self._delay - time.monotonic()) > 0 and len(self._clusters) < self._most:
            await asyncio.sleep(min(left, _LOOK))
        while self._busy() and time.monotonic() - begun < _LONGEST:
            await asyncio.sleep(_LOOK)

    def _take(self) -> list[dict[str, Any]]:
        """The events to put now."""
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
        """The clusters of one event, all of one kind; of a kind, who has waited longest goes first."""
        changed: list[str] = []
        looked_at: list[str] = []
        slow: list[str] = []
        troubled = self.troubled()
        for cluster, changes in self._clusters.items():
            kind = slow if cluster in troubled else changed if changes else looked_at
            kind.append(cluster)
        others = looked_at[: self._most] or slow[: min(_FEW, self._most)]
        # A secret that changes all the time does not keep the others waiting for ever.
        self._changed_last = bool(changed) and not (others and self._changed_last)
        return changed[: self._most] if self._changed_last else others

    async def _put(self, events: list[dict[str, Any]]) -> None:
        for event in events:
            while True:
                try:
                    await self._queue.put(event)
                    break
                except Exception as error:  # noqa: BLE001 - a source that ends takes the whole rulebook with it
                    LOGGER.error("an event could not be queued (%s); trying again", type(error).__name__)
                    await asyncio.sleep(1.0)


def engine_is_busy() -> bool:
    """Whether ansible-rulebook, in whose process this is, runs an action now; False where that is not known.

    Without ``--max-concurrent-actions 1`` it takes any number of events while a playbook runs, and would run
    the playbook once for each; that a put event was taken says nothing.
    """
    settings = getattr(sys.modules.get("ansible_rulebook.conf"), "settings", None)
    free = getattr(getattr(settings, "max_actions_semaphore", None), "_value", None)
    limit = getattr(settings, "max_concurrent_actions", None)
    return isinstance(free, int) and isinstance(limit, int) and free < limit
