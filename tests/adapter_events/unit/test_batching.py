# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Events are collected into batches, and clusters are requeued; the tests control the clock."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.batching import BatchQueue
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.requeue import Requeue


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def make(size: int = 10, window: float = 1.0, tries: int = 3) -> tuple[BatchQueue, Clock]:
    clock = Clock()
    return BatchQueue(size, window, tries, clock), clock


def test_a_batch_is_ready_after_its_window_from_the_first_event() -> None:
    collecting, clock = make()
    assert collecting.ready() is None
    collecting.add("cls-1", 1)
    clock.now += 0.75
    collecting.add("cls-2", 2)
    assert collecting.ready() == 0.25
    clock.now += 0.25
    assert collecting.ready() == 0.0
    batch = collecting.take()
    assert (batch.ids, batch.tokens) == (["cls-1", "cls-2"], [1, 2])
    assert collecting.done() == [1, 2]


def test_a_full_batch_does_not_wait_and_the_oldest_events_go_first() -> None:
    collecting, clock = make(size=2)
    for number in range(5):
        collecting.add(f"cls-{number}", number)
        clock.now += 0.01
    taken = []
    while collecting.ready() == 0.0:
        taken.append(collecting.take().ids)
        collecting.done()
    assert taken == [["cls-0", "cls-1"], ["cls-2", "cls-3"]]
    clock.now += 1
    assert collecting.take().ids == ["cls-4"]


def test_of_a_waiting_clusters_messages_the_newest_is_kept() -> None:
    collecting, clock = make()
    assert collecting.add("cls-1", 1, "trace-1") == []
    assert collecting.add("cls-1", 2, "trace-2") == [1]
    assert collecting.add("cls-1", 3) == [2]
    clock.now += 1
    batch = collecting.take()
    assert (batch.tokens, batch.traceparents) == ([3], {"cls-1": "trace-2"})


def test_an_event_of_a_cluster_in_the_run_waits_for_the_next_one() -> None:
    collecting, clock = make(window=0)
    collecting.add("cls-1", 1)
    collecting.take()
    # The message of the active run is not acknowledged in favour of the later one.
    assert collecting.add("cls-1", 2) == []
    clock.now += 10
    assert collecting.ready() is None
    assert collecting.done() == [1]
    assert collecting.ready() == 0.0
    assert collecting.take().tokens == [2]


def test_a_run_that_died_is_tried_again_with_growing_pauses_and_then_given_up() -> None:
    collecting, clock = make(window=0, tries=4)
    collecting.add("cls-1", 1)
    pauses = []
    for _try in range(3):
        assert collecting.take().ids == ["cls-1"]
        assert collecting.requeue_failed() == ([], [])
        ready = collecting.ready()
        assert ready is not None
        pauses.append(ready)
        clock.now += ready
    assert pauses == [1.0, 2.0, 4.0]
    collecting.take()
    assert collecting.requeue_failed() == ([1], ["cls-1"])
    assert collecting.ready() is None
    # The next event starts with a fresh count of tries.
    collecting.add("cls-1", 2)
    collecting.take()
    assert collecting.requeue_failed() == ([], [])


def test_clusters_that_a_stopped_run_did_not_begin_wait_again() -> None:
    collecting, clock = make(window=0, tries=2)
    collecting.add("cls-1", 1)
    collecting.add("cls-2", 2)
    assert collecting.take().ids == ["cls-1", "cls-2"]
    assert collecting.requeue_failed({"cls-2"}) == ([1], [])
    assert collecting.unacknowledged() == [2]
    clock.now += 1
    assert collecting.take().ids == ["cls-2"]
    assert collecting.requeue_failed({"cls-2"}) == ([2], ["cls-2"])
    assert collecting.unacknowledged() == []


def test_while_one_pauses_others_do_not_wait_for_it() -> None:
    collecting, _clock = make(window=0)
    collecting.add("cls-1", 1)
    collecting.take()
    collecting.requeue_failed()
    collecting.add("cls-2", 2)
    assert collecting.ready() == 0.0
    assert collecting.take().ids == ["cls-2"]


def test_an_event_that_came_while_the_run_died_stands_for_the_one_before() -> None:
    collecting, clock = make(window=0)
    collecting.add("cls-1", 1, "trace-1")
    collecting.take()
    collecting.add("cls-1", 2, "trace-2")
    assert collecting.requeue_failed() == ([1], [])
    # The pause after the failed run still applies.
    assert collecting.ready() == 1.0
    clock.now += 1
    batch = collecting.take()
    assert (batch.tokens, batch.traceparents) == ([2], {"cls-1": "trace-2"})


def test_a_cluster_in_a_run_of_another_process_waits_for_it() -> None:
    collecting, _clock = make(window=0)
    collecting.add("cls-1", 1)
    assert collecting.ready(["cls-1"]) is None
    collecting.add("cls-2", 2)
    assert collecting.ready(["cls-1"]) == 0.0
    assert collecting.take(["cls-1"]).ids == ["cls-2"]
    collecting.done()
    assert collecting.take().ids == ["cls-1"]


class Anything(RuleBasedStateMachine):
    """In any order of events and runs, no message is lost or acknowledged twice.

    The last message of a cluster is acknowledged only when its run has ended.
    """

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.collecting = BatchQueue(3, 1.0, 2, self.clock)
        self.given = 0
        self.of: dict[int, str] = {}
        self.acknowledged: set[int] = set()
        self.out: list[str] | None = None

    def told(self, tokens: list[Any], *, ended: bool) -> None:
        for token in tokens:
            assert token not in self.acknowledged
            self.acknowledged.add(token)
        held = {self.of[token] for token in self.collecting.unacknowledged()}
        for token in tokens:
            # A message that is acknowledged before its run ends has a later message of the same cluster.
            assert ended or self.of[token] in held

    @rule(cluster=st.integers(0, 5), silent=st.booleans())
    def event(self, cluster: int, silent: bool) -> None:
        name = f"cls-{cluster}"
        if silent:
            self.told(self.collecting.add(name), ended=False)
            return
        self.given += 1
        self.of[self.given] = name
        self.told(self.collecting.add(name, self.given), ended=False)

    @rule(seconds=st.sampled_from([0.1, 1.0, 40.0]))
    def time(self, seconds: float) -> None:
        self.clock.now += seconds

    @precondition(lambda self: self.out is None)
    @rule()
    def take(self) -> None:
        if self.collecting.ready() == 0.0:
            ids = self.collecting.take().ids
            assert 0 < len(ids) == len(set(ids)) <= 3
            self.out = ids

    @precondition(lambda self: self.out is not None)
    @rule()
    def done(self) -> None:
        self.out = None
        self.told(self.collecting.done(), ended=True)

    @precondition(lambda self: self.out is not None)
    @rule()
    def requeue_failed(self) -> None:
        self.out = None
        tokens, given_up = self.collecting.requeue_failed()
        ended = [token for token in tokens if self.of[token] in given_up]
        self.told(ended, ended=True)
        self.told([token for token in tokens if token not in ended], ended=False)

    @invariant()
    def nothing_is_lost(self) -> None:
        held = self.collecting.unacknowledged()
        assert len(held) == len(set(held))
        assert set(held) | self.acknowledged == set(self.of)
        assert not set(held) & self.acknowledged

    def teardown(self) -> None:
        """At the end every message is acknowledged."""
        for _run in range(100):
            if self.out is None:
                self.clock.now += 60
                if self.collecting.ready() is None:
                    break
                self.take()
            self.done()
        assert self.acknowledged == set(self.of)


TestAnything = Anything.TestCase
TestAnything.settings = settings(max_examples=25, stateful_step_count=40, deadline=None)


def row(**changed: Any) -> dict[str, Any]:
    return {
        "id": "cls-1",
        "generation": 1,
        "state": "running",
        "reason": "JobRunning",
        "again": 2.0,
        **changed,
    }


def pauses(looking: Requeue, clock: Clock, count: int, **changed: Any) -> list[float]:
    """The pauses in seconds before each of ``count`` looks with the same result."""
    found = []
    for _look in range(count):
        seconds = looking.seconds_until_due()
        assert seconds is not None
        found.append(seconds)
        clock.now += seconds
        assert looking.due() == ["cls-1"]
        assert looking.seconds_until_due() is None
        looking.observe(row(**changed))
    return found


def test_looks_that_find_the_same_have_pauses_that_double_up_to_a_minute() -> None:
    clock = Clock()
    again = Requeue(clock=clock)
    again.observe(row())
    assert pauses(again, clock, 8) == [2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]


def test_a_new_state_or_an_event_restarts_the_pauses() -> None:
    clock = Clock()
    again = Requeue(clock=clock)
    again.observe(row())
    assert pauses(again, clock, 3) == [2.0, 4.0, 8.0]
    clock.now += 16
    again.due()
    again.observe(row(reason="ImagePullFailed", again=3.0))
    assert again.seconds_until_due() == 3.0
    assert pauses(again, clock, 2, reason="ImagePullFailed", again=3.0) == [3.0, 6.0]
    again.forget("cls-1")
    assert again.seconds_until_due() is None
    again.observe(row(reason="ImagePullFailed", again=3.0))
    assert again.seconds_until_due() == 3.0


def test_a_finished_cluster_is_not_requeued() -> None:
    clock = Clock()
    again = Requeue(clock=clock)
    again.observe(row())
    again.observe(row(again=None))
    assert again.seconds_until_due() is None
    for wrong in (True, "soon", float("nan"), -1, [2]):
        again.observe(row(again=wrong))
        assert again.seconds_until_due() is None, wrong
    again.observe({"again": 1})
    assert len(again) == 0
    again.observe(row(again=10**6))
    assert again.seconds_until_due() == 60.0
