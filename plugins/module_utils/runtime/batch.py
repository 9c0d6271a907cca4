# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Handles many targets in one process: bounded concurrency, one result each, progress, an orderly end."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Callable, TypeVar

from ..model.errors import Internal, PullSecretError

__all__ = ["Failure", "Progress", "run_batch", "stop_on_signals"]

T = TypeVar("T")

_WAKE = 0.2
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass(frozen=True)
class Failure:
    """A target that failed, with a message that is safe to print."""

    kind: str
    message: str
    hint: str | None = None

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Keep our own errors unchanged. Of any other error keep only type and line: its message may hold a
        value.
        """
        if isinstance(error, PullSecretError):
            return cls(error.kind, error.message, error.hint)
        frames = traceback.extract_tb(error.__traceback__)
        at = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
        return cls(Internal.kind, f"internal error: {type(error).__name__}{at}", "please report this")


class Progress:
    """Writes the progress of the batch to a small file that the action plugin reads.

    The file is replaced at most five times a second and holds counts only.
    """

    _INTERVAL = 0.2

    def __init__(self, path: str | None, total: int) -> None:
        self._path = path
        self._total = total
        self._done = 0
        self._failed = 0
        self._next = 0.0

    def advance(self, *, failed: bool) -> None:
        """Count one more target."""
        self._done += 1
        self._failed += failed
        if self._path and (time.monotonic() >= self._next or self._done == self._total):
            self._next = time.monotonic() + self._INTERVAL
            self._write(self._path)

    def _write(self, path: str) -> None:
        try:
            with open(path + ".new", "w", encoding="ascii") as stream:
                json.dump({"done": self._done, "total": self._total, "failed": self._failed}, stream)
            os.replace(path + ".new", path)
        except OSError:
            # Nobody reads it any more. The work matters, not the display.
            self._path = None


def run_batch(
    targets: Sequence[T],
    work: Callable[[T], Any],
    *,
    concurrency: int,
    stop: threading.Event,
    progress: Progress | None = None,
    failed: Callable[[Any], bool] = lambda result: isinstance(result, Failure),
) -> list[Any]:
    """Call ``work`` for each target, ``concurrency`` at a time; return the results in the targets' order.

    A result is what ``work`` returned or a ``Failure``. Once ``stop`` is set, no further target is begun. The
    others fail with kind ``stopped``, and the next run handles them.
    """
    results: list[Any] = [Failure("stopped", "not started: the run was ended", "run it again")] * len(targets)
    waiting = iter(range(len(targets)))
    lock = threading.Lock()

    def worker() -> None:
        while not stop.is_set():
            with lock:
                index = next(waiting, None)
            if index is None:
                return
            try:
                result = work(targets[index])
            except Exception as error:  # noqa: BLE001 - one target's failure stays one failure
                result = Failure.of(error)
            with lock:
                results[index] = result
                if progress is not None:
                    progress.advance(failed=failed(result))

    threads = [
        threading.Thread(target=worker, daemon=True)
        for _slot in range(max(1, min(concurrency, len(targets))))
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            # A signal may be delivered to any thread, and is handled when this one wakes.
            while thread.is_alive():
                thread.join(_WAKE)
    except BaseException:
        # Ansible raises its own time limit for a task in here. Nothing more is begun. Work in progress ends
        # as in a killed process, and the next run finds its state.
        stop.set()
        raise
    return results


@contextmanager
def stop_on_signals(stop: threading.Event) -> Iterator[list[int]]:
    """On SIGTERM, SIGINT and SIGHUP, finish the work in progress and report results.

    Yields the numbers of the received signals. Python delivers no signals outside the main thread; there, the
    code that started the thread must set ``stop``.
    """
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return

    # A handler must take no lock: the interrupted code, such as the handler of an earlier signal, may hold
    # it.
    signals: SimpleQueue[int] = SimpleQueue()

    def follow() -> None:
        for number in iter(signals.get, 0):
            came.append(number)
            stop.set()

    follower = threading.Thread(target=follow, name="signals", daemon=True)
    follower.start()
    # A run under nohup continues when its terminal is closed.
    ending = [number for number in _ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, lambda number, _frame: signals.put(number)) for number in ending}
    try:
        yield came
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier if earlier is not None else signal.SIG_DFL)
        signals.put(0)
        follower.join()
