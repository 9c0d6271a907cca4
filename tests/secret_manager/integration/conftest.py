# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module under test. The fast tests use gRPC, but for those about transports; the nightly ones repeat
each test over REST, and over REST without Google's library.
"""

from __future__ import annotations

import pytest

from tests.secret_manager.integration.flows import CALLS, Flow, started
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.nightly import some
from tests.support.secret_manager import EVERY_TRANSPORT, Module


@pytest.fixture(params=some(EVERY_TRANSPORT))
def module(request: pytest.FixtureRequest, secret_manager: SecretManagerLab) -> Module:
    """The module in this process, against a stand-in for this test only."""
    return Module(secret_manager, request.param)


@pytest.fixture(params=list(CALLS))
def flow(request: pytest.FixtureRequest, module: Module) -> Flow:
    """Each call in turn."""
    return started(request.param, module)
