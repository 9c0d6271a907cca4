# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Secret and the Job that the adapter creates for a cluster."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.cluster import OPTIONS
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter import names
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.jobs import (
    manifests,
    marks,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.jobs.document_limits import (
    document_refusal,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.model import Order
from tests.support.adapter_jobs.world import DOCUMENT, order
from tests.support.adapter_jobs.world import template as template_of

KEY = b"k" * 32
CLUSTER: dict[str, Any] = {
    "cluster_id": "cls-1",
    "cluster_name": "one",
    "project": "customer-1",
    "namespace": "clusters-cls-1",
}
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def made(given: Order = order(), **template: Any) -> dict[str, Any]:  # noqa: B008 - frozen
    settings = template_of(**template)
    spec = manifests.job_spec(given, settings, "pullsecret")
    content = marks.content_digest(given, DOCUMENT.encode(), KEY)
    return manifests.job(given, settings, "pullsecret", spec=spec, content=content, data_uid="u-1")


def container(job: dict[str, Any]) -> dict[str, Any]:
    (found,) = job["spec"]["template"]["spec"]["containers"]
    return dict(found)


def test_the_job_has_the_fields_of_the_contract() -> None:
    job = made(order(2, cluster_id="cls-123", cluster_name="production-cluster", traceparent=TRACE))
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
    metadata, spec = job["metadata"], job["spec"]
    labels = {
        "managed-by": "hyperfleet",
        "adapter": "pullsecret",
        "cluster-id": "cls-123",
        "cluster-name": "production-cluster",
        "resource-type": "pull-secret-job",
        "hyperfleet-version": "v1",
    }
    assert metadata["name"] == "pullsecret-cls-123-gen2"
    assert metadata["labels"] == spec["template"]["metadata"]["labels"] == labels
    assert metadata["annotations"]["hyperfleet.io/generation"] == "2"
    assert (spec["backoffLimit"], spec["activeDeadlineSeconds"]) == (1, 600)
    assert spec["ttlSecondsAfterFinished"] == 3600
    assert spec["podFailurePolicy"]["rules"][0] == {
        "action": "FailJob",
        "onExitCodes": {"containerName": "pullsecret-job", "operator": "In", "values": [2]},
    }
    pod = spec["template"]["spec"]
    assert (pod["restartPolicy"], pod["serviceAccountName"]) == ("Never", "pullsecret-adapter-job")
    found = container(job)
    assert found["resources"] == {
        "requests": {"cpu": "100m", "memory": "128Mi"},
        "limits": {"cpu": "500m", "memory": "512Mi"},
    }
    assert found["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    assert found["terminationMessagePolicy"] == "File"
    reference = found["env"].pop()
    assert reference == {
        "name": "PULL_SECRET_DATA",
        "valueFrom": {"secretKeyRef": {"name": "cluster-cls-123-pullsecret-data", "key": manifests.DATA_KEY}},
    }
    assert {item["name"]: item["value"] for item in found["env"]} == {
        "CLUSTER_ID": "cls-123",
        "CLUSTER_NAME": "production-cluster",
        "GCP_PROJECT_ID": "p-1",
        "SECRET_NAME": "hyperfleet-cls-123-pull-secret",
        "MANAGEMENT_NAMESPACE": "clusters-c-1",
        "K8S_SECRET_NAME": "cls-123-pull-secret",
        "REPLICATION_POLICY": "automatic",
        "LOG_LEVEL": "info",
        "LOG_FORMAT": "json",
        "GCP_API_TIMEOUT": "30s",
        "TRACEPARENT": TRACE,
    }


def test_the_pull_secret_is_in_the_secret_only() -> None:
    secret = manifests.data_secret(order(), DOCUMENT.encode(), "pullsecret")
    assert base64.b64decode(secret["data"][manifests.DATA_KEY]).decode() == DOCUMENT
    assert secret["metadata"]["name"] == "cluster-c-1-pullsecret-data"
    assert secret["metadata"]["labels"]["resource-type"] == "pull-secret-data"
    text = json.dumps(made())
    for form in (
        DOCUMENT,
        secret["data"][manifests.DATA_KEY],
        json.loads(DOCUMENT)["auths"]["quay.io"]["auth"],
    ):
        assert form not in text


@pytest.mark.parametrize(
    "changed",
    [
        {"cluster_id": "c-2"},
        {"cluster_name": "two"},
        {"project": "p-2"},
        {"namespace": "clusters-c-2"},
        {"replication": "user-managed:europe-west1"},
    ],
)
def test_another_order_is_another_content(changed: dict[str, Any]) -> None:
    def digest(given: Order, document: bytes = b"{}", key: bytes = KEY) -> str:
        return marks.content_digest(given, document, key)

    first = digest(order())
    assert digest(order(7, traceparent=TRACE)) == first
    assert digest(order(**changed)) != first
    assert digest(order(), b"{} ") != first
    # Without the key, the content cannot be guessed from the digest.
    assert digest(order(), key=b"x" * 32) != first


@pytest.mark.parametrize(
    ("wanted", "digest"),
    [
        (order(3, **CLUSTER), "a11b7f880e9041d6e98aead8ef0ea2685f7ca9f3aa30e36f30bd1708a81fcf8c"),
        (
            order(
                **{**CLUSTER, "cluster_name": "Größe 1"}, replication="user-managed: europe-west1, us-east1"
            ),
            "aa22d5601dc379ed03bbc23ab978524697fb2c73d7f6335a6dc0c0741c7c14a5",
        ),
    ],
)
def test_an_upgrade_creates_no_new_job(wanted: Order, digest: str) -> None:
    """The digests of the release before ``model/cluster`` existed."""
    assert marks.content_digest(wanted, b'{"auths":{}}', KEY) == f"hmac-sha256:{digest}"


def test_a_field_that_came_later_is_in_the_digest_where_it_has_a_value() -> None:
    def digest(**said: Any) -> str:
        given = order()
        return marks.content_digest(replace(given, cluster=replace(given.cluster, **said)), b"{}", KEY)

    plain = digest()
    later = [name for name, option in OPTIONS.items() if option.in_digest and name not in marks._FIRST]
    assert "kms_key" in later
    assert len({plain, *(digest(**{name: "value"}) for name in later)}) == len(later) + 1
    # The text of the policy contains these options, and the digest of a document depends on its content.
    others = (
        "replication_policy",
        "replication_locations",
        "source",
        "layers",
        "precedence",
        "policy",
        "drop",
        "strict",
    )
    assert set(others) == {name for name, option in OPTIONS.items() if not option.in_digest}
    assert {digest(**{name: "value"}) for name in others} == {plain}


def test_the_environment_of_a_job_has_a_fixed_order() -> None:
    """It is part of the template's hash: in another order a failed Job would be created again."""
    assert [item["name"] for item in container(made(order(traceparent=TRACE)))["env"]] == [
        "CLUSTER_ID",
        "CLUSTER_NAME",
        "GCP_PROJECT_ID",
        "SECRET_NAME",
        "MANAGEMENT_NAMESPACE",
        "K8S_SECRET_NAME",
        "REPLICATION_POLICY",
        "LOG_LEVEL",
        "LOG_FORMAT",
        "GCP_API_TIMEOUT",
        "TRACEPARENT",
        "PULL_SECRET_DATA",
    ]


def test_the_hash_of_the_template_depends_on_the_image_and_not_on_the_trace() -> None:
    def hashed(given: Order, **template: Any) -> str:
        return str(made(given, **template)["metadata"]["annotations"][names.TEMPLATE])

    first = hashed(order(1))
    assert hashed(order(2, traceparent=TRACE)) == first
    assert hashed(order(1), ttl=1) == first
    assert hashed(order(1), image="registry.example.com/pullsecret-job:v2") != first
    assert hashed(order(1), backoff_limit=5) != first


def test_what_the_configuration_adds() -> None:
    job = made(
        image_pull_secrets=("registry", "other"),
        node_selector=MappingProxyType({"pool": "system"}),
        tolerations=(MappingProxyType({"key": "dedicated", "operator": "Exists"}),),
        env=MappingProxyType({"HTTPS_PROXY": "http://proxy.example.com", "CLUSTER_ID": "another"}),
        labels=MappingProxyType({"network": "egress", "managed-by": "another"}),
        annotations=MappingProxyType({"team": "a", names.GENERATION: "9", names.RESULT: "{}"}),
        priority_class="system",
        resources=MappingProxyType({"limits": MappingProxyType({"cpu": "1"})}),
        gcp_api_timeout=45.0,
    )
    json.dumps(job)
    pod = job["spec"]["template"]["spec"]
    assert pod["imagePullSecrets"] == [{"name": "registry"}, {"name": "other"}]
    assert pod["nodeSelector"] == {"pool": "system"}
    assert pod["tolerations"] == [{"key": "dedicated", "operator": "Exists"}]
    env = [(item["name"], item.get("value")) for item in container(job)["env"]]
    assert env[0] == ("HTTPS_PROXY", "http://proxy.example.com")
    assert [value for name, value in env if name == "CLUSTER_ID"] == ["c-1"]
    assert ("GCP_API_TIMEOUT", "45s") in env
    assert job["metadata"]["annotations"]["team"] == "a"
    assert job["metadata"]["annotations"][names.GENERATION] == "1"
    assert names.RESULT not in job["metadata"]["annotations"]
    for labels in (job["metadata"]["labels"], job["spec"]["template"]["metadata"]["labels"]):
        assert (labels["network"], labels["managed-by"]) == ("egress", "hyperfleet")
    assert pod["priorityClassName"] == "system"


def test_without_an_image_there_is_no_job() -> None:
    with pytest.raises(ConfigurationError, match=r"spec\.jobTemplate\.image"):
        made(image=None)


def test_kubernetes_puts_nothing_into_a_value() -> None:
    env = container(made(order(cluster_name="$(PULL_SECRET_DATA)")))["env"]
    assert {"name": "CLUSTER_NAME", "value": "$$(PULL_SECRET_DATA)"} in env


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (b"x" * manifests.LARGEST, None),
        (b"x" * (manifests.LARGEST + 1), "PullSecretTooLarge"),
        (b'{"auths":\0}', "InvalidDocument"),
        (b"\xff\xfe", "InvalidDocument"),
    ],
)
def test_what_no_pod_can_be_given_is_refused(document: bytes, reason: str | None) -> None:
    refused = document_refusal(document, "c-1")
    assert (refused.reason if refused else None) == reason
    assert refused is None or not refused.retry
