# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Outages of minutes: the broker is away, then the API as well; the broker comes back, and the API does."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from tests.adapter.chaos.real_parts import Real
from tests.adapter.chaos.story import Story

__all__ = ["LEAST", "Outages", "outages"]

# Seconds of each.
LEAST = 120.0
# Of these without the broker, while the API is there.
_BEFORE = 65.0
# What the API answers, and for how long; 3 s are more than the adapter waits.
_KINDS: tuple[tuple[dict[str, Any], float], ...] = (
    ({"status": 500}, LEAST - _BEFORE + 15.0),
    ({"delay": 3.0}, 25.0),
    ({"status": 409}, 25.0),
)
# Seconds in which the adapter has to ask at all.
_ASKED = 120.0


@dataclass(frozen=True)
class Outages:
    """How long each was away, in seconds, and how many requests of each kind the API failed."""

    api: float
    broker: float
    answers: tuple[int, ...]


def outages(story: Story, real: Real, pause: float) -> Outages:
    """Have them, while clusters come, change and go and processes are killed as ever.

    What the sentinel cannot publish it publishes when the broker is back.
    """
    story.note("the broker is away")
    begun = time.monotonic()
    real.broker_down()
    story.go_on(_BEFORE, faults=True, pause=pause)
    since, broker = time.monotonic(), 0.0
    answers: list[int] = []
    for kind, seconds in _KINDS:
        story.world.hyperfleet.faults.clear()
        fault = story.world.hyperfleet.faults.add(**kind)
        story.note(f"the API is away: {kind}")
        end = time.monotonic() + seconds
        while time.monotonic() < end or (not fault.hits and time.monotonic() < end + _ASKED):
            story.go_on(3.0, faults=True, pause=pause)
            if not broker and time.monotonic() - begun >= LEAST:
                broker = time.monotonic() - begun
                real.broker_up()
                story.note("the broker is back")
        answers.append(fault.hits)
    story.world.hyperfleet.faults.clear()
    story.note("the API is back")
    return Outages(time.monotonic() - since, broker, tuple(answers))
