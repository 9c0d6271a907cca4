# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A misspelt key of a cluster's spec is refused; other fields of the API are accepted."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.cluster_document import (
    pull_secret_of,
    read_spec,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    ConfigurationError,
    InvalidDocument,
)

RECORDED = Path(__file__).parents[1] / "hyperfleet-api.jsonl"
POLICY = "user-managed:europe-west1"
_PROJECT, _REPLICATION = "spec.gcp.projectId", "spec.gcp.replicationPolicy"
_PULL_SECRET, _DATA = "spec.pullSecret", "spec.pullSecret.data"
_CANARY = "CanaryPassw0rd"


def document(path: str = "", value: Any = None) -> dict[str, Any]:
    """A cluster of the API with one additional value."""
    found: dict[str, Any] = {
        "kind": "Cluster",
        "id": "cls-1",
        "name": "one",
        "labels": {"replicationPolicy": "x"},
        "spec": {
            "provider": "gcp",
            "region": "us-east1",
            "gcp": {"projectId": "customer-1", "region": "us-east1"},
            "pullSecret": {"data": "{}"},
        },
    }
    mapping = found
    *above, name = path.split("/")
    for one in above:
        mapping = mapping.setdefault(one, {})
    if name:
        mapping[name] = value
    return found


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        *(
            (f"spec/gcp/{name}", _REPLICATION)
            for name in (
                "replicationpolicy",
                "ReplicationPolicy",
                "replication-policy",
                "Replication_Policy",
                "replicationPolcy",
                "replicationPolicies",
                "replication_policies",
            )
        ),
        ("replicationPolicy", _REPLICATION),
        ("spec/replicationPolicy", _REPLICATION),
        ("spec/replication_policy", _REPLICATION),
        ("spec/pullSecret/replicationPolicy", _REPLICATION),
        ("spec/pull_secret/replicationPolicy", _REPLICATION),
        ("spec/platform/gcp/replicationPolicy", _REPLICATION),
        ("spec/gcp/secretManager/replicationPolicy", _REPLICATION),
        *((f"spec/gcp/{name}", _PROJECT) for name in ("projectID", "projectid", "project-id", "PROJECT_ID")),
        ("spec/projectId", _PROJECT),
        ("spec/pullSecret/project_id", _PROJECT),
    ],
)
def test_a_key_that_was_meant_to_be_read_is_refused_with_the_right_one(path: str, meant: str) -> None:
    where = path.replace("/", ".")
    with pytest.raises(ConfigurationError) as error:
        read_spec(document(path, POLICY))
    assert str(error.value) == f"{where} is not a known field; did you mean {meant}?"


def test_another_spelling_of_the_part_for_google_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"^spec\.GCP is not a known field; .* spec\.gcp\?"):
        read_spec(document("spec/GCP", {"replicas": "x"}))


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("spec/pullSecret/Data", _DATA),
        ("spec/pull_secret/DATA", _DATA),
        ("spec/pullsecret", _PULL_SECRET),
        ("spec/pull-secret", _PULL_SECRET),
        ("spec/gcp/pullSecret", _PULL_SECRET),
    ],
)
def test_a_misspelt_pull_secret_is_refused_and_not_shown(path: str, meant: str) -> None:
    with pytest.raises(InvalidDocument) as error:
        pull_secret_of(document(path, {"data": _CANARY}))
    where = path.replace("/", ".")
    assert str(error.value) == f"{where} is not a known field; did you mean {meant}?"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        # fields of the API's own specification
        ("spec/platform", {"type": "gcp", "gcp": {"projectID": "project-123", "region": "us-central1"}}),
        ("spec/infraID", "x"),
        ("spec/release", {"image": "x", "channelGroup": "candidate"}),
        ("spec/backup", {"retention": "30d", "data": "x", "gcp": {"bucket": "x"}, "projectId": "other"}),
        # a tenant's fields
        ("project_id", "tenant-1"),
        ("data", "x"),
        ("spec/data", "x"),
        ("spec/gcp/projectNumber", "1"),
        ("spec/gcp/projects", ["x"]),
        ("spec/gcp/replication", "x"),
        ("spec/gcp/network_policy", "x"),
        ("spec/pullSecrets", [{"data": "x"}]),
        ("spec/additionalPullSecret", {"data": "x"}),
        # empty values
        ("spec/gcp/replicationpolicy", ""),
        ("spec/replicationPolicy", None),
        # the same value twice
        ("spec/projectId", "customer-1"),
    ],
)
def test_other_fields_of_the_api_stay_allowed(path: str, value: Any) -> None:
    given = document(path, value)
    before = copy.deepcopy(given)
    assert read_spec(given).project == "customer-1"
    assert pull_secret_of(given) == (_DATA, "{}")
    assert given == before


def test_no_recorded_cluster_is_refused() -> None:
    bodies = [json.loads(line)["response_body"] for line in RECORDED.read_text().splitlines()]
    listed = [item for body in bodies if isinstance(body, dict) for item in body.get("items") or ()]
    clusters = [one for one in [*bodies, *listed] if isinstance(one, dict) and one.get("kind") == "Cluster"]
    assert len(clusters) > 10
    for one in clusters:
        read_spec(one)
        pull_secret_of(one)


def test_a_mapping_on_the_way_is_named_only_if_it_is_a_name() -> None:
    with pytest.raises(ConfigurationError) as error:
        read_spec(document("spec/a\nb/replicationPolicy", POLICY))
    assert str(error.value).startswith("spec.(not shown).replicationPolicy is not a known field")
    with pytest.raises(ConfigurationError) as error:
        read_spec(document("spec/gcp/replication\nPolicy", POLICY))
    assert str(error.value).startswith("spec.gcp.(not shown) is not a known field")
