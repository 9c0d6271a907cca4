# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The suite runs against the stand-in, or against the real project that SECRET_MANAGER_CONTRACT_PROJECT
names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.secret_manager.contract.support import (
    REAL_PROJECT,
    TRANSPORTS,
    Client,
    Workspace,
    lab_client,
    real_client,
)
from tests.stand_ins.secret_manager import SecretManagerLab

PROJECT = REAL_PROJECT or "customer-prod-12345"


@pytest.fixture(scope="session")
def shared_lab() -> Iterator[SecretManagerLab | None]:
    """One stand-in for all tests; None for a real project."""
    if REAL_PROJECT:
        yield None
        return
    with SecretManagerLab() as lab:
        yield lab


@pytest.fixture
def lab(shared_lab: SecretManagerLab | None) -> Iterator[SecretManagerLab]:
    """The stand-in itself, for tests of its own features; emptied afterwards."""
    if shared_lab is None:
        pytest.skip("a real project has no fault table")
    yield shared_lab
    shared_lab.reset()
    shared_lab.store.reset()


@pytest.fixture(scope="session")
def make_client(shared_lab: SecretManagerLab | None) -> Callable[[str], Client]:
    """Makes a new client for a transport."""
    if shared_lab is None:
        return real_client
    return lambda transport: lab_client(transport, shared_lab.grpc, shared_lab.rest)


@pytest.fixture(scope="session")
def clients(make_client: Callable[[str], Client]) -> dict[str, Client]:
    return {transport: make_client(transport) for transport in TRANSPORTS}


@pytest.fixture(params=TRANSPORTS)
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def work(clients: dict[str, Client], transport: str) -> Iterator[Workspace]:
    workspace = Workspace(clients[transport], PROJECT)
    yield workspace
    workspace.clean()
