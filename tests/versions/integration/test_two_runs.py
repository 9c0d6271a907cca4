# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Two runs with different pull secrets: the overtaken run does not restore the older version."""

from __future__ import annotations

import itertools
import random
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.client import (
    KubernetesClient,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.provision import place
from tests.support.late import at_once_and_late
from tests.support.nightly import some
from tests.versions.integration.world import SECRET, WAYS, World, meanwhile

MIXES = list(itertools.combinations_with_replacement(WAYS, 2))
# The call of the overtaken run before which the other run does all of its work.
READ, WRITE = "get", "write"


@at_once_and_late(fast=False)
@pytest.mark.parametrize(
    ("call", "there"),
    some([(READ, False), (READ, True), (WRITE, False), (WRITE, True)], (READ, False), (WRITE, True)),
)
@pytest.mark.parametrize(
    ("overtaken", "other"), some(itertools.product(WAYS, WAYS), *zip(WAYS, [*WAYS[1:], WAYS[0]], strict=True))
)
def test_a_run_that_is_overtaken_leaves_the_newer_version(
    world: World, monkeypatch: pytest.MonkeyPatch, overtaken: str, other: str, call: str, there: bool
) -> None:
    if there:
        assert world.put("playbook", "before").failure is None
    write = "patch" if there else "create"
    call = write if call == WRITE else call
    newers = meanwhile(monkeypatch, KubernetesClient, call, lambda: world.put(other, "newer"))
    older = world.put(overtaken, "older")
    (newer,) = newers
    last = 2 + there
    assert (newer.failure, older.failure) == (None, None)
    assert world.store.count("AddSecretVersion") == last
    assert world.placed_version() == f"{SECRET}/versions/{last}"
    assert world.is_right()
    assert (newer.version, older.version) == (str(last), str(last))
    newest = rf"(?i)version {last} of .*\bis newer than version {last - 1} of this run"
    assert re.search(newest, older.said)
    assert "is newer than" not in newer.said
    # Nothing is left to do for another run.
    assert not world.put(other, "newer").changed


@pytest.mark.parametrize("there", [False, True], ids=["first run", "update"])
@pytest.mark.parametrize("seed", some(range(50)))
@pytest.mark.parametrize("ways", MIXES, ids="-".join)
def test_two_runs_at_once_end_with_the_newest_version(
    world: World, ways: tuple[str, str], seed: int, there: bool
) -> None:
    if there:
        assert world.put("playbook", "before").failure is None
    _delay(world, random.Random(f"{ways} {seed} {there}"))
    barrier = threading.Barrier(2)

    def run(way: str, word: str) -> str | None:
        barrier.wait(60)
        return world.put(way, word).failure

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(run, ways, ("one", "two"))) == [None, None]
    assert world.store.count("AddSecretVersion") == 2 + there
    assert world.is_right()


@at_once_and_late()
@pytest.mark.parametrize("way", WAYS)
def test_a_run_whose_version_was_retired_meanwhile_leaves_the_newer_one(
    world: World, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    newers = meanwhile(
        monkeypatch, place, "Run", lambda: world.put("playbook", "newer", retention={"keep": 1})
    )
    older = world.put(way, "older")
    assert [newer.failure for newer in newers] == [None]
    assert older.failure is None
    assert world.store.states() == ["DISABLED", "ENABLED"]
    assert world.is_right()
    assert (older.version, older.changed) == ("2", True)


def _delay(world: World, chance: random.Random) -> None:
    """Delay some calls of both runs at random, so that their order differs in each round."""
    for _rule in range(3):
        method = chance.choice(["AccessSecretVersion", "AddSecretVersion", "UpdateSecret", "GetSecret"])
        skip, delay = chance.randint(0, 3), chance.choice([0.001, 0.01, 0.03])
        world.manager.faults.add(method, times=1, skip=skip, delay=delay)
    for verb in ("get", "create", "patch"):
        skip, delay = chance.randint(0, 1), chance.choice([0.002, 0.02, 0.06])
        world.kubernetes.faults.add(verb=verb, path="*/secrets*", skip=skip, delay=delay)
