# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fixtures: a host of guest clusters on the stand-in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.guests.integration.world import World
from tests.lab.session import STAND_IN
from tests.support.kubernetes.running import api_server
from tests.support.kubernetes.world import Api


@pytest.fixture(scope="session")
def server() -> Iterator[Api]:
    with api_server(STAND_IN) as api:
        yield api


@pytest.fixture(scope="session")
def guest_server() -> Iterator[Api]:
    with api_server(STAND_IN) as api:
        yield api


@pytest.fixture
def guest(guest_server: Api) -> Api:
    """A guest's API server, without the faults and counted calls of the previous test."""
    guest_server.reset()
    return guest_server


@pytest.fixture
def world(server: Api) -> Iterator[World]:
    """A host without guests, and without the faults and counted calls of the previous test."""
    server.reset()
    host = World(server)
    yield host
    host.close()
