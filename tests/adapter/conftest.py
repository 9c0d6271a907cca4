# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fixtures of the adapter's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapter.world import World
from tests.lab.session import STAND_IN, KubernetesEnv
from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.secret_manager import SecretManagerLab


@pytest.fixture(params=["today", "seed"])
def flavour(request: pytest.FixtureRequest) -> str:
    """Both forms of the API, for tests that request this fixture."""
    return str(request.param)


@pytest.fixture
def server(kubernetes: KubernetesLab) -> KubernetesEnv:
    """The stand-in as tests use any API server."""
    return KubernetesEnv(
        STAND_IN, kubernetes.url, kubernetes.admin_token, kubernetes.viewer_token, lab=kubernetes
    )


@pytest.fixture
def world(
    request: pytest.FixtureRequest,
    server: KubernetesEnv,
    secret_manager: SecretManagerLab,
    tmp_path: Path,
) -> Iterator[World]:
    """New stand-ins for each test."""
    flavour = request.getfixturevalue("flavour") if "flavour" in request.fixturenames else "today"
    with HyperFleetLab(flavour=flavour) as hyperfleet:
        yield World(hyperfleet, server, secret_manager, tmp_path)
        reports = [
            one
            for one in hyperfleet.calls.matching()
            if one.path.endswith("/statuses") and one.method != "GET"
        ]
        # The stand-in refuses the same reports as the real API. The adapter must not send any of those.
        assert [one for one in reports if one.status in (400, 405, 422)] == []
