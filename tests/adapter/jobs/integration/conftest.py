# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fixtures: an API server behind a fault-injecting proxy, and a namespace for the adapter's Jobs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.adapter_jobs.world import World
from tests.support.kubernetes.running import SERVERS, api_server
from tests.support.kubernetes.world import Api


@pytest.fixture(scope="session", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[Api]:
    """One API server for all tests: the stand-in, or the real one when the real tests run."""
    with api_server(request.param) as api:
        yield api


@pytest.fixture
def world(server: Api) -> Iterator[World]:
    """A namespace for each test, without the faults, hooks and counted calls of the previous test."""
    server.reset()
    name = server.namespace()
    # The real Job controller cannot create pods without it.
    server.create(name, "serviceaccounts", {"metadata": {"name": "pullsecret-adapter-job"}})
    yield World(server, name)
    server.request("DELETE", f"/api/v1/namespaces/{name}")
