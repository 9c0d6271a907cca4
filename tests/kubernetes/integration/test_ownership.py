# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The owner of a Secret (the job contract: "already exists (different owner)")."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import sensitive_forms
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.naming import LAST_APPLIED
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes_secret import target
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.secrecy import Mask
from tests.kubernetes.integration.conftest import Run
from tests.kubernetes.integration.test_secret import NAME, ONE, desired
from tests.support.docker_configs import KEY, TYPE, auth, docker_config, encoded, held
from tests.support.kubernetes.world import Api

THEIRS = docker_config(quay_io="theirs")
FOREIGN = [
    pytest.param({}, "no label managed-by", id="unlabelled"),
    pytest.param({"managed-by": "someone"}, "managed by someone", id="another manager"),
    pytest.param(
        {"managed-by": "hyperfleet", "cluster-id": "cls-9"}, "belongs to cluster cls-9", id="another cluster"
    ),
    pytest.param({"managed-by": "hyperfleet"}, "no label cluster-id", id="no cluster"),
]


def theirs(api: Api, namespace: str, labels: dict[str, str], kind: str = TYPE) -> None:
    data = {".dockerconfigjson": encoded(json.dumps(THEIRS))}
    api.create(
        namespace,
        "secrets",
        {"metadata": {"name": NAME, "labels": {**labels, "app": "x"}}, "type": kind, "data": data},
    )


@pytest.mark.parametrize(("labels", "said"), FOREIGN)
@pytest.mark.parametrize("kind", [TYPE, "Opaque"])
def test_a_secret_of_another_owner_is_not_written(
    api: Api, namespace: str, run: Run, labels: dict[str, str], said: str, kind: str
) -> None:
    theirs(api, namespace, labels, kind)
    before = api.secret(namespace, NAME)
    for check_mode in (True, False):
        result = run(**desired(namespace), check_mode=check_mode)
        (failure,) = result["failed_targets"]
        assert failure["kind"] == "ownership"
        assert said in failure["msg"]
        another_clusters = said.startswith("belongs to")
        assert ("adopt: true on this cluster" in failure["msg"]) is not another_clusters
        assert ("delete it" in failure["msg"]) is not another_clusters
        assert "give this cluster another k8s_secret_name" in failure["msg"]
        assert result["changed"] is False
    assert api.writes() == []
    assert api.secret(namespace, NAME) == before


@pytest.mark.parametrize(("labels", "said"), FOREIGN)
def test_adopt_takes_it_over_and_keeps_the_rest(
    api: Api, namespace: str, run: Run, labels: dict[str, str], said: str
) -> None:
    theirs(api, namespace, labels)
    result = run(**desired(namespace, adopt=True))
    assert result["targets"][0]["actions"] == ["updated", "adopted"]
    secret = api.secret(namespace, NAME)
    assert secret is not None
    assert held(secret) == ONE
    assert secret["metadata"]["labels"]["app"] == "x"
    assert secret["metadata"]["labels"]["managed-by"] == "hyperfleet"
    assert secret["metadata"]["labels"]["cluster-id"] == "cls-123"
    assert run(**desired(namespace))["changed"] is False, "the adopted Secret must count as owned"


def applied(part: str) -> str:
    """What ``kubectl apply`` leaves of a Secret with ``data`` or ``stringData``."""
    text = json.dumps(THEIRS)
    return json.dumps({"kind": "Secret", part: {KEY: encoded(text) if part == "data" else text}})


@pytest.mark.parametrize("part", ["data", "stringData"])
@pytest.mark.parametrize("kind", [TYPE, "Opaque", "ours"])
def test_the_copy_of_kubectl_apply_goes(api: Api, namespace: str, run: Run, part: str, kind: str) -> None:
    if kind == "ours":
        run(**desired(namespace))
    else:
        theirs(api, namespace, {}, kind)
    annotations = {"team": "a", LAST_APPLIED: applied(part)}
    api.merge(namespace, "secrets", NAME, {"metadata": {"annotations": annotations}})
    more = {TYPE: ["updated", "adopted"], "Opaque": ["adopted", "replaced"], "ours": ["annotations updated"]}
    actions = ["annotation last-applied-configuration removed", *more[kind]]
    for check_mode in (True, False):
        result = run(**desired(namespace, adopt=True), check_mode=check_mode, diff=True)
        assert result["targets"][0]["actions"] == actions
        assert f"annotation {LAST_APPLIED}: ********\n" in result["diff"][0]["before"]
        assert LAST_APPLIED not in result["diff"][0]["after"]
        assert not any(form in json.dumps(result) for form in (encoded(json.dumps(THEIRS)), auth("theirs")))
    secret: Any = api.secret(namespace, NAME)
    assert LAST_APPLIED not in secret["metadata"]["annotations"]
    assert secret["metadata"]["annotations"]["team"] == "a"
    assert run(**desired(namespace))["changed"] is False


@pytest.mark.parametrize("part", ["data", "stringData"])
def test_what_kubectl_apply_left_is_masked(part: str) -> None:
    seen = target.applied_values({"metadata": {"annotations": {LAST_APPLIED: applied(part)}}})
    mask = Mask(form for value in seen for form in sensitive_forms(value))
    assert mask.text(f"{auth('theirs')} example-password-theirs {NAME}") == f"******** ******** {NAME}"
    assert mask.text(applied(part)) == f'{{"kind": "Secret", "{part}": {{"{KEY}": "********"}}}}'


@pytest.mark.parametrize("controller", [True, False])
def test_a_controller_is_named_when_its_secret_is_adopted_or_deleted(
    api: Api, namespace: str, run: Run, controller: bool
) -> None:
    theirs(api, namespace, {})
    api.create(namespace, "configmaps", {"metadata": {"name": "es-1"}})
    uid = api.get(namespace, "configmaps", "es-1")["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "es-1", "uid": uid, "controller": controller}
    api.merge(namespace, "secrets", NAME, {"metadata": {"ownerReferences": [owner]}})
    said = "it is controlled by the ConfigMap es-1, which may {}; change or remove that object first"
    (adopted,) = run(**desired(namespace, adopt=True))["targets"]
    assert adopted["warnings"] == ([said.format("overwrite or delete it")] if controller else [])
    (kept,) = run(**desired(namespace))["targets"]
    assert kept["warnings"] == []
    (deleted,) = run(cluster_id="cls-123", namespace=namespace, state="absent")["targets"]
    assert deleted["warnings"] == ([said.format("create it again")] if controller else [])


def test_adopt_of_another_type_says_so(api: Api, namespace: str, run: Run) -> None:
    theirs(api, namespace, {}, "Opaque")
    assert run(**desired(namespace, adopt=True))["targets"][0]["actions"] == ["adopted", "replaced"]


@pytest.mark.parametrize(("labels", "said"), FOREIGN)
@pytest.mark.parametrize("adopt", [False, True], ids=["plain", "adopt"])
def test_absent_leaves_a_secret_of_another_owner(
    api: Api, namespace: str, run: Run, labels: dict[str, str], said: str, adopt: bool
) -> None:
    theirs(api, namespace, labels)
    api.create(
        namespace,
        "serviceaccounts",
        {"metadata": {"name": "puller"}, "imagePullSecrets": [{"name": NAME}]},
    )
    absent: dict[str, Any] = {
        "cluster_id": "cls-123",
        "namespace": namespace,
        "state": "absent",
        "adopt": adopt,
    }
    for accounts in (["puller"], []):
        result = run(**absent, service_accounts=accounts)
        assert result["failed_targets"][0]["kind"] == "ownership"
        assert said in result["msg"]
        assert (
            "check the cluster_id and the k8s_secret_name"
            if said.startswith("belongs to")
            else "state: present and adopt: true"
        ) in result["msg"]
    assert api.writes() == [], "the service accounts keep their references"
    # Adoption, then deletion.
    run(**desired(namespace, adopt=True))
    assert run(**absent)["targets"][0]["actions"] == ["deleted"]


@pytest.mark.parametrize("name", ["created-at", "created-by", "gcp-secret-path", "gcp-secret-version"])
def test_our_own_annotations_are_no_users(api: Api, namespace: str, run: Run, name: str) -> None:
    for check_mode in (True, False):
        result = run(
            **desired(namespace, annotations={f"hyperfleet.io/{name}": "never"}), check_mode=check_mode
        )
        (failure,) = result["failed_targets"]
        assert failure["kind"] == "configuration"
        assert failure["msg"].startswith(f"annotation 'hyperfleet.io/{name}' is reserved for this collection")
    assert api.calls.matching() == []


@pytest.mark.parametrize("adopt", [False, True], ids=["plain", "adopt"])
def test_a_clusters_secret_is_not_deleted_by_its_name_alone(
    api: Api, namespace: str, run: Run, adopt: bool
) -> None:
    run(**desired(namespace))
    api.calls.clear()
    named: dict[str, Any] = {"name": NAME, "namespace": namespace, "state": "absent"}
    for check_mode in (True, False):
        (failure,) = run(**named, adopt=adopt, check_mode=check_mode)["failed_targets"]
        assert failure["kind"] == "ownership"
        assert "belongs to cluster cls-123" in failure["msg"]
        assert "set cluster_id: cls-123" in failure["msg"]
    assert api.writes() == []
    assert run(**named, cluster_id="cls-123")["targets"][0]["actions"] == ["deleted"]


def test_a_secret_of_no_cluster_is_deleted_by_its_name(api: Api, namespace: str, run: Run) -> None:
    named: dict[str, Any] = {"name": "team-pull-secret", "namespace": namespace}
    run(**named, source={"inline": ONE})
    assert run(**named, state="absent")["targets"][0]["actions"] == ["deleted"]
