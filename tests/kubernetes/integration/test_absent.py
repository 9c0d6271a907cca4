# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The state ``absent``: deleting Secrets."""

from __future__ import annotations

from typing import Any

from tests.kubernetes.integration.conftest import Run
from tests.kubernetes.integration.test_secret import NAME, desired
from tests.support.kubernetes.world import Api


def absent(namespace: str, **more: Any) -> dict[str, Any]:
    return {"cluster_id": "cls-123", "namespace": namespace, "state": "absent", **more}


def test_our_secret_is_deleted_once(api: Api, namespace: str, run: Run) -> None:
    run(**desired(namespace))
    result = run(**absent(namespace))
    assert result["targets"][0]["actions"] == ["deleted"]
    assert api.secret(namespace, NAME) is None
    api.calls.clear()
    again = run(**absent(namespace))
    assert (again["changed"], again["targets"][0]["actions"]) == (False, [])
    assert api.writes() == []


def test_check_mode_says_what_would_be_deleted(api: Api, namespace: str, run: Run) -> None:
    run(**desired(namespace))
    api.calls.clear()
    result = run(**absent(namespace), check_mode=True, diff=True)
    assert result["targets"][0]["actions"] == ["deleted"]
    (diff,) = result["diff"]
    assert "label cluster-id: cls-123\n" in diff["before"]
    assert "registry quay.io\n" in diff["before"]
    assert "digest: hmac-sha256:" in diff["before"]
    assert diff["after"] == ""
    assert api.writes() == []
    assert api.secret(namespace, NAME) is not None


def test_a_namespace_that_is_gone_is_no_failure(api: Api, run: Run) -> None:
    result = run(**absent(api.new_name("gone")))
    assert (result["changed"], result["failed_targets"]) == (False, [])


def test_only_the_secret_that_was_read_is_deleted(api: Api, namespace: str, run: Run) -> None:
    """Another writer replaces the Secret between the read and the delete."""
    run(**desired(namespace))

    def swap() -> None:
        api.delete(namespace, "secrets", NAME)
        api.create(namespace, "secrets", {"metadata": {"name": NAME, "labels": {"managed-by": "someone"}}})

    api.before("delete", f"*/secrets/{NAME}", swap)
    result = run(**absent(namespace))
    assert result["failed_targets"][0]["kind"] == "ownership"
    secret = api.secret(namespace, NAME)
    assert secret is not None
    assert secret["metadata"]["labels"] == {"managed-by": "someone"}


def test_a_secret_that_waits_for_its_finalizers_is_not_deleted_again_and_again(
    api: Api, namespace: str, run: Run
) -> None:
    run(**desired(namespace))
    api.merge(namespace, "secrets", NAME, {"metadata": {"finalizers": ["example.com/hold"]}})
    try:
        assert run(**absent(namespace))["changed"] is True
        assert run(**absent(namespace))["changed"] is False
    finally:
        api.merge(namespace, "secrets", NAME, {"metadata": {"finalizers": None}})


def test_one_list_for_many(api: Api, namespace: str, run: Run) -> None:
    ids = [f"cls-{number}" for number in range(5)]
    targets = [{"cluster_id": name} for name in ids]
    run(namespace=namespace, source={"env": "EXAMPLE_DOCKER_CONFIG"}, targets=targets, state="absent")
    assert api.calls.count("list") == 1
