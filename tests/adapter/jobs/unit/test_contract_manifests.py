# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Secret and Job match the adapter contract and the job contract; the page *adapter_jobs* lists further fields.

The contracts contain no manifest. Their text, tables and YAML fragments are combined here, with references:
002 is the document of the adapter contract, 003 the one of the job contract.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.config.config import (
    parse_adapter_config,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.jobs import (
    manifests,
    marks,
)
from tests.support import doc_tables
from tests.support.adapter_jobs.documents import SEED_EXAMPLE
from tests.support.adapter_jobs.world import order

PAGE = doc_tables.page("adapter_jobs")
DOCUMENT = b'{"auths": {"quay.io": {"auth": "dXNlcjpwYXNzd29yZA==", "email": "user@example.com"}}}'

# 002 "Phase 3", 8; 003 "Resource Creation", 7: its data is "Pull secret JSON from cluster spec".
SECRET = yaml.safe_load("""
apiVersion: v1
kind: Secret
metadata:
  name: cluster-cls-abc123-pullsecret-data
""")
JOB = yaml.safe_load("""
apiVersion: batch/v1
kind: Job
metadata:
  name: pullsecret-cls-abc123-gen1                      # 002 "Phase 3", 9; 003 "Resource Creation", 8
spec:
  template:
    spec:
      serviceAccountName: pullsecret-adapter-job        # the same
      containers:
        - image: quay.io/hyperfleet/validation-job:v1.0.0    # 002 "Configuration", jobTemplate
          resources:                                    # the same, and 003 "Resource Requirements"
            requests:
              cpu: 100m
              memory: 128Mi
            limits:
              cpu: 500m
              memory: 512Mi
          securityContext:                              # 003 "Security Context"
            allowPrivilegeEscalation: false
            runAsNonRoot: true
            runAsUser: 1000
            capabilities:
              drop:
              - ALL
            readOnlyRootFilesystem: true
          env:                                          # 003 "Environment Variables", by example
            CLUSTER_ID: cls-abc123
            CLUSTER_NAME: production-cluster
            GCP_PROJECT_ID: customer-prod-12345
            SECRET_NAME: hyperfleet-cls-abc123-pull-secret
            MANAGEMENT_NAMESPACE: clusters-cls-abc123
            REPLICATION_POLICY: automatic
            LOG_LEVEL: info
            LOG_FORMAT: json
            GCP_API_TIMEOUT: 30s
            PULL_SECRET_DATA:                           # its source: "Kubernetes Secret"
              secretKeyRef:
                name: cluster-cls-abc123-pullsecret-data
""")


def fields(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each leaf with its path; variables of ``env`` by name."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from fields(item, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and path.endswith(".env"):
        variables = {item["name"]: item.get("value", item.get("valueFrom")) for item in value}
        yield from fields(variables, path)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for item in value if len(value) == 1 else [{str(n): item} for n, item in enumerate(value)]:
            yield from fields(item, path)
    else:
        yield path, value


@pytest.fixture(scope="module")
def made() -> tuple[dict[str, Any], dict[str, Any]]:
    """The Secret and the Job for the configuration in the adapter contract."""
    config = parse_adapter_config(yaml.safe_load(SEED_EXAMPLE))
    wanted = order(
        cluster_id="cls-abc123",
        cluster_name="production-cluster",
        project="customer-prod-12345",
        namespace="clusters-cls-abc123",
        traceparent="00-" + "a" * 32 + "-" + "b" * 16 + "-01",
    )
    secret = manifests.data_secret(wanted, DOCUMENT, "pullsecret")
    spec = manifests.job_spec(wanted, config.job, "pullsecret")
    content = marks.content_digest(wanted, DOCUMENT, b"k" * 32)
    return secret, manifests.job(wanted, config.job, "pullsecret", spec=spec, content=content, data_uid="u")


def documented(kind: str) -> set[str]:
    """The fields of a kind that the page's table lists in addition."""
    rows = [row for row in doc_tables.table(PAGE, "object", "fields", "why") if row[0] == kind]
    assert all(len(why) > 10 for _kind, _fields, why in rows)
    return {name for _kind, cell, _why in rows for name in doc_tables.literals(cell)}


def test_the_namespace_is_the_one_in_the_contract() -> None:
    assert parse_adapter_config(yaml.safe_load(SEED_EXAMPLE)).namespace == "hyperfleet-system"


@pytest.mark.parametrize(("kind", "seed"), [("Secret", SECRET), ("Job", JOB)])
def test_each_field_of_the_contract_is_in_the_manifest(kind: str, seed: Any, made: Any) -> None:
    ours = dict(fields(made[("Secret", "Job").index(kind)]))
    wanted = dict(fields(seed))
    assert {path: ours.get(path) for path in wanted} == wanted


@pytest.mark.parametrize(("kind", "seed"), [("Secret", SECRET), ("Job", JOB)])
def test_each_further_field_is_on_the_page_with_its_reason(kind: str, seed: Any, made: Any) -> None:
    besides = dict(fields(made[("Secret", "Job").index(kind)])).keys() - dict(fields(seed)).keys()
    told = documented(kind)
    assert len(told) > 2
    untold = {
        path for path in besides if not any(path == name or path.startswith(f"{name}.") for name in told)
    }
    assert untold == set()
    unmade = {
        name for name in told if not any(path == name or path.startswith(f"{name}.") for path in besides)
    }
    assert unmade == set()


def test_the_secret_holds_what_the_cluster_s_spec_does(made: Any) -> None:
    secret, job = made
    (key,) = secret["data"]
    assert base64.b64decode(secret["data"][key]) == DOCUMENT
    env = job["spec"]["template"]["spec"]["containers"][0]["env"]
    (reference,) = [item["valueFrom"]["secretKeyRef"] for item in env if "valueFrom" in item]
    assert reference == {"name": secret["metadata"]["name"], "key": key}
