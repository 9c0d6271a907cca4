# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fixtures of the workflow tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.secret_manager.lab import SecretManagerLab
from tests.support.kubernetes.running import SERVERS, api_server
from tests.support.kubernetes.world import Api
from tests.support.processes import Ansible
from tests.support.provision import World


@pytest.fixture(scope="session", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[Api]:
    """The management cluster's API server for the whole test run: a stand-in or a real one."""
    with api_server(request.param) as api:
        yield api


@pytest.fixture
def world(
    server: Api,
    secret_manager: SecretManagerLab,
    hyperfleet: HyperFleetLab,
    ansible: Ansible,
    tmp_path: Path,
) -> Iterator[World]:
    """A Secret Manager, a HyperFleet API and namespaces for this test only."""
    server.reset()
    world = World(server, secret_manager, hyperfleet, ansible, tmp_path)
    yield world
    server.reset()
    for namespace in world.namespaces:
        server.request("DELETE", f"/api/v1/namespaces/{namespace}")
