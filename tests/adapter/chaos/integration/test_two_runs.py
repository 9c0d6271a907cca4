# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Two runs never handle the same cluster at the same time, even if a run is slow or its rulebook is killed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.adapter.chaos.integration.test_fast import SEED
from tests.adapter.chaos.kubelet import Kubelet
from tests.adapter.chaos.parts import Parts
from tests.adapter.chaos.world import ChaosWorld
from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.secret_manager import SecretManagerLab

# Seconds for each of three requests. A run then takes longer than the start timeout of 2 s.
_DELAY = 1.5


@pytest.fixture
def world(
    hyperfleet: HyperFleetLab, kubernetes: KubernetesLab, secret_manager: SecretManagerLab, tmp_path: Path
) -> ChaosWorld:
    found = ChaosWorld(hyperfleet, kubernetes, secret_manager, tmp_path)
    found.spec = {"jobTemplate": {"image": "registry.example.com/job:1", "backoffLimit": 6}}
    return found


@pytest.fixture
def parts(world: ChaosWorld, tmp_path: Path) -> Iterator[Parts]:
    with Kubelet(world, tmp_path), Parts(tmp_path, world.config(), SEED) as found:
        yield found


def until(true: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 40
    while not true():
        assert time.monotonic() < deadline, f"waited 40 s for {what}"
        time.sleep(0.02)


def test_a_killed_rulebooks_run_is_waited_for_by_the_next_rulebook(world: ChaosWorld, parts: Parts) -> None:
    cluster = world.cluster()
    world.hyperfleet.faults.add(delay=_DELAY)
    parts.publish([cluster])
    until(lambda: parts.begun() == 1, "the first run")
    parts.kill_source()
    # The broker redelivers the first event.
    parts.publish([cluster])
    assert parts.ended() == 0, "the run of the killed rulebook is still active"
    until(lambda: parts.begun() == 2, "the next rulebook's run")
    assert parts.broken() == []
    assert parts.ended() >= 1
    world.hyperfleet.faults.clear()
    until(lambda: not parts.left(), "the end of the events")


def test_other_clusters_do_not_wait_for_it(world: ChaosWorld, parts: Parts) -> None:
    """Only the clusters of the killed rulebook's run wait for that run."""
    held, other = world.cluster(), world.cluster()
    world.hyperfleet.faults.add(path=f"*/{held}*", delay=_DELAY)
    parts.publish([held])
    until(lambda: parts.begun() == 1, "the first run")
    parts.kill_source()
    parts.publish([held, other])
    until(lambda: parts.begun() == 2, "the next rulebook's run")
    assert parts.ended() == 0, "the run of the killed rulebook is still active"
    until(lambda: parts.begun() == 3, "the run after it")
    assert parts.broken() == []


def test_a_run_that_takes_long_is_no_run_that_did_not_begin(world: ChaosWorld, parts: Parts) -> None:
    cluster = world.cluster()
    world.hyperfleet.faults.add(delay=_DELAY)
    parts.publish([cluster])
    until(lambda: parts.begun() == 1, "the first run")
    parts.publish([cluster])
    until(lambda: parts.begun() == 2, "the next run")
    assert parts.broken() == []
    assert parts.ended() >= 1
