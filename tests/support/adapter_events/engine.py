# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An engine that plays runs: it takes events, and works in their directories as the action does."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.recorder import ActivityRecorder
from tests.support.waiting import until


class Told(ActivityRecorder):
    """Records the source's activity."""

    def __init__(self) -> None:
        self.events = 0
        self.words: list[str] = []
        self.done: Counter[str] = Counter()
        self.connected: list[bool] = []
        self.started = 0

    def event(self, kind: str) -> None:
        self.events += 1

    def garbage(self, kind: str) -> None:
        self.words.append(kind)

    def acknowledged(self, n: int, result: str = "success") -> None:
        self.done[result] += n

    def run_started(self) -> None:
        self.started += 1

    def broker(self, connected: bool) -> None:
        self.connected.append(connected)


Rows = Callable[[str], dict[str, Any]]


def reported(cluster: str) -> dict[str, Any]:
    """The result row of a cluster that is complete."""
    return {
        "id": cluster,
        "generation": 1,
        "outcome": "reported",
        "state": "succeeded",
        "again": None,
        "reason": "PullSecretStored",
    }


class Engine:
    """The source's queue, which plays the runs.

    ``play`` returns what happens in a run, by its number from 0: ``end``, ``die`` (it begins, and has no
    result), ``never`` (it does not begin), ``hold`` (it begins, and ends once ``go`` is set).
    """

    def __init__(self, play: Callable[[int], str] = lambda _number: "end", rows: Rows = reported) -> None:
        self.play = play
        self.rows = rows
        self.go = asyncio.Event()
        self.told = Told()
        self.is_told = False
        """Whether the source reports its activity to ``told``."""
        self.batches: list[list[str]] = []
        self.events: list[dict[str, Any]] = []
        self.at_work: set[str] = set()
        self.ended = 0
        self._runs: set[asyncio.Task[None]] = set()

    async def put(self, data: Any) -> None:
        # ansible-rulebook passes events on as JSON.
        event = json.loads(json.dumps(data))["cluster_events"]
        number = len(self.batches)
        self.events.append(event)
        self.batches.append(event["cluster_ids"])
        run = asyncio.create_task(self._run(self.play(number), event))
        self._runs.add(run)
        run.add_done_callback(self._runs.discard)

    async def _run(self, kind: str, event: dict[str, Any]) -> None:
        clusters = event["cluster_ids"]
        assert not self.at_work.intersection(clusters), "a cluster is in two runs at once"
        started = self.told.started
        if kind != "never":
            directory = Path(event["run"])
            assert directory.stat().st_mode & 0o777 == 0o700
            with (directory / "lock").open("r+b") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                self.at_work.update(clusters)
                await self._work(kind, started)
                if kind != "die":
                    write_result(directory, clusters, self.rows)
                self.at_work.difference_update(clusters)
        self.ended += 1

    async def _work(self, kind: str, started: int) -> None:
        if kind == "hold":
            await self.go.wait()
        elif kind == "die" and self.is_told:
            # If a run ends before the source has seen it, the source considers it as not begun.
            await until(lambda: self.told.started > started)
        else:
            # During this time events arrive, and a second run of a cluster would be detected.
            await asyncio.sleep(0.2 if kind == "end" else 1.0)

    async def until(self, true: Callable[[Engine], bool], seconds: float = 180) -> None:
        await until(lambda: true(self), seconds)

    async def settled(self, messages: int) -> None:
        """Wait until at least this many messages, and all that were received, are acknowledged."""
        await until(lambda: self.told.done.total() >= max(messages, self.told.events))

    @property
    def clusters(self) -> list[str]:
        """The clusters of all runs so far, in order."""
        return [cluster for batch in self.batches for cluster in batch]

    async def close(self) -> None:
        for run in self._runs:
            run.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*self._runs)


def write_result(directory: Path, clusters: list[str], rows: Rows = reported) -> None:
    result = {"version": 1, "clusters": [rows(cluster) for cluster in clusters]}
    (directory / "result.new").write_text(json.dumps(result))
    os.replace(directory / "result.new", directory / "result.json")
