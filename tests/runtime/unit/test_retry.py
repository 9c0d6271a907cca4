# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Retries: which errors, how often, how long the pauses are, and never past the time limit."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    Conflict,
    NotFound,
    PullSecretError,
    TimedOut,
    Unavailable,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime import retry
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import (
    ConflictPauses,
    Deadline,
    Retrier,
    RetryPolicy,
    parse_retry_after,
)


class Clock:
    """A clock that advances only by waiting."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.pauses: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def wait(self, seconds: float) -> bool:
        self.pauses.append(seconds)
        self.now += seconds
        return False


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(retry, "time", found)
    return found


def _retrier(clock: Clock, **policy: Any) -> Retrier:
    retrier = Retrier(RetryPolicy(**{"jitter": 0.0, **policy}))
    retrier.stop.wait = clock.wait  # type: ignore[method-assign,assignment]
    return retrier


class Calls:
    """Raises the errors in turn, then answers."""

    def __init__(self, *errors: PullSecretError) -> None:
        self.errors = list(errors)
        self.timeouts: list[float] = []

    def __call__(self, timeout: float) -> str:
        self.timeouts.append(timeout)
        if self.errors:
            raise self.errors.pop(0)
        return "done"


def _unavailable(count: int) -> list[Unavailable]:
    return [Unavailable(f"error {number}") for number in range(1, count + 1)]


def test_pauses_double_from_one_second_to_thirty(clock: Clock) -> None:
    calls = Calls(*_unavailable(8))
    retrier = _retrier(clock, tries=9)
    assert retrier.call(calls, deadline=Deadline(1000), api_timeout=10) == "done"
    assert clock.pauses == [1, 2, 4, 8, 16, 30, 30, 30]


def _asking(*seconds: float | None) -> list[Unavailable]:
    errors = _unavailable(len(seconds))
    for error, asked in zip(errors, seconds, strict=True):
        error.retry_after = asked
    return errors


def test_a_place_is_not_asked_sooner_than_it_wants(clock: Clock) -> None:
    calls = Calls(*_asking(5, 1, None, 9))
    _retrier(clock).call(calls, deadline=Deadline(1000), api_timeout=10)
    # It also waits at least as long as the retry policy says.
    assert clock.pauses == [5, 2, 4, 9]


def test_what_a_place_wants_is_bounded_by_the_longest_pause(clock: Clock) -> None:
    _retrier(clock, max_delay=30).call(Calls(*_asking(3600)), deadline=Deadline(1000), api_timeout=10)
    assert clock.pauses == [30]


def test_what_a_place_wants_is_bounded_by_the_limit(clock: Clock) -> None:
    with pytest.raises(TimedOut, match=r"error 1 .*would pass the limit of 20 s"):
        _retrier(clock).call(Calls(*_asking(25)), deadline=Deadline(20), api_timeout=10)
    assert clock.pauses == []


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("1", 1),
        (" 120 ", 120),
        ("0", 0),
        (None, None),
        ("", None),
        ("-1", None),
        ("1.5", None),
        ("soon", None),
        ("²", None),
        ("9" * 400, None),
        ("Fri, 31 Dec 1999 23:59:59 GMT", 0),
    ],
)
def test_the_header_retry_after_is_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    assert parse_retry_after(header) == seconds


def test_a_date_to_come_is_the_time_until_then() -> None:
    asked = parse_retry_after("Fri, 31 Dec 2399 23:59:59 GMT")
    assert asked is not None
    assert asked > 10**9


def test_five_tries_are_the_default_and_the_last_error_is_told(clock: Clock) -> None:
    calls = Calls(*_unavailable(9))
    with pytest.raises(Unavailable, match=r"error 5 \(tried 5 times\)") as raised:
        _retrier(clock).call(calls, deadline=Deadline(1000), api_timeout=10)
    assert len(calls.timeouts) == 5
    # A caller must not retry again: that would multiply the attempts.
    assert not raised.value.retryable


def test_what_is_permanent_is_tried_once(clock: Clock) -> None:
    calls = Calls(NotFound("gone"))
    with pytest.raises(NotFound, match="gone"):
        _retrier(clock).call(calls, deadline=Deadline(1000), api_timeout=10)
    assert len(calls.timeouts) == 1
    assert clock.pauses == []


def test_an_unexpected_error_is_not_caught(clock: Clock) -> None:
    def broken(_timeout: float) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        _retrier(clock).call(broken, deadline=Deadline(1000), api_timeout=10)


def test_a_pause_that_would_pass_the_limit_is_not_begun(clock: Clock) -> None:
    calls = Calls(*_unavailable(9))
    with pytest.raises(TimedOut, match=r"error 3 .*would pass the limit of 5 s"):
        _retrier(clock).call(calls, deadline=Deadline(5), api_timeout=10)
    assert clock.pauses == [1, 2]


def test_a_call_gets_the_smaller_of_its_own_limit_and_what_is_left(clock: Clock) -> None:
    calls = Calls(*_unavailable(2))
    _retrier(clock).call(calls, deadline=Deadline(10.5), api_timeout=10)
    assert calls.timeouts == [10, 9.5, 7.5]


def test_without_time_left_no_call_is_made(clock: Clock) -> None:
    calls = Calls()
    with pytest.raises(TimedOut, match="the target's time limit of 0 s has passed"):
        _retrier(clock).call(calls, deadline=Deadline(0), api_timeout=10)
    assert calls.timeouts == []


def test_a_pause_that_takes_longer_than_planned_keeps_the_last_error(clock: Clock) -> None:
    calls = Calls(*_unavailable(9))
    retrier = _retrier(clock)

    def wait_long(seconds: float) -> bool:
        return clock.wait(seconds + 100)

    retrier.stop.wait = wait_long  # type: ignore[method-assign,assignment]
    with pytest.raises(TimedOut, match=r"\Aerror 1; the target's time limit of 5 s has passed\Z"):
        retrier.call(calls, deadline=Deadline(5), api_timeout=10)


def test_a_run_that_is_ended_does_not_try_again(clock: Clock) -> None:
    retrier = _retrier(clock)
    retrier.stop.set()
    calls = Calls(*_unavailable(3))
    with pytest.raises(Unavailable, match=r"error 1\Z"):
        retrier.call(calls, deadline=Deadline(100), api_timeout=10)
    assert len(calls.timeouts) == 1


def test_ending_the_run_ends_a_pause() -> None:
    retrier = Retrier(RetryPolicy(delay=600, max_delay=600))
    begun = threading.Event()

    def fail(_timeout: float) -> None:
        begun.set()
        raise Unavailable("not now")

    def end() -> None:
        begun.wait(60)
        retrier.stop.set()

    ender = threading.Thread(target=end)
    ender.start()
    with pytest.raises(Unavailable):
        retrier.call(fail, deadline=Deadline(3600), api_timeout=10)
    ender.join()


def test_each_try_that_is_repeated_is_told(clock: Clock) -> None:
    told: list[tuple[int, float, str]] = []
    deadline = Deadline(100, lambda number, pause, error: told.append((number, pause, error.message)))
    _retrier(clock).call(Calls(*_unavailable(2)), deadline=deadline, api_timeout=10)
    assert told == [(1, 1, "error 1"), (2, 2, "error 2")]


@given(st.integers(1, 10**9))
def test_jitter_stays_within_a_fifth_and_the_longest_pause(attempt: int) -> None:
    plain = min(30.0, 2.0 ** min(attempt - 1, 30))
    pause = RetryPolicy().backoff(attempt)
    assert plain * 0.8 <= pause <= min(30.0, plain * 1.2)


@pytest.mark.parametrize(("first", "expected"), [(0.0, [0.0, 0.1, 0.2, 0.4]), (0.05, [0.05, 0.1, 0.2, 0.4])])
def test_pauses_after_conflicts_double_up_to_two_seconds(
    clock: Clock, first: float, expected: list[float]
) -> None:
    pauses = ConflictPauses(_retrier(clock), Deadline(60.0), first=first, cause="another run")
    for _conflict in range(8):
        pauses.wait(Conflict("it changed"))
    assert clock.pauses == pytest.approx([*expected, 0.8, 1.6, 2.0, 2.0])


def test_after_a_conflict_no_pause_passes_the_limit_or_the_end_of_the_run(clock: Clock) -> None:
    retrier = _retrier(clock)
    pauses = ConflictPauses(retrier, Deadline(0.1), first=0.05, cause="another run")
    pauses.wait(Conflict("it changed"))
    with pytest.raises(TimedOut, match=r"^it changed \(another run\)$"):
        pauses.wait(Conflict("it changed"))
    retrier.stop.set()
    pauses = ConflictPauses(retrier, Deadline(60.0), first=0.05, cause="another run")
    with pytest.raises(TimedOut, match=r"^it changed \(another run\)$"):
        pauses.wait(Conflict("it changed"))
    assert clock.pauses == [0.05]
