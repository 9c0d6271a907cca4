# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Two runs never handle the same cluster at the same time, even if a run is slow or its rulebook is killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapter.chaos.integration.test_fast import SEED
from tests.adapter.chaos.kubelet import Kubelet
from tests.adapter.chaos.parts import Parts
from tests.adapter.chaos.world import ChaosWorld
from tests.lab.supervisor import wait_until

# Seconds for each of three requests. A run then takes longer than the start timeout of 2 s.
_DELAY = 1.5
# Seconds. A run with three such requests is still active when the next rulebook's first run begins.
_LONG_DELAY = 5.0


@pytest.fixture
def parts(world: ChaosWorld, tmp_path: Path) -> Iterator[Parts]:
    config = world.config(hyperfleetAPI={"url": world.hyperfleet.url, "timeout": "60s"})
    with Kubelet(world, tmp_path), Parts(tmp_path, config, SEED) as found:
        yield found


# ``test_a_run_whose_rulebook_was_killed_leaves_no_ansible_playbook`` is quicker.
@pytest.mark.nightly
def test_a_killed_rulebooks_run_is_waited_for_by_the_next_rulebook(world: ChaosWorld, parts: Parts) -> None:
    cluster = world.cluster()
    world.hyperfleet.faults.add(delay=_DELAY)
    parts.publish([cluster])
    wait_until(lambda: parts.begun() == 1, "the first run")
    parts.kill_source()
    # The broker redelivers the first event.
    parts.publish([cluster])
    wait_until(lambda: parts.begun() == 2, "the next rulebook's run")
    assert parts.broken() == []
    assert parts.ended() >= 1
    world.hyperfleet.faults.clear()
    wait_until(lambda: not parts.left(), "the end of the events")


@pytest.mark.nightly
def test_other_clusters_do_not_wait_for_it(world: ChaosWorld, parts: Parts) -> None:
    """Only the clusters of the killed rulebook's run wait for that run."""
    held, other = world.cluster(), world.cluster()
    world.hyperfleet.faults.add(path=f"*/{held}*", delay=_LONG_DELAY)
    parts.publish([held])
    wait_until(lambda: parts.begun() == 1, "the first run")
    parts.kill_source()
    parts.publish([held, other])
    wait_until(lambda: parts.begun() == 2, "the next rulebook's run")
    assert parts.ended() == 0, "the run of the killed rulebook is still active"
    world.hyperfleet.faults.clear()
    wait_until(lambda: not parts.left(), "the end of the events")
    assert parts.begun() >= 3
    assert parts.broken() == []


@pytest.mark.nightly
def test_a_run_that_takes_long_is_no_run_that_did_not_begin(world: ChaosWorld, parts: Parts) -> None:
    cluster = world.cluster()
    world.hyperfleet.faults.add(delay=_DELAY)
    parts.publish([cluster])
    wait_until(lambda: parts.begun() == 1, "the first run")
    parts.publish([cluster])
    wait_until(lambda: parts.begun() == 2, "the next run")
    assert parts.broken() == []
    assert parts.ended() >= 1
