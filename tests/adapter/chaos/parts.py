# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event source and the runs as processes that can be killed, with a broker made of files.

They are forked from a process that has imported all modules, so a start takes milliseconds. The source is the
rulebook's own ``main``; a run takes the lock, works and leaves its result with the action's own functions.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import multiprocessing
import os
import random
import runpy
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.brokers.base import (
    Broker,
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
from tests.adapter.chaos.watching import Overlaps
from tests.adapter.world import FAST
from tests.support.adapter_events.source import SOURCE, cloud_event

__all__ = ["Parts"]

_FORKS = multiprocessing.get_context("forkserver")
# Runs that may die with a cluster before the source gives it up. Here runs are killed very often.
_TRIES = 1000


def _begin_forking() -> None:
    """Start the process from which others are forked; it ends with this one."""
    _FORKS.set_forkserver_preload([__name__])
    # That process imports only from this path.
    with patch.dict(os.environ, PYTHONPATH=os.pathsep.join(path for path in sys.path if path)):
        forkserver.ensure_running()


class _Files:
    """The source's broker, and its queue of events for ansible-rulebook, in files.

    The files outlive the source: the broker's messages, and the runs that the source asked for.
    """

    def __init__(self, directory: Path) -> None:
        self.messages = directory / "messages"
        self.ledger = directory / "ledger"
        # When its content changes, the session ends.
        self.connection = directory / "connection"

    async def run(self, take: Take, telling: ActivityRecorder) -> None:
        await reconnecting(lambda connected: self._session(take, connected), repr, telling)

    async def _session(self, take: Take, connected: Callable[[], None]) -> None:
        connection = self.connection.read_text()
        taken: set[Path] = set()
        connected()
        while self.connection.read_text() == connection:
            for path in sorted(set(self.messages.iterdir()) - taken):
                taken.add(path)
                take(Message(path.read_bytes(), {}, (connection, path)))
            await asyncio.sleep(0.01)

    async def acknowledge(self, tokens: Sequence[tuple[str, Path]]) -> int:
        connection = self.connection.read_text()
        gone = [path for at, path in tokens if at == connection and path.exists()]
        about = [(_cluster(path), path.stat().st_mtime_ns) for path in gone]
        for path in gone:
            path.unlink()
        waiting = {_cluster(path) for path in self.messages.iterdir()}
        for cluster, published in about:
            # Garbage has no run.
            if (
                cluster.startswith("cls-")
                and cluster not in waiting
                and not self._has_run(cluster, published)
            ):
                (self.ledger / f"{published}.early").write_text(cluster)
        return len(tokens)

    def _has_run(self, cluster: str, published: int) -> bool:
        """Whether a run requested after this message has ended, so that the message may be acknowledged."""
        return any(
            asked.stat().st_mtime_ns >= published and cluster in json.loads(asked.read_text())["cluster_ids"]
            for asked in self.ledger.glob("*.asked")
            if asked.with_suffix("").exists()
        )

    async def put(self, data: Any) -> None:
        number = len(list(self.ledger.glob("*.asked")))
        _write(self.ledger / f"{number}.asked", json.dumps(data["cluster_events"]).encode())


def _write(path: Path, content: bytes) -> None:
    """Write the file atomically: other processes wait for it."""
    fresh = path.parent.parent / f"{path.name}.new"
    fresh.write_bytes(content)
    fresh.replace(path)


def _cluster(message: Path) -> str:
    return str(json.loads(message.read_bytes())["data"]["id"])


def be_source(directory: str) -> None:
    """Run the event source: the process's entry point."""
    main = runpy.run_path(str(SOURCE))["main"]
    files = _Files(Path(directory))
    runs, broker = Path(directory) / "runs", cast(Broker, files)
    settings = ClusterEventsSettings(broker, runs, window=0.1, start=2.0, tries=_TRIES)
    main.__globals__["parse_cluster_events_settings"] = lambda _arguments: settings

    async def ended_in_order() -> None:
        task = asyncio.create_task(main(files, {}))
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await task

    asyncio.run(ended_in_order())


def be_run(event: dict[str, Any], config: str, ended: str) -> None:
    """Run the adapter as the playbook's task does: the process's entry point.

    :param ended: this file is created when the work is done.
    """
    arguments = {**FAST, "config": config, "cluster_ids": event["cluster_ids"]}
    try:
        with action._locked(event["run"]) as directory:
            Path(ended).with_suffix(".begun").touch()
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
        # The source had given the run up before it began.
        os._exit(2)


class Parts:
    """The source and its runs until the ``with`` block ends; there is one source at a time."""

    def __init__(self, directory: Path, config: Path, seed: int) -> None:
        self.runs_directory = directory / "runs"
        self._directory = directory
        self._files = _Files(directory)
        self._files.messages.mkdir()
        self._files.ledger.mkdir()
        self._files.connection.touch()
        self._published = itertools.count()
        self._config = str(config)
        self._random = random.Random(seed)
        # By the name of its file in the ledger.
        self._runs: dict[str, BaseProcess] = {}
        self._sources: list[BaseProcess] = []
        self._overlaps = Overlaps(self.runs_directory)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        _begin_forking()

    def __enter__(self) -> Parts:
        self._overlaps.__enter__()
        self._start()
        self._thread.start()
        return self

    def __exit__(self, *_unused: object) -> None:
        self.stop()
        self._overlaps.__exit__()

    # -- what a story does --------------------------------------------------------------------------

    def publish(self, cluster_ids: Sequence[str]) -> None:
        for cluster_id in cluster_ids:
            _write(self._files.messages / f"{next(self._published):06}", cloud_event(cluster_id))

    def kill_source(self) -> None:
        self._sources[-1].kill()
        self._sources[-1].join()
        # Its run may go on until after the next source has started.
        time.sleep(self._random.choice((0.0, 0.0, 0.3)))
        self._start()

    def kill_run(self) -> None:
        # At the beginning, in the middle or at the end of a run.
        time.sleep(self._random.uniform(0.0, 0.3))
        for run in self._alive():
            run.kill()

    def restart_broker(self) -> None:
        with self._files.connection.open("a") as connection:
            connection.write("another ")

    # -- what a test asks ---------------------------------------------------------------------------

    def left(self) -> list[str]:
        """The messages that are not acknowledged."""
        return [f"message {path.name} is in the queue" for path in self._files.messages.iterdir()]

    def runs(self) -> list[str]:
        """The active runs."""
        return [f"run {run.pid} goes on" for run in self._alive()]

    def stop(self) -> list[str]:
        """Stop the source with SIGTERM, and return what it and its runs leave behind."""
        self._sources[-1].terminate()
        self._sources[-1].join(60)
        self._stop.set()
        self._thread.join()
        for run in self._alive():
            run.join(60)
        found = [f"source {one.pid} is left" for one in self._sources if one.is_alive()]
        return found + self.runs() + left_directories(self.runs_directory)

    def begun(self) -> int:
        """How many runs have begun."""
        return len(list(self._files.ledger.glob("*.begun")))

    def ended(self) -> int:
        """How many runs have done their work."""
        return len([path for path in self._files.ledger.iterdir() if not path.suffix])

    def broken(self) -> list[str]:
        """Violations of the source's guarantees, in words."""
        early = "a message was acknowledged before its run ended"
        found = [f"{path.read_text()}: {early}" for path in self._files.ledger.glob("*.early")]
        assert self._overlaps.seen, "no run was seen at work"
        return found + self._overlaps.found

    # -- parts --------------------------------------------------------------------------------------

    def _start(self) -> None:
        source = _FORKS.Process(target=be_source, args=(str(self._directory),))
        source.start()
        self._sources.append(source)

    def _work(self) -> None:
        """Start the runs that a source asks for, as ansible-rulebook does."""
        last = False
        while not last:
            # Look once more after the source has ended.
            last = self._stop.wait(0.005)
            for asked in self._files.ledger.glob("*.asked"):
                if asked.stem not in self._runs:
                    event, ended = json.loads(asked.read_text()), str(asked.with_suffix(""))
                    run = _FORKS.Process(target=be_run, args=(event, self._config, ended))
                    run.start()
                    self._runs[asked.stem] = run

    def _alive(self) -> list[BaseProcess]:
        return [run for run in list(self._runs.values()) if run.is_alive()]
