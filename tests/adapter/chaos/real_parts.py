# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""ansible-rulebook with the collection's rulebook, and a real RabbitMQ; both are killed and restarted."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import aio_pika

from tests.adapter.chaos.invariants import left_directories
from tests.adapter.chaos.watching import Overlaps
from tests.lab.rabbitmq import RabbitMQ
from tests.lab.supervisor import listing
from tests.support.adapter_events.sentinel import Sentinel
from tests.support.adapter_events.source import cloud_event
from tests.support.rulebook import prepare

_TRIES = 1000


class Real:
    """Runs ansible-rulebook until the ``with`` block ends. Its processes are found by their variable HOME."""

    def __init__(
        self, directory: Path, config: Path, broker: RabbitMQ, sentinel: Sentinel, seed: int
    ) -> None:
        self.home = directory / "home"
        self.home.mkdir()
        self.runs_directory = directory / "runs"
        self.killed = {"runs": 0, "sources": 0, "brokers": 0}
        self._broker = broker
        self._sentinel = sentinel
        self._random = random.Random(seed)
        self._started = prepare(
            self.home,
            "adapter",
            adapter_config=str(config),
            adapter_run_dir=str(self.runs_directory),
            adapter_start_timeout="10",
            adapter_tries=str(_TRIES),
        )
        self._process: subprocess.Popen[bytes] | None = None
        self._overlaps = Overlaps(self.runs_directory)
        # The clusters of events that wait for the broker; None while it runs.
        self._unsent: list[str] | None = None

    def __enter__(self) -> Real:
        self._overlaps.__enter__()
        self._process = self._started.start()
        asyncio.run(self._sentinel.listens())
        return self

    def __exit__(self, *_unused: object) -> None:
        self.stop(1.0)
        self._overlaps.__exit__()

    # -- what a story does --------------------------------------------------------------------------

    def publish(self, cluster_ids: Sequence[str]) -> None:
        """Publish events; repeat until the broker accepts them, as the sentinel does."""
        if self._unsent is not None:
            self._unsent += cluster_ids
            return
        bodies = [cloud_event(cluster_id) for cluster_id in cluster_ids]
        for _try in range(60):
            try:
                asyncio.run(self._sentinel.publish(*bodies))
                return
            except (OSError, aio_pika.exceptions.AMQPError):
                time.sleep(0.2)
        raise AssertionError("RabbitMQ takes nothing")

    def kill_source(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self.killed["sources"] += 1
        # Its playbook may still run.
        time.sleep(self._random.choice((0.0, 1.0)))
        self._process = self._started.start()

    def kill_run(self) -> None:
        """Kill all processes of a playbook, or one of them."""
        deadline = time.monotonic() + 3
        while not (found := self._playbooks()) and time.monotonic() < deadline:
            time.sleep(0.05)
        # At the beginning, in the middle or at the end of a run.
        time.sleep(self._random.uniform(0.0, 4.0))
        found = self._playbooks()
        if found and self._random.random() < 0.3:
            found = [self._random.choice(found)]
        for pid in found:
            _kill(pid)
        self.killed["runs"] += bool(found)

    def restart_broker(self) -> None:
        if self._unsent is not None:
            return
        if self._random.random() < 0.5:
            self._broker.kill()
        else:
            self._broker.down()
        self.killed["brokers"] += 1
        time.sleep(self._random.uniform(0.0, 2.0))  # away for shorter or longer than a reconnect takes
        self._broker.up()

    def broker_down(self) -> None:
        """Kill the broker; it stays away until ``broker_up``."""
        self._unsent = []
        self._broker.kill()
        self.killed["brokers"] += 1

    def broker_up(self) -> None:
        """Start the broker, and publish the events that wait for it."""
        self._broker.up()
        unsent, self._unsent = self._unsent or [], None
        self.publish(unsent)

    # -- what a test asks ---------------------------------------------------------------------------

    def left(self) -> list[str]:
        """How many messages are in the queue, in words; empty if there are none."""
        assert self._process is not None
        said = self._started.output.read_text(errors="replace")[-3000:]
        assert self._process.poll() is None, f"the rulebook has to go on for ever\n{said}"
        number = asyncio.run(self._sentinel.left())
        return [f"{number} messages are in the queue"] if number else []

    def runs(self) -> list[str]:
        """The active playbooks."""
        return [f"run {pid} goes on" for pid in self._playbooks()]

    def broken(self) -> list[str]:
        """Violations of the source's guarantees, in words."""
        assert self._overlaps.seen, "no run was seen at work"
        return self._overlaps.found

    def stop(self, seconds: float = 60.0) -> list[str]:
        """Stop the rulebook with SIGTERM; return the processes, directories and messages it leaves behind."""
        process, self._process = self._process, None
        if process is None:
            return []
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        deadline = time.monotonic() + seconds
        while (pids := self._ours()) and time.monotonic() < deadline:
            time.sleep(0.1)
        found = [f"process {pid} is left: {_command(pid)}" for pid in pids]
        for pid in pids:
            _kill(pid)
        found += left_directories(self.runs_directory)
        number = asyncio.run(self._sentinel.left())
        return found + ([f"{number} messages were held"] if number else [])

    # -- parts --------------------------------------------------------------------------------------

    def _playbooks(self) -> list[int]:
        return [pid for pid in self._ours() if "ansible-playbook" in _command(pid)]

    def _ours(self) -> list[int]:
        """The processes that this rulebook or an earlier one started."""
        mark = f"HOME={self.home}".encode()
        found = []
        for path in listing(Path("/proc"), "[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
        own = self._process.pid if self._process is not None else None
        return [pid for pid in found if pid != own]


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
