# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Outages of minutes: first of the broker, then of the API as well. The broker comes back first."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from tests.adapter.chaos.real_parts import Real
from tests.adapter.chaos.story import Story

__all__ = ["LEAST", "Outages", "outages"]

# The least seconds of each outage.
LEAST = 120.0
# Seconds of the broker's outage before the API's begins.
_BEFORE = 65.0
# The API's faults and their seconds; a delay of 3 s exceeds the adapter's timeout.
_KINDS: tuple[tuple[dict[str, Any], float], ...] = (
    ({"status": 500}, LEAST - _BEFORE + 15.0),
    ({"delay": 3.0}, 25.0),
    ({"status": 409}, 25.0),
)
# Seconds in which the adapter must send at least one request.
_ASKED = 120.0


@dataclass(frozen=True)
class Outages:
    """The seconds of each outage, and how many requests each of the API's faults affected."""

    api: float
    broker: float
    answers: tuple[int, ...]


def outages(story: Story, real: Real, pause: float) -> Outages:
    """Stop the broker and the API while the story goes on.

    The sentinel publishes the waiting events when the broker is back.
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
