# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fixtures: an API server behind a fault-injecting proxy, and the task that runs against it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import (
    k8s_pull_secret,
)
from tests.support.kubernetes.running import SERVERS, api_server, run_task
from tests.support.kubernetes.world import Api


@pytest.fixture(scope="session", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[Api]:
    """One API server for all tests: the stand-in, or the real one when the real tests run."""
    with api_server(request.param) as api:
        yield api


@pytest.fixture
def api(server: Api) -> Api:
    """The server, without the faults and counted calls of the previous test."""
    server.reset()
    return server


@pytest.fixture
def namespace(api: Api) -> Iterator[str]:
    """A namespace for this test only."""
    name = api.namespace()
    yield name
    api.request("DELETE", f"/api/v1/namespaces/{name}")


class Run(Protocol):
    def __call__(self, *, check_mode: bool = False, diff: bool = False, **params: Any) -> dict[str, Any]:
        """Run the task with these parameters."""
        raise NotImplementedError


@pytest.fixture
def run(api: Api, tmp_path: Path) -> Run:
    """``k8s_pull_secret`` with a connection to the server as admin."""

    def call(*, check_mode: bool = False, diff: bool = False, **params: Any) -> dict[str, Any]:
        params.setdefault("kubernetes", {"host": api.url, "api_key": api.token})
        return run_task(k8s_pull_secret, params, check_mode=check_mode, diff=diff)

    return call
