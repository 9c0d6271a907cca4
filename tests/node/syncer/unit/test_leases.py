# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Restart slots: never more holders than Leases, even when holders die or are slow."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.api import ApiError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.leases import (
    RestartSlots,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.wire import WireError

DURATION = 60


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Leases:
    """The API server's Leases: a PUT with an old resource version gets a 409."""

    def __init__(self, *names: str) -> None:
        self.version = 1
        self.puts = 0
        self.before_put: Callable[[], object] | None = None
        self.fails: Exception | None = None
        self.asked: list[str] = []
        self.kept: dict[str, Any] = {
            name: {"metadata": {"name": name, "resourceVersion": "1"}, "spec": {}} for name in names
        }

    def call(
        self, method: str, path: str, body: Any = None, content_type: str = "", accept: str = ""
    ) -> dict[str, Any]:
        prefix, _slash, name = path.rpartition("/")
        assert prefix == "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
        self.asked.append(name)
        if isinstance(self.fails, Exception):
            raise self.fails
        if name not in self.kept:
            raise ApiError(404, "NotFound", f'leases "{name}" not found')
        if method == "PUT":
            if self.before_put:
                act, self.before_put = self.before_put, None
                act()
            if body["metadata"]["resourceVersion"] != self.kept[name]["metadata"]["resourceVersion"]:
                raise ApiError(409, "Conflict", "the object has been modified")
            self.put(name, body["spec"])
        return copy.deepcopy(self.kept[name])

    def put(self, name: str, spec: dict[str, Any]) -> None:
        self.puts += 1
        self.version += 1
        metadata = {"name": name, "resourceVersion": str(self.version)}
        self.kept[name] = {"metadata": metadata, "spec": copy.deepcopy(spec)}

    def holders(self) -> list[str]:
        specs: list[Any] = [lease["spec"] for lease in self.kept.values()]
        return sorted(filter(None, (spec.get("holderIdentity") for spec in specs)))


def slots(leases: Leases, node: str, clock: Clock) -> RestartSlots:
    return RestartSlots(leases, "kube-system", tuple(leases.kept), node, clock=clock)  # type: ignore[arg-type]


def test_one_slot_is_held_by_one(clock: Clock) -> None:
    leases = Leases("slot-0")
    one, two = slots(leases, "node-1", clock), slots(leases, "node-2", clock)
    assert one.take()
    assert not two.take()
    one.release()
    assert leases.holders() == []
    assert two.take()
    assert leases.holders() == ["node-2"]
    assert [one.is_held, two.is_held] == [False, True]


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_the_record_is_one_that_others_understand(clock: Clock) -> None:
    leases = Leases("slot-0")
    one = slots(leases, "node-1", clock)
    one.take()
    spec: dict[str, Any] = leases.kept["slot-0"]["spec"]
    assert (spec["holderIdentity"], spec["leaseDurationSeconds"], spec["leaseTransitions"]) == (
        "node-1",
        60,
        1,
    )
    assert spec["acquireTime"] == spec["renewTime"]
    assert spec["renewTime"][10] == "T"
    assert spec["renewTime"].endswith("Z")
    assert len(spec["renewTime"]) == len("2026-01-01T00:00:00.000000Z")


def test_both_saw_it_free_and_one_was_faster(clock: Clock) -> None:
    leases = Leases("slot-0")
    one, two = slots(leases, "node-1", clock), slots(leases, "node-2", clock)
    leases.before_put = two.take
    assert not one.take()
    assert leases.holders() == ["node-2"]
    assert one.trouble == "", "a lost race is no error"


def test_the_next_slot_is_taken(clock: Clock) -> None:
    leases = Leases("slot-0", "slot-1", "slot-2")
    nodes = [slots(leases, f"node-{number}", clock) for number in range(4)]
    assert [node.take() for node in nodes] == [True, True, True, False]
    assert leases.holders() == ["node-0", "node-1", "node-2"]


def test_a_holder_that_renews_keeps_it(clock: Clock) -> None:
    leases = Leases("slot-0")
    one, two = slots(leases, "node-1", clock), slots(leases, "node-2", clock)
    assert one.take()
    for _quarter in range(40):
        assert not two.take()
        clock.now = one.renew_at
        assert one.renew()
    assert one.is_held


def test_a_holder_that_died_is_followed_after_its_time_on_our_clock(clock: Clock) -> None:
    leases = Leases("slot-0")
    one, two = slots(leases, "node-1", clock), slots(leases, "node-2", clock)
    assert one.take()
    clock.now += 10 * DURATION  # two has not read it yet, so it cannot know the record's age
    assert not two.take()
    clock.now += DURATION - 1
    assert not two.take()
    clock.now += 1
    assert two.take()
    assert leases.kept["slot-0"]["spec"]["leaseTransitions"] == 2
    assert not one.is_held, "the former holder must notice"
    assert not one.renew()
    assert leases.holders() == ["node-2"]


def test_the_holders_own_duration_counts(clock: Clock) -> None:
    leases = Leases("slot-0")
    leases.put("slot-0", {"holderIdentity": "node-9", "leaseDurationSeconds": 600, "renewTime": "x"})
    two = slots(leases, "node-2", clock)
    assert not two.take()
    clock.now += 599
    assert not two.take()
    clock.now += 1
    assert two.take()


@pytest.mark.parametrize(
    "ghost",
    [
        {"leaseDurationSeconds": 2**31 - 1, "renewTime": "2026-01-01T00:00:00.000000Z"},
        {"leaseDurationSeconds": 10**30},
        {"leaseDurationSeconds": -1},
        {"leaseDurationSeconds": True},
        {"leaseDurationSeconds": "forever"},
        {"leaseDurationSeconds": 60, "renewTime": "9999-12-31T23:59:59.999999Z"},
        {"leaseDurationSeconds": 60, "renewTime": "yesterday"},
        {"leaseDurationSeconds": 60, "renewTime": {"a": []}},
        {"leaseTransitions": 2**31 - 1},
        {"leaseTransitions": -5},
        {"leaseTransitions": "many"},
        {"leaseTransitions": 10**30},
        {"strategy": "OldestEmulationVersion", "preferredHolder": "node-9"},
    ],
)
def test_a_ghost_keeps_no_slot_for_ever(clock: Clock, ghost: dict[str, Any]) -> None:
    leases = Leases("slot-0")
    leases.put("slot-0", {"holderIdentity": "ghost", **ghost})
    two = slots(leases, "node-2", clock)
    assert not two.take()
    clock.now += 600
    assert two.take()
    spec: dict[str, Any] = leases.kept["slot-0"]["spec"]
    assert spec["holderIdentity"] == "node-2"
    assert spec["leaseDurationSeconds"] == DURATION
    assert 1 <= spec["leaseTransitions"] <= 2**31 - 1, "the API server rejects other values"
    assert spec.keys() == {
        "holderIdentity",
        "leaseDurationSeconds",
        "renewTime",
        "acquireTime",
        "leaseTransitions",
    }
    two.release()
    assert leases.holders() == []


def test_a_label_on_a_ghosts_lease_is_no_sign_of_life(clock: Clock) -> None:
    leases = Leases("slot-0")
    leases.put("slot-0", {"holderIdentity": "ghost", "leaseDurationSeconds": 60, "renewTime": "x"})
    two = slots(leases, "node-2", clock)
    for _minute in range(3):
        leases.put("slot-0", leases.kept["slot-0"]["spec"])
        if two.take():
            break
        clock.now += 59
    assert two.is_held


@pytest.mark.parametrize("answer", [{}, {"metadata": None}, {"metadata": {"name": "other"}}, {"spec": 5}])
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_an_answer_that_is_no_lease(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, answer: dict[str, Any], method: str
) -> None:
    leases = Leases("slot-0")
    one = slots(leases, "node-1", clock)
    call = leases.call

    def lies(asked: str, *args: Any) -> dict[str, Any]:
        found = call(asked, *args)
        return answer if asked == method else found

    monkeypatch.setattr(leases, "call", lies)
    assert not one.take()
    assert "slot-0" in one.trouble
    monkeypatch.undo()
    assert one.take()
    one.release()
    assert leases.holders() == []


def test_a_syncer_that_comes_back_takes_up_what_it_held(clock: Clock) -> None:
    leases = Leases("slot-0")
    assert slots(leases, "node-1", clock).take()
    assert slots(leases, "node-1", clock).take()
    assert leases.kept["slot-0"]["spec"]["leaseTransitions"] == 1


def test_a_holder_that_cannot_renew_gives_up_when_others_may_take_it(clock: Clock) -> None:
    leases = Leases("slot-0")
    one = slots(leases, "node-1", clock)
    assert one.take()
    leases.fails = WireError("no answer")
    clock.now += DURATION / 2
    assert one.renew(), "no other node may take it yet"
    assert one.renew_at > clock.now, "the next renewal must not be due at once"
    clock.now += DURATION / 2
    assert not one.renew()
    assert not one.is_held
    assert one.renew_at > clock.now, "nor for a lost slot"


def test_a_foreign_write_to_a_lease_that_is_held(clock: Clock) -> None:
    """For example a label. The holder is still this node."""
    leases = Leases("slot-0")
    one = slots(leases, "node-1", clock)
    assert one.take()
    leases.put("slot-0", leases.kept["slot-0"]["spec"])
    assert one.renew()
    leases.put("slot-0", {**leases.kept["slot-0"]["spec"], "holderIdentity": "node-2"})
    assert not one.renew()


def test_a_slot_is_released_after_a_foreign_write(clock: Clock) -> None:
    leases = Leases("slot-0")
    one = slots(leases, "node-1", clock)
    assert one.take()
    leases.put("slot-0", leases.kept["slot-0"]["spec"])
    one.release()
    assert leases.holders() == []
    assert not one.is_held


def test_a_slot_of_another_is_not_given_back(clock: Clock) -> None:
    leases = Leases("slot-0")
    one = slots(leases, "node-1", clock)
    assert one.take()
    leases.put("slot-0", {**leases.kept["slot-0"]["spec"], "holderIdentity": "node-2"})
    one.release()
    assert leases.holders() == ["node-2"]


def test_a_slot_that_was_taken_without_our_hearing_of_it(clock: Clock) -> None:
    """The write succeeded, but its answer was lost, so it is sent again."""
    leases = Leases("slot-0", "slot-1")
    one = slots(leases, "node-1", clock)

    def written_already() -> None:
        name = leases.asked[-1]
        leases.put(name, {"holderIdentity": "node-1", "leaseDurationSeconds": 60, "renewTime": "x"})

    leases.before_put = written_already
    assert one.take()
    assert leases.holders() == ["node-1"], "must not take two slots"
    one.release()
    assert leases.holders() == []


def test_a_silent_server_is_not_waited_for_again_and_again(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    leases = Leases("slot-0")
    one = slots(leases, "node-1", clock)
    assert one.take()
    tries = []

    def silent(*asked: Any) -> dict[str, Any]:
        tries.append(asked)
        clock.now += 10
        raise WireError("the server did not answer in time")

    monkeypatch.setattr(leases, "call", silent)
    one.release()
    assert len(tries) == 1
    assert not one.is_held


@pytest.mark.parametrize(
    "error", [ApiError(429, "", "slow down"), ApiError(503, "", "busy"), WireError("no")]
)
def test_a_slot_that_the_server_does_not_take_back_is_given_back_later(
    clock: Clock, error: Exception
) -> None:
    leases = Leases("slot-0")
    one = slots(leases, "node-1", clock)
    assert one.take()
    leases.fails = error
    one.release()
    assert not one.is_held
    assert one.owed_at == clock.now + DURATION / 12
    # Another client adds a label meanwhile.
    leases.put("slot-0", leases.kept["slot-0"]["spec"])
    leases.fails = None
    one.release()
    assert leases.holders() == []
    assert one.owed_at is None


def test_the_server_may_say_when(clock: Clock) -> None:
    leases = Leases("slot-0")
    one = slots(leases, "node-1", clock)
    assert one.take()
    leases.fails = ApiError(429, "", "slow down", 20)
    one.release()
    assert one.owed_at == clock.now + 20


def test_a_slot_that_is_owed_is_not_asked_for_once_others_may_have_it(clock: Clock) -> None:
    leases = Leases("slot-0")
    one, two = slots(leases, "node-1", clock), slots(leases, "node-2", clock)
    assert one.take()
    assert not two.take()
    leases.fails, tries = ApiError(503, "", "busy"), 0
    one.release()
    while one.owed_at is not None:
        clock.now, tries = one.owed_at, tries + 1
        one.release()
    assert 5 <= tries <= 12
    leases.fails = None
    clock.now += DURATION
    assert two.take()
    assert not one.take()
    one.release()
    assert leases.holders() == ["node-2"]


def test_a_slot_that_is_owed_is_taken_before_any_other(clock: Clock) -> None:
    leases = Leases("slot-0", "slot-1", "slot-2")
    one = slots(leases, "node-1", clock)
    assert one.take()
    owed = leases.asked[-1]
    leases.fails = ApiError(503, "", "busy")
    one.release()
    assert not one.take()
    assert leases.asked[-1] == owed, "it may still own this slot"
    leases.fails = None
    assert one.take()
    assert leases.holders() == ["node-1"]
    one.release()
    assert (leases.holders(), one.owed_at) == ([], None)


def test_a_slot_that_is_owed_and_gone_does_not_block_the_others(clock: Clock) -> None:
    leases = Leases("slot-0", "slot-1")
    one = slots(leases, "node-1", clock)
    assert one.take()
    leases.fails = ApiError(503, "", "busy")
    one.release()
    leases.fails = None
    del leases.kept[leases.asked[-1]]
    assert one.take()
    assert leases.holders() == ["node-1"]


def test_a_lease_that_is_missing_is_said(clock: Clock) -> None:
    leases = Leases("slot-0")
    one = RestartSlots(leases, "kube-system", ("slot-9",), "node-1", clock=clock)  # type: ignore[arg-type]
    assert not one.take()
    assert "slot-9" in one.trouble
    assert "not found" in one.trouble


def test_without_slots_there_is_no_budget(clock: Clock) -> None:
    leases = Leases()
    one = slots(leases, "node-1", clock)
    assert one.take()
    assert one.renew()
    assert one.renew_at > clock.now
    assert one.is_held
    one.release()
    assert one.is_held
    assert leases.puts == 0


def test_a_look_asks_for_a_few_slots_only(clock: Clock) -> None:
    leases = Leases(*(f"slot-{number}" for number in range(100)))
    for number in range(100):
        leases.put(f"slot-{number}", {"holderIdentity": "node-9", "leaseDurationSeconds": 60})
    one = slots(leases, "node-1", clock)
    for _look in range(40):
        assert not one.take()
    assert len(leases.asked) == 120
    assert len(set(leases.asked)) == 100, "every Lease must be tried"


def test_many_nodes_in_any_order_never_exceed_the_budget(clock: Clock) -> None:
    """300 steps of 12 nodes and 3 slots. A holder works, may die, or may be slow."""
    import random

    chance = random.Random(4)
    leases = Leases("a", "b", "c")
    nodes = {f"node-{number}": slots(leases, f"node-{number}", clock) for number in range(12)}
    most = 0
    for _step in range(300):
        name, node = chance.choice(list(nodes.items()))
        clock.now += chance.choice([0, 1, 5, 20])
        if chance.random() < 0.3:
            other = chance.choice([slot for key, slot in nodes.items() if key != name])
            leases.before_put = other.take
        if not node.is_held:
            node.take()
        elif chance.random() < 0.4:
            node.release()
        elif chance.random() < 0.6:
            node.renew()
        believing = [key for key, slot in nodes.items() if slot.is_held]
        most = max(most, len(believing))
        assert len(believing) <= 3
    assert most == 3
