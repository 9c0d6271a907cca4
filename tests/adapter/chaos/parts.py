# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event source and the runs, each a process of its own that is really killed, with a broker in memory.

They are forked from a process that has imported all of it, so a start takes milliseconds. The source is the
rulebook's own ``main``; a run takes the lock, works and leaves its result with the action's own functions.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import os
import random
import runpy
import signal
import sys
import threading
import time
from collections.abc import Sequence
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any
from unittest.mock import patch

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.brokers.base import (
    Message,
    Take,
    reconnecting,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.recorder import ActivityRecorder
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.settings import ClusterEventsSettings
from ansible_collections.hyperfleet.pull_secret.plugins.action import hyperfleet_adapter as action
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import PullSecretError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import hyperfleet_adapter
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import validated_by_spec
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.engine.run_results import (
    result_document,
    utc_now,
)
from tests.adapter.chaos.invariants import left_directories
from tests.adapter.world import FAST
from tests.support.adapter_events.source import SOURCE, cloud_event

__all__ = ["Parts"]

_FORKS = multiprocessing.get_context("forkserver")
# Runs that may die with a cluster: here they do so far more often than anywhere.
_TRIES = 1000


def _begin_forking() -> None:
    """Have a process that has imported all of it; it ends with this one."""
    _FORKS.set_forkserver_preload([__name__])
    # The process looks for its imports only there.
    with patch.dict(os.environ, PYTHONPATH=os.pathsep.join(path for path in sys.path if path)):
        forkserver.ensure_running()


class _Piped:
    """The source's broker: what a real one says comes through a pipe."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe = pipe

    async def run(self, take: Take, telling: ActivityRecorder) -> None:
        await reconnecting(lambda connected: self._session(take, connected), repr, telling)

    async def acknowledge(self, tokens: Sequence[Any]) -> int:
        self.pipe.send(("acknowledge", list(tokens)))
        return len(tokens)

    async def _session(self, take: Take, connected: Any) -> None:
        loop = asyncio.get_running_loop()
        lost = loop.create_future()

        def readable() -> None:
            kind, token, body = self.pipe.recv()
            if kind == "message":
                take(Message(body, {}, token))
            elif not lost.done():
                lost.set_result(None)

        loop.add_reader(self.pipe.fileno(), readable)
        try:
            self.pipe.send(("consume", None))
            connected()
            await lost
        finally:
            loop.remove_reader(self.pipe.fileno())


class _Queue:
    """The source's queue into the engine."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe = pipe

    async def put(self, data: Any) -> None:
        self.pipe.send(("put", data["cluster_events"]))


def be_source(pipe: Connection, directory: str) -> None:
    """The source's process."""
    main = runpy.run_path(str(SOURCE))["main"]
    settings = ClusterEventsSettings(_Piped(pipe), Path(directory), window=0.1, start=2.0, tries=_TRIES)  # type: ignore[arg-type]
    main.__globals__["parse_cluster_events_settings"] = lambda _arguments: settings

    async def ended_in_order() -> None:
        task = asyncio.create_task(main(_Queue(pipe), {}))
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await task

    asyncio.run(ended_in_order())


def be_run(event: dict[str, Any], config: str, ended: str) -> None:
    """A run's process: what the playbook's one task does.

    :param ended: a file that is there once the work is done.
    """
    arguments = {**FAST, "config": config, "cluster_ids": event["cluster_ids"]}
    try:
        with action._locked(event["run"]) as directory:
            _look_around(Path(ended), event["cluster_ids"])
            started = utc_now()
            ran = hyperfleet_adapter.work(
                validated_by_spec(hyperfleet_adapter.spec(), arguments),
                check_mode=False,
                stop=threading.Event(),
                log=lambda _entry, _logging: None,
            )
            Path(ended).touch()
            action._leave(directory, result_document(ran.results, started, utc_now(), ran.calls))
    except PullSecretError:
        # A run that was given up before it began.
        os._exit(2)


def _look_around(ended: Path, clusters: list[str]) -> None:
    """Note it where another run that is at work has one of these clusters."""
    # First our own: of two that begin at once, one sees the other.
    ended.with_suffix(".begun").write_text(json.dumps([os.getpid(), clusters]))
    for other in ended.parent.glob("*.begun"):
        if other.stem == ended.stem:
            continue
        pid, theirs = json.loads(other.read_text() or "[0, []]")
        at_work = pid and Path(f"/proc/{pid}").exists() and not other.with_suffix("").exists()
        if at_work and set(theirs) & set(clusters):
            ended.with_suffix(".twice").write_text(" ".join(sorted(set(theirs) & set(clusters))))


class Broker:
    """Messages until they are acknowledged; whoever consumes anew is given all of them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.messages: dict[int, bytes] = {}
        # Of each message its cluster, and when it was published.
        self.about: dict[int, tuple[str, float]] = {}
        self.epoch = 0
        self._count = 0
        self._consumer: Connection | None = None

    def publish(self, cluster_id: str) -> None:
        with self.lock:
            self._count += 1
            self.messages[self._count] = cloud_event(cluster_id)
            self.about[self._count] = (cluster_id, time.monotonic())
            self._deliver(self._count)

    def consume(self, consumer: Connection) -> None:
        with self.lock:
            self.epoch += 1
            self._consumer = consumer
            for number in list(self.messages):
                self._deliver(number)

    def acknowledge(self, tokens: Sequence[tuple[int, int]]) -> list[tuple[str, float]]:
        """Take them away; the clusters that no message names any more, and since when one did."""
        with self.lock:
            gone = {number for epoch, number in tokens if epoch == self.epoch and number in self.messages}
            for number in gone:
                del self.messages[number]
            waiting = {self.about[number][0] for number in self.messages}
            return [self.about[number] for number in gone if self.about[number][0] not in waiting]

    def cut(self) -> None:
        """End the connection, if there is one."""
        with self.lock:
            self.epoch += 1
            consumer, self._consumer = self._consumer, None
            if consumer is not None:
                _send(consumer, ("lost", None, b""))

    def _deliver(self, number: int) -> None:
        if self._consumer is not None:
            _send(self._consumer, ("message", (self.epoch, number), self.messages[number]))


def _send(pipe: Connection, what: Any) -> None:
    try:
        pipe.send(what)
    except OSError:
        # It was killed, and is consuming no more.
        return


class Parts:
    """One source at a time, and its runs: between ``with`` and its end."""

    def __init__(self, directory: Path, config: Path, seed: int) -> None:
        self.runs_directory = directory / "runs"
        self.broker = Broker()
        self.put = 0
        self.too_early: list[str] = []
        self._ledger = directory / "ledger"
        self._ledger.mkdir()
        # When each run was asked for, and for which clusters, by the file that it leaves.
        self._asked: dict[Path, tuple[float, frozenset[str]]] = {}
        self.killed = {"runs": 0, "sources": 0}
        self._config = str(config)
        self._random = random.Random(seed)
        self._runs: list[BaseProcess] = []
        self._sources: list[BaseProcess] = []
        self._readers: list[threading.Thread] = []
        _begin_forking()

    def __enter__(self) -> Parts:
        self._start()
        return self

    def __exit__(self, *_unused: object) -> None:
        self.stop()

    # -- what a story does --------------------------------------------------------------------------

    def publish(self, cluster_ids: Sequence[str]) -> None:
        for cluster_id in cluster_ids:
            self.broker.publish(cluster_id)

    def kill_source(self) -> None:
        self._sources[-1].kill()
        self._sources[-1].join()
        self.killed["sources"] += 1
        self.broker.cut()
        # Its run goes on for a while, or for longer than it takes to start the next.
        time.sleep(self._random.choice((0.0, 0.0, 0.3)))
        self._start()

    def kill_run(self) -> None:
        # Right after its beginning, in the middle, at its end.
        time.sleep(self._random.uniform(0.0, 0.3))
        for run in self._alive():
            run.kill()
            self.killed["runs"] += 1

    def restart_broker(self) -> None:
        self.broker.cut()

    # -- what a test asks ---------------------------------------------------------------------------

    def left(self) -> list[str]:
        """Messages that nobody has acknowledged."""
        return [f"message {number} is in the queue" for number in self.broker.messages]

    def runs(self) -> list[str]:
        """Runs that go on."""
        return [f"run {run.pid} goes on" for run in self._alive()]

    def stop(self) -> list[str]:
        """End the source in order; what it and a run of it leave for good."""
        self._sources[-1].terminate()
        self._sources[-1].join(10)
        for run in self._alive():
            run.join(10)
        for reader in self._readers:
            reader.join(10)
        found = [f"source {one.pid} is left" for one in self._sources if one.is_alive()]
        return found + self.runs() + left_directories(self.runs_directory)

    def begun(self) -> int:
        """Runs that have begun their work so far."""
        return len(list(self._ledger.glob("*.begun")))

    def ended(self) -> int:
        """Runs that have done it."""
        return len([path for path in self._ledger.iterdir() if not path.suffix])

    def broken(self) -> list[str]:
        """Promises that were broken meanwhile."""
        return self.too_early + [
            f"{path.read_text()}: in two runs at once" for path in self._ledger.glob("*.twice")
        ]

    # -- parts --------------------------------------------------------------------------------------

    def _start(self) -> None:
        ours, its = _FORKS.Pipe()
        source = _FORKS.Process(target=be_source, args=(its, str(self.runs_directory)))
        source.start()
        its.close()
        reader = threading.Thread(target=self._serve, args=(ours,), daemon=True)
        reader.start()
        self._sources.append(source)
        self._readers.append(reader)

    def _serve(self, pipe: Connection) -> None:
        """What a source says, to its end."""
        while True:
            try:
                kind, what = pipe.recv()
            except (EOFError, OSError):
                return
            if kind == "consume":
                self.broker.consume(pipe)
            elif kind == "acknowledge":
                self._check(self.broker.acknowledge(what))
            else:
                ended = self._ledger / str(self.put)
                self._asked[ended] = (time.monotonic(), frozenset(what["cluster_ids"]))
                run = _FORKS.Process(target=be_run, args=(what, self._config, str(ended)))
                run.start()
                self._runs.append(run)
                self.put += 1

    def _check(self, acknowledged: list[tuple[str, float]]) -> None:
        """A message may go when a run that was asked for after it has ended with a result."""
        for cluster_id, published in acknowledged:
            if not cluster_id or cluster_id.startswith("."):
                continue
            if not any(
                asked >= published and cluster_id in clusters and ended.exists()
                for ended, (asked, clusters) in list(self._asked.items())
            ):
                self.too_early.append(f"the message about {cluster_id} was acknowledged before its run ended")

    def _alive(self) -> list[BaseProcess]:
        return [run for run in list(self._runs) if run.is_alive()]
