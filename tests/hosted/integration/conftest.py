# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fixtures: a management cluster and a hosted cluster, each behind a fault-injecting proxy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.hosted.integration.world import World
from tests.support.kubernetes.running import SERVERS, api_server
from tests.support.kubernetes.world import Api


@pytest.fixture(scope="session", params=SERVERS)
def servers(request: pytest.FixtureRequest) -> Iterator[tuple[Api, Api]]:
    """Two API servers: two stand-ins, or two connections to the real one when the real tests run."""
    with ExitStack() as stack:
        yield stack.enter_context(api_server(request.param)), stack.enter_context(api_server(request.param))


@pytest.fixture
def world(servers: tuple[Api, Api]) -> Iterator[World]:
    """A hosted cluster for this test only."""
    made = World(*servers)
    made.reset()
    yield made
    made.reset()
    made.close()
