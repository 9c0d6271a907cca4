# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in, and a real server if one is set, give the answers that were recorded from the real API.

HYPERFLEET_CONTRACT_URL (and HYPERFLEET_CONTRACT_TOKEN, a bearer token) name a real server. It must be empty,
and its clusters must require the adapter `pullsecret`.
"""

from __future__ import annotations

import os
import time

import pytest

from tests.hyperfleet_api.story import EXCHANGES, Answer, Exchange, Player, instants
from tests.stand_ins.hyperfleet import HyperFleetLab, ScriptedClock

REAL = os.environ.get("HYPERFLEET_CONTRACT_URL", "")
START = instants(EXCHANGES[1])[0]


def _on_the_stand_in() -> dict[str, Answer]:
    clock = ScriptedClock(START)
    with HyperFleetLab(clock=clock) as lab:
        return Player(lab.url, clock=clock).play()


def _on_the_real_server() -> dict[str, Answer]:
    token = os.environ.get("HYPERFLEET_CONTRACT_TOKEN")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return Player(REAL, shift=int(time.time()) - START // 1_000_000_000, headers=headers).play()


@pytest.fixture(scope="module", params=["stand-in", *(["real"] if REAL else [])])
def answers(request: pytest.FixtureRequest) -> dict[str, Answer]:
    return _on_the_real_server() if request.param == "real" else _on_the_stand_in()


def test_the_whole_story_is_here() -> None:
    assert len({exchange.name for exchange in EXCHANGES}) == len(EXCHANGES) == 82


@pytest.mark.parametrize("exchange", EXCHANGES, ids=lambda exchange: exchange.name)
def test_exchange(exchange: Exchange, answers: dict[str, Answer]) -> None:
    recorded = Answer(exchange.status, exchange.content_type, exchange.response_body)
    assert answers[exchange.name] == recorded


def test_the_shifted_comparison_holds_for_the_stand_in_as_well() -> None:
    """Try the normalisation for real servers with a stand-in that uses the system clock."""
    with HyperFleetLab() as lab:
        played = Player(lab.url, shift=int(time.time()) - START // 1_000_000_000).play()
    recorded = {e.name: Answer(e.status, e.content_type, e.response_body) for e in EXCHANGES}
    assert played == recorded
