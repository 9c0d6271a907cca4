# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A batch of targets in one process: order, concurrency, failures, progress and an orderly stop."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import NotFound
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.batch import (
    Failure,
    Progress,
    run_batch,
    stop_on_signals,
)


def test_results_are_in_the_targets_order() -> None:
    first, last = threading.Event(), threading.Event()

    def work(number: int) -> int:
        # The first target finishes last.
        if number == 0:
            assert last.wait(60)
            first.set()
        if number == 3:
            last.set()
        return number * 10

    assert run_batch([0, 1, 2, 3], work, concurrency=2, stop=threading.Event()) == [0, 10, 20, 30]
    assert first.is_set()


@pytest.mark.parametrize(("concurrency", "width"), [(4, 4), (1, 1), (0, 1), (-3, 1)])
def test_as_many_at_once_as_asked_for(concurrency: int, width: int) -> None:
    lock = threading.Lock()
    barrier = threading.Barrier(width)
    now, most = 0, 0

    def work(_target: int) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        barrier.wait(60)
        with lock:
            now -= 1

    run_batch(range(width * 3), work, concurrency=concurrency, stop=threading.Event())
    assert most == width


def test_no_target_is_no_result() -> None:
    assert run_batch([], lambda target: target, concurrency=4, stop=threading.Event()) == []


def test_one_failure_stays_one_failure() -> None:
    def work(number: int) -> int:
        if number == 1:
            raise NotFound("not there", "look elsewhere")
        if number == 2:
            raise ValueError("example-password")
        return number

    results = run_batch([0, 1, 2, 3], work, concurrency=2, stop=threading.Event())
    assert results[0] == 0
    assert results[1] == Failure("not_found", "not there", "look elsewhere")
    assert results[3] == 3
    # An error of another library is reported by type and line only: its text may contain a secret.
    assert results[2].kind == "internal"
    assert "ValueError at test_batch.py:" in results[2].message
    assert "example-password" not in repr(results[2])


def test_once_stopped_no_target_is_begun_and_what_is_begun_is_finished() -> None:
    stop = threading.Event()

    def work(number: int) -> str:
        if number == 1:
            stop.set()
        return "done"

    results = run_batch(range(5), work, concurrency=1, stop=stop)
    assert results[:2] == ["done", "done"]
    assert {result.kind for result in results[2:]} == {"stopped"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_stops_the_batch_and_is_given_back(number: signal.Signals) -> None:
    # A shell starts background processes with SIGINT ignored.
    given = signal.signal(number, signal.SIG_DFL)
    stop = threading.Event()

    def work(target: int) -> str:
        if target == 0:
            os.kill(os.getpid(), number)
            assert stop.wait(60)
        return "done"

    try:
        with stop_on_signals(stop):
            results = run_batch(range(3), work, concurrency=1, stop=stop)
        assert results[0] == "done"
        assert results[1].kind == "stopped"
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, given)


def test_a_signal_may_come_while_the_run_is_being_stopped() -> None:
    """For example SIGTERM, which ansible-playbook sends to its workers after Ctrl-C."""
    given = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    stop = threading.Event()

    def late(_number: int, _frame: object) -> None:
        raise TimeoutError("the handler waits for a lock")

    alarm = signal.signal(signal.SIGALRM, late)
    try:
        with stop_on_signals(stop) as came:
            signal.alarm(60)
            # ``set`` and ``wait`` hold this lock for a moment.
            with stop._cond:  # type: ignore[attr-defined]
                os.kill(os.getpid(), signal.SIGTERM)
                os.kill(os.getpid(), signal.SIGTERM)
            assert stop.wait(60)
            signal.alarm(0)
        assert came == [signal.SIGTERM, signal.SIGTERM]
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, alarm)
        signal.signal(signal.SIGTERM, given)


def test_a_run_that_ignores_the_end_of_its_terminal_goes_on() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        stop = threading.Event()
        with stop_on_signals(stop) as came:
            os.kill(os.getpid(), signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert not came
        assert not stop.is_set()
    finally:
        signal.signal(signal.SIGHUP, before)


def test_outside_the_main_thread_signals_are_left_alone() -> None:
    before = signal.getsignal(signal.SIGTERM)
    seen: list[object] = []

    def elsewhere() -> None:
        with stop_on_signals(threading.Event()):
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [before]


def test_progress_counts_and_ends_with_the_total(tmp_path: Path) -> None:
    path = tmp_path / "progress"
    results = [Failure("x", "x") if number % 3 == 0 else number for number in range(10)]
    run_batch(
        range(10),
        lambda number: results[number],
        concurrency=4,
        stop=threading.Event(),
        progress=Progress(str(path), 10),
    )
    assert json.loads(path.read_text()) == {"done": 10, "total": 10, "failed": 4}
    assert list(tmp_path.iterdir()) == [path]


def test_a_progress_file_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    progress = Progress(str(tmp_path / "missing" / "progress"), 2)
    results = run_batch(range(2), str, concurrency=1, stop=threading.Event(), progress=progress)
    assert results == ["0", "1"]
