# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Seed 003's timeline on real parts, with the rights that docs/adapter.md names; no step by hand."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lab.pubsub import pubsub
from tests.lab.rabbitmq import rabbitmq

if TYPE_CHECKING:
    from tests.integration.adapter_story.world import World
    from tests.lab.nodes.cluster import ClusterLab

pytestmark = pytest.mark.real("nodes", "go", "java", "apt-get")

TOPIC = "hyperfleet-clusters"


@pytest.fixture(scope="module")
def lab() -> Iterator[ClusterLab]:
    """A cluster of one node: here it is the management cluster."""
    from tests.lab.nodes.cluster import cluster_lab

    with cluster_lab(1) as found:
        yield found


@pytest.fixture
def over_rabbitmq(lab: ClusterLab, tmp_path: Path) -> Iterator[World]:
    from tests.integration.adapter_story.world import World

    with rabbitmq() as broker:
        address = tmp_path / "address"
        address.write_text(broker.url)
        receiving = {"type": "rabbitmq", "urlFile": str(address), "topic": TOPIC, "subscription": "pullsecret"}
        sending = {"type": "rabbitmq", "url_file": str(address), "topic": TOPIC}
        with World(lab, tmp_path, receiving, sending).stand() as world:
            yield world


def test_the_seeds_timeline_and_then_rotation_and_deletion(
    over_rabbitmq: World, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.integration.adapter_story.timeline import table, timeline
    from tests.integration.adapter_story.world import document

    world = over_rabbitmq
    with world.rulebook():
        published = world.publish()
        world.until(1, Available="True", Applied="True", Health="True", Finalized="False")
        steps = timeline(world, published, time.time())
        with capsys.disabled():
            print("", *table(steps), sep="\n")
        assert steps == sorted(steps, key=lambda step: step.at)
        assert world.versions() == [document("one")]
