# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each fault at each call, before and after the server has done its work (the job contract, "Error Handling")."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.kubernetes.integration.conftest import Run
from tests.kubernetes.integration.test_secret import NAME, ONE, TWO, desired
from tests.support.docker_configs import KEY, encoded, held
from tests.support.kubernetes.world import Api
from tests.support.nightly import some

# The calls of a run, by the state before it, and the actions that it reports on success.
STORIES = {
    "create": (["get", "create"], ["created"]),
    "update": (["get", "patch"], ["updated"]),
    "replace": (["get", "create", "delete", "create"], ["replaced"]),
    "link": (["get", "create", "get", "patch"], ["created", "linked to service account puller"]),
    "remove": (["get", "delete"], ["deleted"]),
}
CALLS = [(story, index) for story, (verbs, _actions) in STORIES.items() for index in range(len(verbs))]
ACCOUNT = "puller"
PASSING: dict[str, dict[str, Any]] = {
    "500": {"status": 500},
    "503": {"status": 503},
    "429": {"status": 429, "headers": {"Retry-After": "1"}},
    "dropped": {"drop": True},
    "dropped after it was done": {"drop": True, "phase": "after"},
    "504 after it was done": {"status": 504, "phase": "after"},
}


def tell(api: Api, namespace: str, story: str) -> dict[str, Any]:
    """Create the state that the story starts with, and return the parameters of its run."""
    if story in ("update", "remove"):
        api.create(namespace, "secrets", secret("kubernetes.io/dockerconfigjson"))
    if story == "replace":
        api.create(namespace, "secrets", secret("Opaque"))
    if story == "link":
        api.create(namespace, "serviceaccounts", {"metadata": {"name": ACCOUNT}})
    params = desired(namespace, TWO)
    if story == "remove":
        params["state"] = "absent"
    if story == "link":
        params["service_accounts"] = [ACCOUNT]
    return params


def secret(kind: str) -> dict[str, Any]:
    labels = {"managed-by": "hyperfleet", "cluster-id": "cls-123"}
    labels |= {"adapter": "pullsecret", "cluster-name": "production-cluster", "hyperfleet-version": "v1"}
    annotations = {"hyperfleet.io/created-by": "pullsecret-adapter"}
    return {
        "metadata": {"name": NAME, "labels": labels, "annotations": annotations},
        "type": kind,
        "data": {KEY: encoded(json.dumps(ONE))},
    }


def check_end(api: Api, namespace: str, story: str) -> None:
    there = api.secret(namespace, NAME)
    if story == "remove":
        assert there is None
        return
    assert held(there) == TWO
    assert there["type"] == "kubernetes.io/dockerconfigjson"
    if story == "link":
        account = api.get(namespace, "serviceaccounts", ACCOUNT)
        assert account["imagePullSecrets"] == [{"name": NAME}]


@pytest.mark.parametrize("story", STORIES)
def test_without_a_fault(api: Api, namespace: str, run: Run, story: str) -> None:
    params = tell(api, namespace, story)
    result = run(**params)
    verbs, actions = STORIES[story]
    assert [call.verb for call in api.calls.matching()] == verbs, "STORIES lists other calls"
    assert result["targets"][0]["actions"] == actions
    assert result["targets"][0]["retries"] == 0
    check_end(api, namespace, story)


@pytest.mark.parametrize("fault", some(PASSING, "429", "503", "dropped after it was done"))
@pytest.mark.parametrize(("story", "index"), CALLS)
def test_a_passing_fault_is_retried_and_the_change_is_reported(
    api: Api, namespace: str, run: Run, story: str, index: int, fault: str
) -> None:
    params = tell(api, namespace, story)
    api.faults.add(path=f"*/{namespace}/*", skip=index, **PASSING[fault])
    result = run(**params)
    assert "failed" not in result, result["msg"]
    check_end(api, namespace, story)
    assert result["changed"] is True
    (target,) = result["targets"]
    told = set(target["actions"])
    expected = set(STORIES[story][1])
    # If a retry makes the second half of a replacement, both halves are reported.
    assert told == expected or (story == "replace" and told == {"deleted", "created"})
    assert target["retries"] == 1
    api.faults.clear()
    assert run(**params)["changed"] is False


def test_retry_after_of_a_server_is_respected(api: Api, namespace: str, run: Run) -> None:
    api.faults.add(path=f"*/{namespace}/*", status=429, headers={"Retry-After": "1"})
    result = run(**desired(namespace, TWO), retry={"delay": 0.01, "max_delay": 5})
    assert "failed" not in result, result["msg"]
    (entry,) = [entry for entry in result["targets"][0]["operations"] if entry["operation"] == "retry"]
    assert "next in 1.0 s" in entry["message"]


@pytest.mark.parametrize("status", some([429, 500, 503], 503))
@pytest.mark.parametrize(("story", "index"), CALLS)
def test_a_lasting_fault_fails_after_five_tries(
    api: Api, namespace: str, run: Run, story: str, index: int, status: int
) -> None:
    params = tell(api, namespace, story)
    fault = api.faults.add(path=f"*/{namespace}/*", skip=index, times=None, status=status)
    result = run(**params)
    (failure,) = result["failed_targets"]
    assert failure["kind"] == ("quota" if status == 429 else "unavailable")
    assert "tried 5 times" in failure["msg"]
    assert f"namespaces/{namespace}/" in failure["msg"]
    assert fault.hits == 5
    assert result["targets"][0]["retries"] == 4
    api.faults.clear()
    assert "failed" not in run(**params), "the next run must succeed"
    check_end(api, namespace, story)


@pytest.mark.parametrize(("story", "index"), CALLS)
def test_a_refusal_is_not_tried_again(api: Api, namespace: str, run: Run, story: str, index: int) -> None:
    params = tell(api, namespace, story)
    message = (
        f'secrets is forbidden: User "jane" cannot touch resource "secrets" in the namespace "{namespace}"'
    )
    fault = api.faults.add(path=f"*/{namespace}/*", skip=index, times=None, status=403, message=message)
    result = run(**params)
    (failure,) = result["failed_targets"]
    assert failure["kind"] == "permission_denied"
    assert 'User "jane" cannot' in failure["msg"]
    assert "Role" in failure["msg"]
    assert fault.hits == 1


def test_the_message_for_a_user_without_rights(api: Api, namespace: str, run: Run) -> None:
    result = run(**desired(namespace), kubernetes={"host": api.url, "api_key": api.viewer_token})
    (failure,) = result["failed_targets"]
    assert failure["kind"] == "permission_denied"
    assert f"GET namespaces/{namespace}/secrets/{NAME}" in failure["msg"]
    assert 'User "viewer" cannot get resource "secrets"' in failure["msg"]
    assert failure["msg"].endswith("; give that user a Role that allows get on secrets in this namespace")
    assert len(api.calls) == 1


def test_an_unknown_token_is_refused_once(api: Api, namespace: str, run: Run) -> None:
    result = run(**desired(namespace), kubernetes={"host": api.url, "api_key": "example-wrong-token"})
    (failure,) = result["failed_targets"]
    assert failure["kind"] == "permission_denied"
    assert "Unauthorized" in failure["msg"]
    assert failure["msg"].endswith("; renew the token, or log in to the cluster again")
    assert "example-wrong-token" not in json.dumps(result)
    assert len(api.calls) == 1


def test_a_server_that_is_too_slow(api: Api, namespace: str, run: Run) -> None:
    api.faults.add(verb="create", delay=60.0, phase="after", times=1)
    result = run(**desired(namespace), api_timeout=3)
    assert "failed" not in result
    assert result["targets"][0]["actions"] == ["created"]
    assert result["targets"][0]["retries"] >= 1


def test_a_server_that_is_not_there(api: Api, namespace: str, run: Run) -> None:
    result = run(**desired(namespace), kubernetes={"host": "http://127.0.0.1:9"})
    (failure,) = result["failed_targets"]
    assert failure["kind"] == "unavailable"
    assert "no answer from the API server 127.0.0.1:9 (" in failure["msg"]


def test_an_invalid_address_is_not_quoted(namespace: str, run: Run) -> None:
    result = run(
        **desired(namespace), kubernetes={"host": "https://example-user:example-password@example:port"}
    )
    (failure,) = result["failed_targets"]
    assert failure["kind"] == "configuration"
    assert "the API server's address cannot be used (LocationParseError)" in failure["msg"]
    assert "example-" not in str(result)


def test_an_answer_that_is_no_status(api: Api, namespace: str, run: Run) -> None:
    api.faults.add(status=502, message="x" * 5000, times=None)
    result = run(**desired(namespace))
    assert result["failed_targets"][0]["kind"] == "unavailable"
    assert len(result["msg"]) < 1000


def test_the_time_limit_of_a_target_holds(api: Api, namespace: str, run: Run) -> None:
    api.faults.add(status=503, times=None)
    result = run(**desired(namespace), timeout=60, retry={"tries": 50, "delay": 600, "max_delay": 600})
    (failure,) = result["failed_targets"]
    assert failure["kind"] == "timeout"
    assert "60 s" in failure["msg"]
    assert "503" in failure["msg"] or "ServiceUnavailable" in failure["msg"]


def test_one_target_fails_alone(api: Api, namespace: str, run: Run) -> None:
    api.faults.add(path="*/secrets/cls-2-pull-secret", status=403, times=None)
    api.faults.add(verb="list", status=403, times=None)
    api.create(namespace, "secrets", {"metadata": {"name": "cls-3-pull-secret"}})
    targets: list[dict[str, Any]] = [
        {"cluster_id": "cls-1"},
        {"cluster_id": "cls-2"},
        {"cluster_id": "cls-3"},
        {"cluster_id": "cls-4", "source": {"inline": "{"}},
        {"cluster_id": "cls-5", "namespace": "Bad!"},
        {"cluster_id": "cls-6", "source": {"file": "/nonexistent/config.json"}},
        {"cluster_id": "cls-7"},
    ]
    result = run(namespace=namespace, source={"inline": ONE}, targets=targets)
    kinds = {entry["id"]: entry.get("kind") for entry in result["targets"]}
    assert kinds == {
        "cls-1": None,
        "cls-2": "permission_denied",
        "cls-3": "ownership",
        "cls-4": "invalid_document",
        "cls-5": "configuration",
        "cls-6": "not_found",
        "cls-7": None,
    }
    assert result["summary"] == {"total": 7, "changed": 2, "failed": 5}
    assert result["changed"] is True
    assert result["failed"] is True
    for number in (1, 7):
        assert held(api.secret(namespace, f"cls-{number}-pull-secret")) == ONE
