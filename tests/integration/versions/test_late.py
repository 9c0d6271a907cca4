# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Secret Manager answers what was there a minute ago, but for versions by their number."""

from __future__ import annotations

import itertools
import json
import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager import claim
from tests.exhaustive import some
from tests.integration.versions.test_two_runs import MIXES
from tests.integration.versions.world import CLUSTER, PROJECT, SECRET, WAYS, World, document
from tests.lab.kubernetes import KubernetesLab
from tests.lab.secret_manager import SecretManagerLab
from tests.lab.secret_manager.protos import DISABLED

LATE = 60.0


class Clock:
    """Secret Manager's: it goes on with each call, so that what is late comes without waiting for it."""

    def __init__(self, step: float) -> None:
        self.step = step
        self._now = time.time_ns()

    def __call__(self) -> int:
        return self._now

    def tick(self, *_call: Any) -> None:
        self._now += int(self.step * 1e9)


@pytest.fixture
def clock() -> Clock:
    """Twelve calls are as long as an answer is late."""
    return Clock(LATE / 12)


@pytest.fixture
def world(
    clock: Clock, kubernetes: KubernetesLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    """Whose Secret Manager is late."""
    with SecretManagerLab(clock=clock) as manager:
        record = manager.calls.record

        def tick(*call: str) -> None:
            clock.tick()
            record(*call)

        monkeypatch.setattr(manager.calls, "record", tick)
        manager.faults.add(late=LATE)
        yield World(manager, kubernetes, tmp_path)


def _is_right(world: World, versions: int, word: str) -> bool:
    assert len(world.store.states()) == versions
    assert world.placed() == json.loads(document(word))
    return world.is_right()


@pytest.mark.hardening(6)
@pytest.mark.parametrize("way", WAYS)
def test_a_rotation_and_the_way_back_are_a_version_each(world: World, way: str) -> None:
    for versions, word in enumerate(["a", "b", "a", "c", "b"], start=1):
        ran = world.put(way, word)
        assert (ran.failure, ran.version) == (None, str(versions))
        assert _is_right(world, versions, word)


@pytest.mark.hardening(6)
@pytest.mark.parametrize("way", WAYS)
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
    """The list still says that the newest version is enabled, so that one older version would be too many."""
    for word in ("a", "b"):
        assert world.put("playbook", word).failure is None
    for _call in range(12):
        clock.tick()
    _disable(world, 2)
    assert world.put("playbook", "a", retention={"keep": 1}).failure is None
    assert world.store.states() == ["ENABLED", "DISABLED"]
    assert _is_right(world, 2, "a")


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


@pytest.mark.hardening(6)
@pytest.mark.parametrize("lost", ["UNAVAILABLE", "DEADLINE_EXCEEDED"])
@pytest.mark.parametrize("way", some(WAYS))
def test_an_add_whose_answer_was_lost_is_not_made_twice(world: World, way: str, lost: str) -> None:
    for versions, word in enumerate(["a", "b"], start=1):
        world.manager.faults.add("AddSecretVersion", code=lost, phase="after", times=1)
        assert world.put(way, word).failure is None
        assert _is_right(world, versions, word)


@pytest.mark.hardening(6)
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
        barrier.wait(10)
        return world.put(way, word).failure

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(run, (one, other), words)) == [None, None]
    assert len(world.store.states()) == len(set(words)) + there
    assert world.is_right()


def test_an_add_is_not_made_twice_though_the_list_stays_old(
    world: World, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Metadata are fresh and lists are not: a run sees a claim that is over, and does not see its version."""
    world.manager.faults.clear()
    world.manager.faults.add("ListSecretVersions", late=LATE)
    world.manager.faults.add("AccessSecretVersion", late=LATE)
    clock.step = 0
    assert world.put("job", "a").failure is None
    for number, (word, _run) in enumerate(itertools.product(["b", "c"], range(2)), start=1):
        # Every claim is over.
        later = SimpleNamespace(time=lambda seconds=60 * number: time.time() + seconds)
        monkeypatch.setattr(claim, "time", later)
        assert world.put("job", word).failure is None
    assert len(world.store.states()) == 3


def _disable(world: World, number: int) -> None:
    store = world.manager.store
    record = store.find(PROJECT, f"hyperfleet-{CLUSTER}-pull-secret")
    assert record is not None
    store.set_version_state(record, record.versions[number - 1], DISABLED)
