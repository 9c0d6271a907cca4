# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Outages of minutes: the API is away in three ways, the broker is away as long, and both are for a while."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from tests.integration.adapter_chaos.real import Real
from tests.integration.adapter_chaos.story import Story

__all__ = ["LEAST", "Outages", "outages"]

# Seconds of each.
LEAST = 120.0
_PART = LEAST / 3 + 1.0
# 3 s are more than the adapter waits.
_KINDS: tuple[dict[str, Any], ...] = ({"status": 500}, {"delay": 3.0}, {"status": 409})


@dataclass(frozen=True)
class Outages:
    """How long each was away, in seconds, and how often the API answered wrongly or too late."""

    api: float
    broker: float
    answers: tuple[int, ...]


def outages(story: Story, real: Real, pause: float) -> Outages:
    """Have them, while clusters come, change and go and processes are killed as ever.

    What the sentinel cannot publish it publishes when the broker is back.
    """
    begun = time.monotonic()
    answers: list[int] = []
    broker = 0.0
    for number, kind in enumerate(_KINDS):
        if number == 1:
            story.note("the broker is away")
            broker = time.monotonic()
            real.broker_down()
        story.world.hyperfleet.faults.clear()
        fault = story.world.hyperfleet.faults.add(**kind)
        story.note(f"the API is away: {kind}")
        story.go_on(_PART, faults=True, pause=pause)
        answers.append(fault.hits)
    story.world.hyperfleet.faults.clear()
    api = time.monotonic() - begun
    story.note("the API is back")
    story.go_on(max(0.0, LEAST - (time.monotonic() - broker)), faults=True, pause=pause)
    broker = time.monotonic() - broker
    real.broker_up()
    story.note("the broker is back")
    return Outages(api, broker, tuple(answers))
