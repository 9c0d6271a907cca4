# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Secret Manager returns stale data from a minute ago, except for versions read by number."""

from __future__ import annotations

import itertools
import json
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager import claim
from tests.stand_ins.secret_manager.protos import DISABLED
from tests.support.late import LATE, LATE_SECONDS, Clock
from tests.support.nightly import some
from tests.versions.integration.test_two_runs import MIXES
from tests.versions.integration.world import CLUSTER, PROJECT, SECRET, WAYS, World, document

pytestmark = pytest.mark.parametrize("secret_manager", [LATE], indirect=True)


def _is_right(world: World, versions: int, word: str) -> bool:
    assert len(world.store.states()) == versions
    assert world.placed() == json.loads(document(word))
    return world.is_right()


@pytest.mark.parametrize("way", some(WAYS))
def test_a_rotation_and_the_way_back_are_a_version_each(world: World, way: str) -> None:
    for versions, word in enumerate(["a", "b", "a", "c", "b"], start=1):
        ran = world.put(way, word)
        assert (ran.failure, ran.version) == (None, str(versions))
        assert _is_right(world, versions, word)


@pytest.mark.parametrize("way", some(WAYS))
def test_what_is_right_stays_as_it_is(world: World, way: str) -> None:
    assert world.put(way, "a").changed
    for _again in range(3):
        ran = world.put(way, "a")
        assert (ran.failure, ran.changed, ran.version) == (None, False, "1")
    assert _is_right(world, 1, "a")


def test_a_version_is_restored(world: World) -> None:
    for word in ("a", "b"):
        assert world.put("playbook", word).failure is None
    ran = world.put("playbook", "b", restore_version="1")
    assert (ran.failure, ran.version) == (None, "3")
    assert _is_right(world, 3, "a")


@pytest.mark.parametrize("way", WAYS)
def test_the_newest_version_is_disabled(world: World, way: str) -> None:
    for word in ("a", "b"):
        assert world.put(way, word).failure is None
    _disable(world, 2)
    ran = world.put(way, "a")
    assert (ran.failure, ran.version, ran.said.count("is newer than")) == (None, "1", 0)
    assert world.placed_version() == f"{SECRET}/versions/1"
    assert _is_right(world, 2, "a")
    _disable(world, 1)
    assert world.put(way, "a").version == "3"
    assert _is_right(world, 3, "a")


def test_retention_leaves_the_version_in_use(world: World, clock: Clock) -> None:
    """The list still shows the newest version as enabled, so one older version too many would be removed."""
    for word in ("a", "b"):
        assert world.put("playbook", word).failure is None
    clock.pass_lateness()
    _disable(world, 2)
    assert world.put("playbook", "a", retention={"keep": 1}).failure is None
    assert world.store.states() == ["ENABLED", "DISABLED"]
    assert _is_right(world, 2, "a")


def test_retention_of_a_secret_that_the_list_does_not_know_yet(world: World) -> None:
    ran = world.put("playbook", "a", retention={"keep": 1})
    assert (ran.failure, ran.version) == (None, "1")
    assert _is_right(world, 1, "a")


@pytest.mark.parametrize("disabled", [False, True], ids=["enabled", "disabled"])
def test_a_secret_that_was_just_stored_is_deleted(world: World, disabled: bool) -> None:
    assert world.put("playbook", "a").failure is None
    if disabled:
        _disable(world, 1)
    assert world.store.one(state="absent")["actions"] == ["deleted"]
    assert len(world.manager.store) == 0


def test_a_secret_that_was_just_deleted_is_no_change(world: World, clock: Clock) -> None:
    assert world.put("playbook", "a").failure is None
    clock.pass_lateness()
    assert world.store.one(state="absent")["changed"]
    again = world.store.one(state="absent", diff=True)
    assert (again["changed"], again["actions"], again.get("diff")) == (False, [], None)
    assert world.manager.calls.count("DeleteSecret", "*", "NOT_FOUND") == 1


def test_a_deletion_whose_answer_was_lost_is_a_change(world: World, clock: Clock) -> None:
    assert world.put("playbook", "a").failure is None
    clock.pass_lateness()
    world.manager.faults.add("DeleteSecret", code="UNAVAILABLE", phase="after", times=1)
    assert world.store.one(state="absent")["actions"] == ["deleted"]
    assert world.manager.calls.count("DeleteSecret", "*", "NOT_FOUND") == 1


@pytest.mark.parametrize("word", some(["b", "c"]))
@pytest.mark.parametrize("way", WAYS)
def test_the_secret_is_deleted_and_made_anew(world: World, way: str, word: str) -> None:
    for earlier in ("a", "b"):
        assert world.put(way, earlier).failure is None
    world.manager.store.delete(PROJECT, f"hyperfleet-{CLUSTER}-pull-secret")
    ran = world.put(way, word)
    assert (ran.failure, ran.version) == (None, "1")
    assert world.placed_version() == f"{SECRET}/versions/1"
    assert _is_right(world, 1, word)


@pytest.mark.parametrize("lost", ["UNAVAILABLE", "DEADLINE_EXCEEDED"])
@pytest.mark.parametrize("way", some(WAYS))
def test_an_add_whose_answer_was_lost_is_not_made_twice(world: World, way: str, lost: str) -> None:
    for versions, word in enumerate(["a", "b"], start=1):
        world.manager.faults.add("AddSecretVersion", code=lost, phase="after", times=1)
        assert world.put(way, word).failure is None
        assert _is_right(world, versions, word)


@pytest.mark.parametrize("seed", some(range(10)))
@pytest.mark.parametrize("there", some([True, False]), ids=["update", "first run"])
@pytest.mark.parametrize("words", [("a", "a"), ("a", "b")], ids=["same", "different"])
@pytest.mark.parametrize(("one", "other"), some(MIXES, *MIXES[1:3]))
def test_two_runs_at_once(
    world: World, one: str, other: str, words: tuple[str, str], there: bool, seed: int
) -> None:
    if there:
        assert world.put("playbook", "before").failure is None
    chance = random.Random(f"{one} {other} {words} {there} {seed}")
    for method in ("AccessSecretVersion", "AddSecretVersion", "UpdateSecret"):
        delay = chance.choice([0.001, 0.01, 0.03])
        world.manager.faults.add(method, times=1, skip=chance.randint(0, 3), delay=delay)
    barrier = threading.Barrier(2)

    def run(way: str, word: str) -> str | None:
        barrier.wait(60)
        return world.put(way, word).failure

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(run, (one, other), words)) == [None, None]
    assert len(world.store.states()) == len(set(words)) + there
    assert world.is_right()


def test_an_add_is_not_made_twice_though_the_list_stays_old(
    world: World, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Metadata are fresh and lists are not: a run sees that a claim has ended, but not the claim's version."""
    world.manager.faults.clear()
    world.manager.faults.add("ListSecretVersions", late=LATE_SECONDS)
    world.manager.faults.add("AccessSecretVersion", late=LATE_SECONDS)
    clock.step = 0
    assert world.put("job", "a").failure is None
    for number, (word, _run) in enumerate(itertools.product(["b", "c"], range(2)), start=1):
        # Every claim has ended.
        later = SimpleNamespace(time=lambda seconds=60 * number: time.time() + seconds)
        monkeypatch.setattr(claim, "time", later)
        assert world.put("job", word).failure is None
    assert len(world.store.states()) == 3


def _disable(world: World, number: int) -> None:
    store = world.manager.store
    record = store.find(PROJECT, f"hyperfleet-{CLUSTER}-pull-secret")
    assert record is not None
    store.set_version_state(record, record.versions[number - 1], DISABLED)
