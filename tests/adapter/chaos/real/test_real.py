# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Random faults with ansible-rulebook, playbooks and RabbitMQ, all real, and all of which are killed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapter.chaos.integration.test_fast import SEED, until_right
from tests.adapter.chaos.invariants import unheard, wrong
from tests.adapter.chaos.kubelet import Kubelet
from tests.adapter.chaos.outages import LEAST, outages
from tests.adapter.chaos.real_parts import Real
from tests.adapter.chaos.story import Story
from tests.adapter.chaos.world import ChaosWorld
from tests.lab.rabbitmq import RabbitMQ, rabbitmq
from tests.support.adapter_events.sentinel import Sentinel

pytestmark = [pytest.mark.real("root", "apt-get", "java"), pytest.mark.alone]


@pytest.fixture
def broker() -> Iterator[RabbitMQ]:
    with rabbitmq() as found:
        yield found


@pytest.mark.nightly
def test_at_the_end_all_is_right(
    world: ChaosWorld, broker: RabbitMQ, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """First only processes are killed, so one event must be enough. Then API and broker stop for minutes.

    The second part has other faults too, and the sentinel repeats events.
    """
    sentinel = Sentinel(broker)
    (tmp_path / "url").write_text(broker.url)
    world.spec = {
        "broker": {
            "type": "rabbitmq",
            "urlFile": str(tmp_path / "url"),
            "topic": sentinel.topic,
            "subscription": "sub",
        },
        "metrics": {"port": 0},
    }
    with (
        Kubelet(world, tmp_path) as kubelet,
        Real(tmp_path, world.config(), broker, sentinel, SEED) as real,
    ):
        story = Story(world, real, kubelet, SEED)
        begun = time.monotonic()
        world.hyperfleet.faults.add(method="PUT", path="*/statuses", delay=0.5)
        story.go_on(30, faults=False, pause=1.0)
        story.calm()
        until_right(story, lambda: unheard(world, story) + real.left(), 60, real.runs)
        first = time.monotonic() - begun
        away = outages(story, real, pause=1.0)
        story.calm()
        story.last()
        right = time.monotonic()
        until_right(story, lambda: wrong(world, story) + real.left() + real.runs(), 90, real.runs)
        right = time.monotonic() - right
        assert min(away.api, away.broker) >= LEAST, away
        assert min(away.answers) > 0, away
        assert real.stop() + real.broken() == [], str(story)
        assert kubelet.running() == []
    with capsys.disabled():
        print(
            f"\nchaos, seed {SEED}: {len(story.did)} steps, {len(story.clusters)} clusters, "
            f"killed {real.killed}, {kubelet.started} programs of Jobs; without faults {first:.0f} s, "
            f"without the API {away.api:.0f} s (500, too late, 409: {away.answers} requests), without the "
            f"broker {away.broker:.0f} s, then right in {right:.0f} s; all {time.monotonic() - begun:.0f} s"
        )
