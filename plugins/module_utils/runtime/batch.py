# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Many targets in one process: bounded concurrency, one result each, progress, an orderly end."""

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
    """A target that could not be done, in words that are safe to print."""

    kind: str
    message: str
    hint: str | None = None

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Our own errors as they are; anything else by its type and line only: its text may hold a value."""
        if isinstance(error, PullSecretError):
            return cls(error.kind, error.message, error.hint)
        frames = traceback.extract_tb(error.__traceback__)
        at = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
        return cls(Internal.kind, f"internal error: {type(error).__name__}{at}", "please report this")


class Progress:
    """Writes how far the batch is, to a small file that the action plugin reads.

    The file is replaced whole at most five times a second; it holds counts only.
    """

    _INTERVAL = 0.2

    def __init__(self, path: str | None, total: int) -> None:
        self._path = path
        self._total = total
        self._done = 0
        self._failed = 0
        self._next = 0.0

    def advance(self, *, failed: bool) -> None:
        """One more target is handled."""
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
            # Nobody reads it any more; the work matters, not the display.
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
    """``work`` for each target, ``concurrency`` at a time; the results in the targets' order.

    A result is what ``work`` returned or a ``Failure``.  Once ``stop`` is set no further target is
    begun: those that were not are failures of kind ``stopped``, and the next run does them.
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
        # Ansible's own time limit for a task is raised in here. Nothing more is begun; what is begun ends
        # as it does when a process is killed, and the next run finds out how far it came.
        stop.set()
        raise
    return results


@contextmanager
def stop_on_signals(stop: threading.Event) -> Iterator[list[int]]:
    """SIGTERM, SIGINT and SIGHUP end the run in order: it finishes what it has begun, and reports results.

    Gives the numbers of the signals that came.  Outside the main thread Python gives no signals, and the
    code that started the thread has to set ``stop``.
    """
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return

    # A handler must take no lock: what it interrupts, such as the handler of an earlier signal, may hold it.
    signals: SimpleQueue[int] = SimpleQueue()

    def follow() -> None:
        for number in iter(signals.get, 0):
            came.append(number)
            stop.set()

    follower = threading.Thread(target=follow, name="signals", daemon=True)
    follower.start()
    # A run under nohup goes on when its terminal is closed.
    ending = [number for number in _ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, lambda number, _frame: signals.put(number)) for number in ending}
    try:
        yield came
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier if earlier is not None else signal.SIG_DFL)
        signals.put(0)
        follower.join()
