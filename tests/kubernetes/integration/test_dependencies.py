# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Namespaces that are missing, created late or terminating: the run retries, then fails and names them."""

from __future__ import annotations

import pytest

from tests.kubernetes.integration.conftest import Run
from tests.kubernetes.integration.test_secret import NAME, ONE, desired
from tests.support.docker_configs import held
from tests.support.kubernetes.world import Api


def test_a_missing_namespace_is_reported_at_once(api: Api, run: Run) -> None:
    """A user waits for the result, and nobody else creates the namespace."""
    name = api.new_name("missing")
    result = run(**desired(name))
    (failure,) = result["failed_targets"]
    assert failure["kind"] == "dependency"
    assert failure["msg"].endswith(
        f"namespace {name} does not exist; create the namespace (in HyperFleet the placement adapter does), "
        "or check its name"
    )
    assert (api.calls.count("create"), result["targets"][0]["retries"]) == (1, 0)
    assert result["changed"] is False


def test_a_missing_namespace_that_is_waited_for(api: Api, run: Run) -> None:
    name = api.new_name("missing")
    result = run(**desired(name), wait_for_namespace=True)
    (failure,) = result["failed_targets"]
    assert failure["kind"] == "dependency"
    assert f"namespace {name} does not exist" in failure["msg"]
    assert "tried 5 times" in failure["msg"]
    assert api.calls.count("create") == 5
    assert result["targets"][0]["retries"] == 4
    assert result["changed"] is False


def test_a_namespace_that_appears_meanwhile(api: Api, run: Run) -> None:
    name = api.new_name("late")
    tries: list[int] = []

    def appear() -> None:
        tries.append(1)
        if len(tries) == 3:
            api.namespace(name)

    api.before("create", f"*/{name}/secrets", appear, times=3)
    result = run(**desired(name), wait_for_namespace=True)
    assert result["targets"][0]["actions"] == ["created"]
    assert result["targets"][0]["retries"] == 2
    assert held(api.secret(name, NAME)) == ONE
    api.request("DELETE", f"/api/v1/namespaces/{name}")


def test_a_namespace_that_is_being_terminated(api: Api, run: Run) -> None:
    # A finalizer keeps the namespace in the state Terminating.
    name = api.new_name("ending")
    api.post("/api/v1/namespaces", {"metadata": {"name": name, "finalizers": ["example.com/hold"]}})
    api.request("DELETE", f"/api/v1/namespaces/{name}")
    try:
        result = run(**desired(name))
        (failure,) = result["failed_targets"]
        assert failure["kind"] == "dependency"
        assert "being terminated" in failure["msg"]
        assert name in failure["msg"]
        assert "tried 5 times" in failure["msg"]
    finally:
        free = {"metadata": {"finalizers": None}}
        api.request("PATCH", f"/api/v1/namespaces/{name}", free, "application/merge-patch+json")


@pytest.mark.parametrize("check_mode", [True, False])
def test_check_mode_of_a_missing_namespace(api: Api, run: Run, check_mode: bool) -> None:
    """Check mode assumes that the placement adapter creates the namespace before the run."""
    result = run(**desired(api.new_name("missing")), check_mode=check_mode, retry={"tries": 1})
    assert result["targets"][0].get("failed", False) is not check_mode
    assert len(api.writes()) == (0 if check_mode else 1)
