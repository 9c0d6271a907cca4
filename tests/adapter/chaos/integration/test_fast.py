# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Random faults without real parts: event source, runs and Jobs are processes, everything else is a stand-in.

A failure prints the random seed: ``CHAOS_SEED=7 pytest …`` repeats the same steps.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.adapter.chaos.invariants import unheard, wrong
from tests.adapter.chaos.kubelet import Kubelet
from tests.adapter.chaos.parts import Parts
from tests.adapter.chaos.story import Story
from tests.adapter.chaos.world import ChaosWorld

SEED = int(os.environ.get("CHAOS_SEED") or random.randrange(10**6))


def until_right(
    story: Story,
    look: Callable[[], list[str]],
    seconds: float,
    more: Callable[[], list[str]] = list,
) -> None:
    """Wait until ``look`` finds nothing wrong; ``more`` adds details to the failure message."""
    deadline = time.monotonic() + seconds
    while found := look():
        if time.monotonic() >= deadline:
            raise AssertionError("\n".join([*found, *more(), str(story), *story.kubelet.trouble[-3:]]))
        time.sleep(0.1)


@pytest.mark.nightly
def test_kills_alone_lose_no_event(world: ChaosWorld, tmp_path: Path) -> None:
    """No sentinel repeats the events: one event for each change must be enough."""
    with Kubelet(world, tmp_path) as kubelet, Parts(tmp_path, world.config(), SEED) as parts:
        story = Story(world, parts, kubelet, SEED)
        # Slow enough that runs are killed in the middle.
        world.hyperfleet.faults.add(delay=0.2)
        story.go_on(5, faults=False, pause=0.12)
        story.calm()
        assert parts.broken() == [], str(story)
        until_right(story, lambda: unheard(world, story) + parts.left(), 180)
        # No more events: only requeued clusters bring each change to its end.
        story.last()
        until_right(story, lambda: wrong(world, story) + parts.left() + parts.runs(), 180)
        assert parts.stop() + parts.broken() == [], str(story)
        assert kubelet.running() == []


@pytest.mark.nightly
def test_at_the_end_all_is_right_whatever_failed(world: ChaosWorld, tmp_path: Path) -> None:
    """All APIs have faults, and a sentinel publishes the clusters that are not reconciled."""
    with Kubelet(world, tmp_path) as kubelet, Parts(tmp_path, world.config(), SEED + 1) as parts:
        story = Story(world, parts, kubelet, SEED + 1)
        story.go_on(5, faults=True, pause=0.12)
        story.calm()
        assert parts.broken() == [], str(story)
        until_right(story, parts.left, 180)
        story.last()
        until_right(story, lambda: wrong(world, story) + parts.left() + parts.runs(), 180)
        assert parts.stop() + parts.broken() == [], str(story)
        assert kubelet.running() == []
