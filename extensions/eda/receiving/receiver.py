# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The loop of the event source: receives messages, runs batches, and acknowledges messages after their run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.batching import Batch, BatchQueue
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.brokers.base import Broker, Message
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.cloud_events import read_message
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.playbook_runs import (
    LOGGER,
    PlaybookRuns,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.recorder import ActivityRecorder
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.requeue import Requeue
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.run_directories import RunDirectories

__all__ = ["Receiver"]

# Seconds between two checks of runs that a killed process left.
_ORPHAN_POLL_SECONDS = 0.5
# The results of a message's clusters.
_SUCCESS, _FAILURE, _GARBAGE = "success", "failure", "garbage"
# The kind of failure of a cluster that a run did not begin, because the run was stopped.
_STOPPED = "stopped"


@dataclass(eq=False)
class _Unacknowledged:
    """A message, the number of its pending clusters, and whether one of them failed."""

    token: Any
    parts: int
    result: str = _SUCCESS


class Receiver:
    """Turns one broker's events into runs, and acknowledges each message after its run."""

    def __init__(
        self,
        broker: Broker,
        batch_queue: BatchQueue,
        runs: PlaybookRuns,
        run_directories: RunDirectories,
        recorder: ActivityRecorder,
        requeue: Requeue | None = None,
    ) -> None:
        self._broker = broker
        self._batch_queue = batch_queue
        self._runs = runs
        self._run_directories = run_directories
        self._recorder = recorder
        self._requeue = Requeue() if requeue is None else requeue
        self._some = asyncio.Event()
        self._done: list[_Unacknowledged] = []
        self._some_done = asyncio.Event()

    async def run(self) -> None:
        """Never returns except with an exception; cancel it.

        :raises ConfigurationError: the broker does not fit its description.
        """
        tasks = [
            asyncio.create_task(self._broker.run(self.take, self._recorder)),
            asyncio.create_task(self._work()),
            asyncio.create_task(self._acknowledge()),
        ]
        try:
            done, _others = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def take(self, message: Message) -> None:
        """Handle a message; never raises. Called by the broker."""
        found = read_message(message.body, message.headers)
        for word in found.garbage:
            self._recorder.garbage(word)
        if found.garbage:
            # One line, however much garbage the message has.
            LOGGER.warning(
                "an unusable message was acknowledged: %s", ", ".join(dict.fromkeys(found.garbage))
            )
        if not found.events:
            self._finish([_Unacknowledged(message.token, 1, _GARBAGE)])
            return
        message_state = _Unacknowledged(message.token, len(found.events))
        for event in found.events:
            self._recorder.event(event.type)
            self._requeue.forget(event.cluster_id)
            self._finish(self._batch_queue.add(event.cluster_id, message_state, event.traceparent))
        self._recorder.waiting(len(self._batch_queue))
        self._some.set()

    def _finish(self, tokens: Iterable[_Unacknowledged]) -> None:
        for message_state in tokens:
            message_state.parts -= 1
            if message_state.parts == 0:
                self._done.append(message_state)
                self._some_done.set()

    async def _acknowledge(self) -> None:
        while True:
            await self._some_done.wait()
            self._some_done.clear()
            done, self._done = self._done, []
            try:
                await self._broker.acknowledge([message_state.token for message_state in done])
            except Exception as error:  # noqa: BLE001 - unacknowledged messages are delivered again
                LOGGER.warning("%d messages were not acknowledged (%s)", len(done), type(error).__name__)
            for result in (_SUCCESS, _FAILURE):
                if count := sum(message_state.result == result for message_state in done):
                    self._recorder.acknowledged(count, result)

    async def _work(self) -> None:
        while True:
            for cluster_id in self._requeue.due():
                self._batch_queue.add(cluster_id)
            orphaned = self._run_directories.orphaned_clusters()
            ready = self._batch_queue.ready(orphaned)
            if ready == 0.0:
                await self._one()
                continue
            times = [ready, self._requeue.seconds_until_due(), _ORPHAN_POLL_SECONDS if orphaned else None]
            self._some.clear()
            try:
                async with asyncio.timeout(min((one for one in times if one is not None), default=None)):
                    await self._some.wait()
            except TimeoutError:
                pass

    async def _one(self) -> None:
        batch = self._batch_queue.take(self._run_directories.orphaned_clusters())
        if not batch.clusters:
            return
        self._recorder.batch(len(batch.clusters))
        self._recorder.waiting(len(self._batch_queue))
        result = await self._runs.run(batch)
        rows = self._rows(batch, result)
        # No status was reported of these.
        unreported = {one: row for one, row in rows.items() if row.get("outcome") == "failed"}
        stopped = (
            None
            if result is None
            else {one for one, row in unreported.items() if row.get("kind") == _STOPPED}
        )
        if stopped is None or stopped:
            tokens, given_up = self._batch_queue.requeue_failed(stopped)
        else:
            tokens, given_up = self._batch_queue.done(), []
        failed = (set(unreported) - (stopped or set())) | set(given_up)
        if given_up:
            more = f" and {len(given_up) - 5} more" if len(given_up) > 5 else ""
            LOGGER.error(
                "gave up on clusters %s%s; they are processed again at their next event",
                ", ".join(given_up[:5]),
                more,
            )
        for one in batch.clusters:
            if one.cluster_id in given_up or (result is not None and one.cluster_id not in rows):
                self._requeue.forget(one.cluster_id)
            elif one.cluster_id in rows and one.cluster_id not in (stopped or ()):
                self._requeue.observe(rows[one.cluster_id])
            if one.cluster_id in failed and one.token is not None:
                one.token.result = _FAILURE
        self._finish(tokens)
        self._recorder.waiting(len(self._batch_queue))

    @staticmethod
    def _rows(batch: Batch, result: Mapping[str, Any] | None) -> dict[str, Mapping[str, Any]]:
        """Return the run's results for its clusters, by id; others are left out."""
        wanted = set(batch.ids)
        found = result["clusters"] if result is not None else ()
        return {row["id"]: row for row in found if isinstance(row.get("id"), str) and row["id"] in wanted}
