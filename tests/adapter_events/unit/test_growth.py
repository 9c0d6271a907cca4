# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A process that runs for weeks keeps nothing of clusters that were deleted or given up."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.recent_maximum import (
    WINDOW,
    RecentMaximum,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.recorder import MonitoringRecorder
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.batching import Batch, BatchQueue
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.brokers.base import Broker, Message
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.brokers.webhook import WebhookBroker
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.playbook_runs import PlaybookRuns
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.receiver import Receiver
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.recorder import ActivityRecorder
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.requeue import Requeue
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.run_directories import RunDirectories

_RUNNING = {"generation": 1, "outcome": "reported", "state": "running", "reason": "JobRunning", "again": 0.5}


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Script:
    """Runs with prepared results."""

    def __init__(self, results: Sequence[Mapping[str, Any] | None]) -> None:
        self.results = list(results)

    async def run(self, batch: Batch) -> Mapping[str, Any] | None:
        return self.results.pop(0)


@pytest.mark.parametrize(
    "last",
    [
        # The run has no result, and the source gives the cluster up.
        None,
        # The result has no row for this cluster, and one for a cluster that was not in the batch.
        {"clusters": [{"id": "cls-9", **_RUNNING}]},
    ],
)
def test_a_cluster_without_further_results_is_not_kept(
    tmp_path: Path, last: Mapping[str, Any] | None
) -> None:
    clock = Clock()
    again = Requeue(clock=clock)
    collecting = BatchQueue(10, 0.0, tries=1, clock=clock)
    runs = Script([{"clusters": [{"id": "cls-1", **_RUNNING}]}, last])
    directories = RunDirectories(tmp_path / "runs")
    directories.open()
    receiving = Receiver(
        cast(Broker, None), collecting, cast(PlaybookRuns, runs), directories, ActivityRecorder(), again
    )

    async def scenario() -> None:
        receiving.take(Message(b'{"data": {"id": "cls-1"}}', {}, 1))
        await receiving._one()
        assert len(again) == 1
        clock.now += 1
        for cluster in again.due():
            collecting.add(cluster)
        await receiving._one()

    asyncio.run(scenario())
    directories.close()
    assert (len(again), len(collecting), runs.results) == (0, 0, [])


def test_a_restarted_receiver_has_its_full_prefetch() -> None:
    """Nobody acknowledges the messages that were open before the restart."""
    webhook = WebhookBroker.validate({"listen": "127.0.0.1:0", "prefetch": 2}, 2)
    webhook._unacknowledged.update({1, 2})

    async def scenario() -> None:
        task = asyncio.create_task(webhook.run(lambda _message: None, ActivityRecorder()))
        while not webhook.addresses:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(scenario())
    assert webhook._unacknowledged == set()


def test_a_run_that_is_no_longer_waited_for_does_not_hang_for_ever(tmp_path: Path) -> None:
    """The receiver restarted: the health probe would otherwise report a hanging run until the process ends."""
    recorder = MonitoringRecorder()
    directories = RunDirectories(tmp_path / "runs")
    directories.open()

    class Queue:
        async def put(self, item: Any) -> None:
            recorder.run_started()

    runs = PlaybookRuns(
        Queue(), directories, cast(ActivityRecorder, recorder), start=60.0, busy=lambda: False
    )

    async def scenario() -> None:
        task = asyncio.create_task(runs.run(Batch()))
        while not recorder.state.run_begins:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(scenario())
    directories.close()
    assert recorder.state.run_begins == []


def test_durations_without_a_collector_are_not_kept() -> None:
    clock = Clock()
    longest = RecentMaximum("a_name", "what it is", ["result"], clock)
    for number in range(5000):
        # Each value is smaller than the one before, so no value replaces another.
        longest.add(("success",), 100_000.0 - number)
        clock.now += 1
    assert len(longest._values["success",]) <= WINDOW + 1
