# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in, and a real server if one is set, give the answers that were recorded from the real API.

HYPERFLEET_CONTRACT_URL (and HYPERFLEET_CONTRACT_TOKEN, a bearer token) name a real server. It must be empty,
and its clusters must require the adapter `pullsecret`.
"""

from __future__ import annotations

import os

import pytest

from tests.hyperfleet_api.story import EXCHANGES, Answer, Exchange, compared, play
from tests.stand_ins.hyperfleet import HyperFleetLab

REAL = os.environ.get("HYPERFLEET_CONTRACT_URL", "")


@pytest.fixture(scope="module", params=["stand-in", *(["real"] if REAL else [])])
def answers(request: pytest.FixtureRequest) -> dict[str, Answer]:
    if request.param == "real":
        token = os.environ.get("HYPERFLEET_CONTRACT_TOKEN")
        return play(REAL, {"Authorization": f"Bearer {token}"} if token else {})
    with HyperFleetLab() as lab:
        return play(lab.url, {})


def test_the_whole_story_is_here() -> None:
    assert len({exchange.name for exchange in EXCHANGES}) == len(EXCHANGES) == 81


@pytest.mark.parametrize("exchange", EXCHANGES, ids=lambda exchange: exchange.name)
def test_exchange(exchange: Exchange, answers: dict[str, Answer]) -> None:
    recorded = Answer(exchange.status, exchange.content_type, compared(exchange.response_body))
    assert answers[exchange.name] == recorded
