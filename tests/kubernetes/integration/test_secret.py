# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The content of the Secret, and what makes the module write it."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest

from tests.kubernetes.integration.conftest import Run
from tests.support.docker_configs import KEY, TYPE, auth, docker_config, encoded, held
from tests.support.kubernetes.world import Api

ONE = docker_config(quay_io="one")
TWO = docker_config(quay_io="two")
NAME = "cls-123-pull-secret"


def desired(namespace: str, config: Any = None, **more: Any) -> dict[str, Any]:
    return {
        "cluster_id": "cls-123",
        "cluster_name": "production-cluster",
        "namespace": namespace,
        "source": {"inline": ONE if config is None else config},
        **more,
    }


def test_creates_the_secret_of_the_job_contract(api: Api, namespace: str, run: Run) -> None:
    path = "projects/customer-prod-12345/secrets/hyperfleet-cls-123-pull-secret/versions/latest"
    result = run(**desired(namespace, gcp_secret_path=path))
    secret = api.secret(namespace, NAME)
    assert secret is not None
    assert secret["metadata"]["labels"] == {
        "managed-by": "hyperfleet",
        "adapter": "pullsecret",
        "cluster-id": "cls-123",
        "cluster-name": "production-cluster",
        "hyperfleet-version": "v1",
    }
    annotations = dict(secret["metadata"]["annotations"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", annotations.pop("hyperfleet.io/created-at")), (
        "RFC 3339 in UTC, as in the job contract"
    )
    assert annotations == {
        "hyperfleet.io/gcp-secret-path": path,
        "hyperfleet.io/created-by": "pullsecret-adapter",
    }
    assert secret["type"] == TYPE
    assert list(secret["data"]) == [KEY]
    assert held(secret) == ONE
    assert "immutable" not in secret
    (target,) = result["targets"]
    assert (result["changed"], target["actions"]) == (True, ["created"])
    assert target["place"] == f"namespaces/{namespace}/secrets/{NAME}"
    assert target["registries"] == {"quay.io": "inline"}
    assert [call.verb for call in api.calls.matching()] == ["get", "create"]


def test_a_second_run_only_reads(api: Api, namespace: str, run: Run) -> None:
    run(**desired(namespace))
    before = api.secret(namespace, NAME)
    api.calls.clear()
    result = run(**desired(namespace))
    assert result["changed"] is False
    assert result["targets"][0]["actions"] == []
    assert [call.verb for call in api.calls.matching()] == ["get"]
    assert api.secret(namespace, NAME) == before


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ONE, indent=8) + "\n\n",
        json.dumps(ONE, separators=(",", ":")),
    ],
    ids=["wide", "narrow"],
)
def test_white_space_is_no_change(api: Api, namespace: str, run: Run, text: str) -> None:
    run(**desired(namespace))
    before = api.secret(namespace, NAME)
    assert run(**desired(namespace, text))["changed"] is False
    assert api.secret(namespace, NAME) == before


def test_a_stored_form_of_the_same_meaning_is_left(api: Api, namespace: str, run: Run) -> None:
    run(**desired(namespace))
    api.merge(namespace, "secrets", NAME, {"data": {KEY: encoded(json.dumps(ONE, indent=4))}})
    before = api.secret(namespace, NAME)
    assert run(**desired(namespace))["changed"] is False
    assert api.secret(namespace, NAME) == before


def test_key_order_is_no_change(api: Api, namespace: str, run: Run) -> None:
    names = ["quay.io", "registry.redhat.io", "cloud.openshift.com"]
    forward = json.dumps({"auths": {name: {"auth": auth("x")} for name in names}})
    backward = json.dumps({"auths": {name: {"auth": auth("x")} for name in reversed(names)}}, indent=1)
    assert run(**desired(namespace, forward))["changed"] is True
    assert run(**desired(namespace, backward))["changed"] is False


def test_labels_are_repaired_on_a_secret_whose_data_has_another_form(
    api: Api, namespace: str, run: Run
) -> None:
    run(**desired(namespace))
    loose = encoded(json.dumps(ONE, indent=4))
    api.merge(
        namespace,
        "secrets",
        NAME,
        {"data": {KEY: loose}, "metadata": {"labels": {"adapter": None, "cluster-name": "renamed"}}},
    )
    result = run(**desired(namespace))
    assert result["targets"][0]["actions"] == ["labels updated"]
    secret = api.secret(namespace, NAME)
    assert secret is not None
    assert secret["metadata"]["labels"]["adapter"] == "pullsecret"
    assert secret["metadata"]["labels"]["cluster-name"] == "production-cluster"
    assert secret["data"][KEY] == loose, "an equal document is not written again"


def test_a_changed_annotation_is_reported(api: Api, namespace: str, run: Run) -> None:
    run(**desired(namespace, annotations={"ticket": "OPS-1"}))
    result = run(**desired(namespace, annotations={"ticket": "OPS-2"}), diff=True)
    assert result["targets"][0]["actions"] == ["annotations updated"]
    (diff,) = result["diff"]
    assert "annotation ticket: OPS-1\n" in diff["before"]
    assert "annotation ticket: OPS-2\n" in diff["after"]


def test_a_change_keeps_what_belongs_to_others(api: Api, namespace: str, run: Run) -> None:
    run(**desired(namespace))
    first = api.secret(namespace, NAME)
    assert first is not None
    others = {"metadata": {"labels": {"team": "a"}, "annotations": {"note": "b"}}}
    api.merge(namespace, "secrets", NAME, {**others, "data": {"extra": encoded("kept")}})
    result = run(**desired(namespace, TWO))
    secret = api.secret(namespace, NAME)
    assert secret is not None
    assert result["targets"][0]["actions"] == ["updated"]
    assert held(secret) == TWO
    assert secret["metadata"]["labels"] == {**first["metadata"]["labels"], "team": "a"}
    assert secret["metadata"]["annotations"] == {**first["metadata"]["annotations"], "note": "b"}
    assert base64.b64decode(secret["data"]["extra"]) == b"kept"
    assert secret["metadata"]["uid"] == first["metadata"]["uid"]


def test_own_labels_and_annotations_are_added(api: Api, namespace: str, run: Run) -> None:
    own = {"labels": {"team": "a", "managed-by": "hyperfleet"}, "annotations": {"note": "b"}}
    run(**desired(namespace, **own))
    secret = api.secret(namespace, NAME)
    assert secret is not None
    assert secret["metadata"]["labels"]["team"] == "a"
    assert secret["metadata"]["labels"]["managed-by"] == "hyperfleet", (
        "an option must not change the owner's label"
    )
    assert secret["metadata"]["annotations"]["note"] == "b"
    assert run(**desired(namespace, **own))["changed"] is False
    for key in ("managed-by", "adapter", "hyperfleet-version", "cluster-id", "cluster-name"):
        (failure,) = run(**desired(namespace, labels={key: "me"}))["failed_targets"]
        assert failure["kind"] == "configuration"
        assert failure["msg"].startswith(f"label '{key}' is reserved for this collection")
    assert api.secret(namespace, NAME) == secret


def test_drifted_data_is_repaired(api: Api, namespace: str, run: Run) -> None:
    run(**desired(namespace))
    api.merge(namespace, "secrets", NAME, {"data": {KEY: encoded(json.dumps(TWO))}})
    assert run(**desired(namespace))["targets"][0]["actions"] == ["updated"]
    assert held(api.secret(namespace, NAME)) == ONE


def test_unreadable_data_is_repaired(api: Api, namespace: str, run: Run) -> None:
    run(**desired(namespace))
    api.merge(namespace, "secrets", NAME, {"data": {KEY: encoded('{"auths": []}')}})
    assert run(**desired(namespace))["targets"][0]["actions"] == ["updated"]
    assert held(api.secret(namespace, NAME)) == ONE


def test_a_secret_deleted_by_others_is_created_again(api: Api, namespace: str, run: Run) -> None:
    run(**desired(namespace))
    api.delete(namespace, "secrets", NAME)
    assert run(**desired(namespace))["targets"][0]["actions"] == ["created"]
    assert held(api.secret(namespace, NAME)) == ONE


def test_invalid_input_writes_nothing(api: Api, namespace: str, run: Run) -> None:
    result = run(**desired(namespace, '{"auths": {"quay.io": {"auth": "%%example-value%%"}}}'))
    assert result["failed_targets"][0]["kind"] == "invalid_document"
    assert "quay.io" in result["msg"]
    assert "example-value" not in json.dumps(result)
    assert len(api.calls) == 0


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"namespace": None}, "namespace"),
        ({"namespace": "Not_A_Name"}, "namespace"),
        ({"cluster_id": None}, "name"),
        ({"cluster_id": "UPPER"}, "cluster_id"),
        ({"name": "no/slash"}, "name"),
        ({"source": None}, "source"),
    ],
)
def test_a_wrong_task_is_reported_before_any_call(
    api: Api, namespace: str, run: Run, wrong: dict[str, Any], word: str
) -> None:
    result = run(**{**desired(namespace), **wrong})
    assert result["failed_targets"][0]["kind"] == "configuration"
    assert word in result["msg"]
    assert len(api.calls) == 0
