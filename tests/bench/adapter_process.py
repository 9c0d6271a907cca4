# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs the adapter (ansible-rulebook with the collection's rulebook), and measures the cost of its processes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.bench.measure import family, held
from tests.support.rulebook import ended_with, prepare

LIMIT = 300.0
_SECOND = os.sysconf("SC_CLK_TCK")
_LOOK = 0.05


class Adapter:
    """A context manager. When it is entered, the event source receives messages."""

    def __init__(self, directory: Path, config: Path, port: int, environment: dict[str, str]) -> None:
        directory.mkdir()
        self._directory = directory
        self._config = config
        self._address = f"http://127.0.0.1:{port}"
        self._environment = environment
        self._process: subprocess.Popen[bytes]
        self._sampled = 0.0
        self.peak = 0

    def __enter__(self) -> Adapter:
        started = prepare(
            self._directory,
            "adapter",
            adapter_config=str(self._config),
            adapter_run_dir=str(self._directory / "runs"),
        )
        self._output = started.output
        self._process = started.start(**self._environment)
        try:
            self.until(self._is_ready, "the source consumes")
            # The rest of the start, such as the engine's first threads, is not a cost of events.
            self._settle()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_exc: object) -> None:
        with ended_with(self._process.pid):
            if self._process.poll() is None:
                self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    @property
    def output(self) -> str:
        return self._output.read_text(errors="replace")

    def until(self, true: Callable[[], bool], what: str, limit: float = LIMIT) -> None:
        """Wait until ``true`` returns true, and sample the memory."""
        end = time.monotonic() + limit
        while not true():
            if self._process.poll() is not None:
                raise RuntimeError(f"ansible-rulebook ended: {self.output[-2000:]}")
            if time.monotonic() > end:
                raise RuntimeError(f"not in time: {what}: {self.output[-2000:]}")
            self._sample()
            time.sleep(_LOOK)

    def idle(self) -> bool:
        """Return whether no playbook runs."""
        return not any(_is_playbook(pid) for pid in family(self._process.pid))

    def cpu(self) -> float:
        """Return the CPU seconds of all its processes, including those that have ended."""
        return sum(_spent(pid) for pid in family(self._process.pid))

    def shares(self) -> dict[str, float]:
        """Return the CPU seconds of ansible-rulebook's process, which includes Java, and of all playbooks."""
        own = _fields(self._process.pid)
        ours = sum(own[:2])
        return {"rulebook": ours / _SECOND, "playbooks": self.cpu() - ours / _SECOND}

    def _is_ready(self) -> bool:
        address = f"{self._address}/readyz"
        with suppress(OSError), urllib.request.urlopen(address, timeout=5) as answer:
            return bool(answer.status == 200)
        return False

    def _settle(self) -> None:
        before = self.cpu()
        while True:
            time.sleep(1.0)
            now = self.cpu()
            if now - before < 0.1:
                return
            before = now

    def _sample(self) -> None:
        # Adding up the memory of a large process locks that memory.
        if time.monotonic() - self._sampled >= 0.25:
            self._sampled = time.monotonic()
            self.peak = max(self.peak, sum(map(held, family(self._process.pid))))


def _is_playbook(pid: int) -> bool:
    with suppress(OSError):
        return b"ansible-playbook" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def _spent(pid: int) -> float:
    return sum(_fields(pid)) / _SECOND


def _fields(pid: int) -> list[int]:
    """Return the user and system time of a process and of its ended children, in ticks."""
    with suppress(OSError):
        fields: list[Any] = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return [int(field) for field in fields[11:15]]
    return [0, 0, 0, 0]
