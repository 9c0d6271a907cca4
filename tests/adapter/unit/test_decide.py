# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the adapter decides to do for a cluster."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.statuses import (
    AdapterStatus,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.config.parts import (
    PlacementSettings,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.engine.decide import (
    Apply,
    Refuse,
    Remove,
    UnmetPreconditions,
    decide,
    removal_by_jobs,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.engine.last_status import (
    ManagementSecretName,
)

NO_NAMESPACE = "the placement adapter has not reported a namespace for the cluster's current generation"
AUTH = base64.b64encode(b"user:example-password-one").decode()
GOOD = json.dumps({"auths": {"quay.io": {"auth": AUTH}}})


def cluster(**changes: Any) -> dict[str, Any]:
    spec = {"provider": "gcp", "gcp": {"projectId": "customer-1"}, "pullSecret": {"data": GOOD}}
    return {"id": "cls-1", "name": "one", "generation": 2, "spec": spec, **changes}


def status(adapter: str, generation: int = 2, **data: Any) -> AdapterStatus:
    return AdapterStatus(adapter, generation, {}, data)


PLACED = {"placement": status("placement", namespace="clusters-cls-1")}


NEITHER = "replicationPolicy must be automatic or user-managed:LOCATION,LOCATION"


def test_an_order_takes_the_projects_and_placements_names() -> None:
    found = decide(cluster(), PLACED, list, traceparent="00-a")
    assert isinstance(found, Apply)
    order = found.order
    assert (order.cluster_id, order.cluster_name, order.generation) == ("cls-1", "one", 2)
    assert (order.project, order.namespace) == ("customer-1", "clusters-cls-1")
    assert (order.cluster.replication_text, order.traceparent) == ("automatic", "00-a")
    assert found.document == GOOD.encode()
    assert AUTH not in repr(found)


def test_a_namespace_that_is_not_allowed_is_refused_by_its_rule() -> None:
    found = decide(cluster(), PLACED, list, placement=PlacementSettings(("clusters-cls-2", "mgmt-*")))
    assert found == Refuse(
        "NamespaceNotAllowed",
        "placement's namespace 'clusters-cls-1' is not in spec.placement.allowedNamespaces",
    )
    for allowed in (None, ("clusters-*",), ("mgmt", "clusters-cls-1"), ("*",)):
        assert isinstance(decide(cluster(), PLACED, list, placement=PlacementSettings(allowed)), Apply)
    # A removal is allowed in every namespace.
    leaving = decide(
        cluster(deleted_time="2026-01-01T00:00:00Z"), PLACED, list, placement=PlacementSettings(())
    )
    assert isinstance(leaving, Remove)
    assert leaving.placed == (ManagementSecretName("clusters-cls-1", "cls-1-pull-secret"),)


WORKS_IN = "and this adapter works only in 'mgmt-1' (spec.placement.managementCluster)"
UNNAMED = f"the placement adapter has not reported a management cluster, {WORKS_IN}"


@pytest.mark.parametrize(
    ("name", "reason", "elsewhere"),
    [
        ("mgmt-2", f"placement names the management cluster 'mgmt-2', {WORKS_IN}", True),
        ("MGMT-1", f"placement names the management cluster 'MGMT-1', {WORKS_IN}", True),
        ('{"auths": 1}', f"placement names the management cluster '(not shown)', {WORKS_IN}", True),
        (None, UNNAMED, False),
        ("", UNNAMED, False),
        (["mgmt-1"], UNNAMED, False),
    ],
)
def test_another_management_cluster_is_an_unmet_precondition(name: Any, reason: str, elsewhere: bool) -> None:
    statuses = {"placement": status("placement", namespace="clusters-cls-1", managementCluster=name)}
    own = PlacementSettings(management_cluster="mgmt-1")
    assert decide(cluster(), statuses, list, placement=own) == UnmetPreconditions((reason,), elsewhere)
    assert isinstance(decide(cluster(), statuses, list), Apply), "no name is configured"
    assert isinstance(
        decide(cluster(deleted_time="2026-01-01T00:00:00Z"), statuses, list, placement=own), Remove
    )
    statuses["placement"].data["managementCluster"] = "mgmt-1"  # type: ignore[index]
    assert isinstance(decide(cluster(), statuses, list, placement=own), Apply)
    # What placement said about an earlier generation does not count.
    waiting = decide(cluster(generation=3), statuses, list, placement=own)
    assert waiting == UnmetPreconditions((NO_NAMESPACE,))


@pytest.mark.parametrize("name", ["a\0b", "x" * 100_000, "a\nb", 7, {"x": "y"}])
def test_a_name_that_no_variable_can_hold_is_refused(name: Any) -> None:
    found = decide(cluster(name=name), PLACED, list)
    assert isinstance(found, Refuse)
    assert found.reason == "InvalidClusterSpec"
    assert found.message == "the cluster's name must be a string of at most 253 printable characters"


@pytest.mark.parametrize(
    ("changes", "made"),
    [
        ({}, True),
        ({"GCP_PROJECT_ID": "../x", "MANAGEMENT_NAMESPACE": "a/b"}, False),
        ({"SECRET_NAME": "a/b", "K8S_SECRET_NAME": "../b"}, False),
        ({"GCP_PROJECT_ID": "", "MANAGEMENT_NAMESPACE": ""}, False),
    ],
)
def test_a_jobs_environment_names_places_or_none(changes: dict[str, str], made: bool) -> None:
    environment = {
        "GCP_PROJECT_ID": "customer-1",
        "SECRET_NAME": "hyperfleet-cls-1-pull-secret",
        "MANAGEMENT_NAMESPACE": "clusters-cls-1",
        "K8S_SECRET_NAME": "cls-1-pull-secret",
        **changes,
    }
    found = removal_by_jobs([environment, environment, {}])
    assert (found.made, len(found.secrets), len(found.placed)) == (made, int(made), int(made))


@pytest.mark.parametrize(
    ("gcp", "said"),
    [
        (
            {"replicationPolicy": {"userManaged": {"replicas": []}}},
            f"{NEITHER} (it is a mapping with userManaged)",
        ),
        ({"replicationPolicy": {}}, f"{NEITHER} (it is an empty mapping)"),
        ({"replicationPolicy": ["us-east1"]}, f"{NEITHER} (it is not a string)"),
        ({"replicationPolicy": False}, f"{NEITHER} (it is not a string)"),
        ({"replicationPolicy": 7}, f"{NEITHER} (it is not a string)"),
        (
            {"replication_policy": {"automatic": {}}},
            "replication_policy must be automatic or user-managed:",
        ),
        (
            {"replicationPolicy": "user-managed:EU"},
            "replicationPolicy has a location twice, or one that is not",
        ),
        (
            {"replicationPolicy": "user-managed:a,a"},
            "replicationPolicy has a location twice, or one that is not",
        ),
        ({"replicationPolicy": "everywhere"}, NEITHER),
        (
            {"replicationPolicy": "automatic", "replication_policy": "user-managed:a"},
            "replicationPolicy and ",
        ),
        ({"projectId": ["customer-1"]}, "projectId must be a string or a whole number"),
        ({"projectId": True}, "projectId must be a string or a whole number"),
        (
            {"projectId": "customer-1", "project_id": "customer-2"},
            "projectId and spec.gcp.project_id are both set and differ",
        ),
        (
            {"replicationpolicy": "user-managed:europe-west1"},
            "replicationpolicy is not a known field; did you mean spec.gcp.replicationPolicy?",
        ),
        ({"projectID": "customer-2"}, "projectID is not a known field; did you mean spec.gcp.projectId?"),
    ],
)
def test_a_spec_of_another_shape_is_refused_by_its_path(gcp: dict[str, Any], said: str) -> None:
    """An unknown replication policy means neither all locations nor a precondition to wait for."""
    spec = {**cluster()["spec"], "gcp": {"projectId": "customer-1", **gcp}}
    found = decide(cluster(spec=spec), PLACED, list)
    assert isinstance(found, Refuse)
    assert found.reason == "InvalidClusterSpec"
    assert found.message.startswith(f"spec.gcp.{said}")
    # Unmet preconditions take precedence over a refusal, and a deletion over both.
    waiting = decide(cluster(spec=spec), {}, list)
    assert isinstance(waiting, UnmetPreconditions)
    assert waiting.reasons == (NO_NAMESPACE, found.message)
    leaving = decide(cluster(spec=spec, deleted_time="2026-01-01T00:00:00Z"), PLACED, list)
    assert isinstance(leaving, Remove)
    # The project alone names the secret, even if other fields are invalid.
    known = "projectId" not in gcp
    assert leaving.secrets == (("projects/customer-1/secrets/hyperfleet-cls-1-pull-secret",) if known else ())


@pytest.mark.parametrize("spec", ["text", ["gcp"], 7])
def test_a_spec_that_is_no_mapping_is_refused(spec: Any) -> None:
    given = {**cluster()["spec"], "gcp": spec}
    assert decide(cluster(spec=given), PLACED, list) == Refuse(
        "InvalidClusterSpec", "spec.gcp must be a mapping"
    )


@pytest.mark.parametrize("policy", [None, "", "automatic", " automatic "])
def test_without_a_policy_google_chooses_the_locations(policy: Any) -> None:
    """The text is unchanged, so an upgrade creates no new Job."""
    spec = {**cluster()["spec"], "gcp": {"projectId": 123456, "replicationPolicy": policy}}
    found = decide(cluster(spec=spec), PLACED, list)
    assert isinstance(found, Apply)
    assert (found.order.project, found.order.cluster.replication_text) == ("123456", policy or "automatic")


def test_a_snake_case_spec_is_the_same() -> None:
    spec = {
        "gcp": {"project_id": "customer-1", "replication_policy": "user-managed:europe-west1"},
        "pull_secret": {"data": GOOD},
    }
    found = decide(cluster(spec=spec), PLACED, list)
    assert isinstance(found, Apply)
    ordered = found.order.cluster
    assert (ordered.gcp_project_id, ordered.replication_text) == ("customer-1", "user-managed:europe-west1")


@pytest.mark.parametrize(
    ("changes", "statuses", "lacks", "reasons"),
    [
        ({}, {}, [], (NO_NAMESPACE,)),
        (
            {},
            {"placement": status("placement", 1, namespace="n")},
            [],
            (NO_NAMESPACE,),
        ),
        (
            {},
            {"placement": status("placement", namespace=7)},
            [],
            (NO_NAMESPACE,),
        ),
        ({}, PLACED, ["dns is not there"], ("dns is not there",)),
        (
            {"spec": {}},
            {},
            ["x"],
            (
                "x",
                "cluster has no spec.gcp.projectId",
                NO_NAMESPACE,
                "cluster has no spec.pullSecret.data",
            ),
        ),
        (
            {"spec": None},
            PLACED,
            [],
            ("cluster has no spec.gcp.projectId", "cluster has no spec.pullSecret.data"),
        ),
    ],
)
def test_what_is_missing_is_waited_for(
    changes: dict[str, Any], statuses: dict[str, AdapterStatus], lacks: list[str], reasons: tuple[str, ...]
) -> None:
    assert decide(cluster(**changes), statuses, lambda: lacks) == UnmetPreconditions(reasons)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ('{"auths": {"quay.io": {"auth": "%%example-value%%"}}}', "quay.io"),
        ('{"auths": {"quay.io": {}}}', "quay.io"),
        ("not json: example-value", "spec.pullSecret.data"),
        (["example-value"], "must be a string or an object"),
    ],
)
def test_a_wrong_pull_secret_is_refused_by_registry_and_rule(data: Any, said: str) -> None:
    spec = {"gcp": {"projectId": "customer-1"}, "pullSecret": {"data": data}}
    found = decide(cluster(spec=spec), PLACED, list)
    assert isinstance(found, Refuse)
    assert found.reason == "InvalidPullSecret"
    assert said in found.message
    assert "example-value" not in found.message


@pytest.mark.parametrize("name", ["pullSecret", "pull_secret"])
@pytest.mark.parametrize("held", ["example-value", ["example-value"], [], 7, False], ids=repr)
def test_a_pull_secret_that_is_no_mapping_is_refused_and_not_waited_for(name: str, held: Any) -> None:
    spec = {"gcp": {"projectId": "customer-1"}, name: held}
    found = decide(cluster(spec=spec), PLACED, list)
    assert found == Refuse(
        "InvalidPullSecret", f"cluster cls-1: spec.{name} must be a mapping", "invalid_document"
    )


def test_a_misspelt_pull_secret_is_refused_and_not_waited_for() -> None:
    spec = {"gcp": {"projectId": "customer-1"}, "pullSecret": {"Data": GOOD}}
    said = "spec.pullSecret.Data is not a known field; did you mean spec.pullSecret.data?"
    assert decide(cluster(spec=spec), PLACED, list) == Refuse(
        "InvalidPullSecret", f"cluster cls-1: {said}", "invalid_document"
    )


def test_a_spec_of_another_type_is_refused_and_not_waited_for() -> None:
    found = decide(cluster(spec="example-value"), PLACED, list)
    assert found == Refuse("InvalidPullSecret", "cluster cls-1: spec must be a mapping", "invalid_document")


@pytest.mark.parametrize("held", [None, "", {}, {"data": None}, {"data": ""}], ids=repr)
def test_an_empty_pull_secret_is_waited_for(held: Any) -> None:
    spec = {"gcp": {"projectId": "customer-1"}, "pullSecret": held}
    assert decide(cluster(spec=spec), PLACED, list) == UnmetPreconditions(
        ("cluster has no spec.pullSecret.data",)
    )


@pytest.mark.parametrize(
    ("changes", "statuses"),
    [
        ({"id": "CLS_1"}, PLACED),
        ({"spec": {"gcp": {"projectId": "No Project"}, "pullSecret": {"data": GOOD}}}, PLACED),
        ({}, {"placement": status("placement", namespace="No_Namespace")}),
    ],
)
def test_a_name_that_can_be_none_is_refused(
    changes: dict[str, Any], statuses: dict[str, AdapterStatus]
) -> None:
    found = decide(cluster(**changes), statuses, list)
    assert isinstance(found, Refuse)
    assert found.reason == "InvalidClusterSpec"


def test_a_deleted_cluster_needs_no_preconditions() -> None:
    def asked() -> list[str]:
        raise AssertionError

    found = decide(cluster(deleted_time="2026-01-01T00:00:00Z"), PLACED, asked)
    assert found == Remove(
        ("projects/customer-1/secrets/hyperfleet-cls-1-pull-secret",),
        (ManagementSecretName("clusters-cls-1", "cls-1-pull-secret"),),
        False,
    )


def test_a_secret_in_a_project_with_a_long_domain_is_removed() -> None:
    """The secret's path comes from the spec, and is longer than a status may contain."""
    project = f"{'a-domain.' * 40}example:project-12345"
    found = decide(cluster(deleted_time="x", spec={"gcp": {"projectId": project}}), {}, list)
    assert isinstance(found, Remove)
    assert found.secrets == (f"projects/{project}/secrets/hyperfleet-cls-1-pull-secret",)
    said = status("pullsecret", gcp_secret=found.secrets[0])
    again = decide({"id": "cls-1", "deleted_time": "x"}, {}, list, own=said)
    assert isinstance(again, Remove)
    assert again.secrets == ()


def test_a_removal_uses_the_last_status_and_the_current_placement() -> None:
    own = status(
        "pullsecret",
        1,
        gcp_secret="projects/earlier-1/secrets/hyperfleet-cls-1-pull-secret",
        management_secret={"namespace": "earlier", "name": "cls-1-pull-secret"},
        earlier=["projects/first-1/secrets/s", {"namespace": "first", "name": "n"}, {"namespace": "a/b"}, 3],
    )
    stale = {"placement": status("placement", 1, namespace="later")}
    found = decide(cluster(deleted_time="x"), stale, list, own=own)
    name = "hyperfleet-cls-1-pull-secret"
    assert found == Remove(
        (
            f"projects/earlier-1/secrets/{name}",
            "projects/first-1/secrets/s",
            f"projects/customer-1/secrets/{name}",
        ),
        (
            ManagementSecretName("earlier", "cls-1-pull-secret"),
            ManagementSecretName("first", "n"),
            ManagementSecretName("later", "cls-1-pull-secret"),
        ),
        True,
    )


@pytest.mark.parametrize(
    "data",
    [
        {"gcp_secret": "projects/p/../secrets/s"},
        {"gcp_secret": 3},
        {"management_secret": {"namespace": "a/b", "name": "c"}},
        {"management_secret": {"namespace": "a", "name": "../c"}},
        {"management_secret": "a"},
    ],
)
def test_names_in_a_status_that_can_be_none_are_not_gone_by(data: dict[str, Any]) -> None:
    found = decide({"id": "cls-1", "deleted_time": "x"}, {}, list, own=status("pullsecret", **data))
    assert found == Remove((), (), False)


@pytest.mark.parametrize(
    "text",
    [
        "CanaryPassw0rd78",
        base64.b64encode(b"robot:CanaryPassw0rd78\n").decode(),
        base64.b64encode("robot:CanäryPassw0rd78".encode("latin-1")).decode(),
        base64.b64encode(b"_json_key:{\n  \"private_key\": \"Canary\"\n}").decode(),
        "dXNlcjpwdw==",
        "robot:canarypassw0rd",
    ],
)  # fmt: skip
@pytest.mark.parametrize("where", ["project", "namespace", "name"])
def test_a_credential_in_the_place_of_a_name_is_in_no_status(where: str, text: str) -> None:
    """The message of a refusal goes into a status of the API and into the adapter's log."""
    changed, placed = cluster(), PLACED
    if where == "project":
        changed["spec"]["gcp"]["projectId"] = text
    elif where == "namespace":
        placed = {"placement": status("placement", namespace=text)}
    else:
        changed["name"] = text
    found = decide(changed, placed, list)
    if where == "name" and "passw0rd" in text.lower():
        # This is a valid name of a cluster.
        assert isinstance(found, Apply)
        return
    assert isinstance(found, Refuse)
    assert found.reason == "InvalidClusterSpec"
    assert text not in found.message
    assert "must be" in found.message or "is not allowed here" in found.message
