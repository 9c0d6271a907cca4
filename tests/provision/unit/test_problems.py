# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A problem with one cluster is found before anything is written, and does not affect the others."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.problems import (
    ClusterError,
    check_cluster_list,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.provision import (
    gcp_targets,
    kubernetes_targets,
    summary_rows,
)

PASSWORD = "example-password"
AUTH = "ZXhhbXBsZS11c2VyOmV4YW1wbGUtcGFzc3dvcmQ="
PLACES = "inline, file, env, kubernetes, gcp, hyperfleet"


def cluster(number: int, **more: Any) -> dict[str, Any]:
    described = {
        "cluster_id": f"cls-{number}",
        "gcp_project_id": "customer-prod-12345",
        "management_namespace": f"clusters-cls-{number}",
        **more,
    }
    return {key: value for key, value in described.items() if value != "left out"}


def problems(*clusters: Any) -> dict[str, str]:
    return {checked.name: checked.problem for checked in check_cluster_list(clusters) if checked.problem}


WRONG: list[tuple[dict[str, Any], str]] = [
    (
        {"gcp_projectid": PASSWORD, "team": 1},
        "unknown key 'gcp_projectid' (did you mean gcp_project_id?), 't",
    ),
    (
        {"replicationPolicy": "automatic"},
        "unknown key 'replicationPolicy' (did you mean replication_policy",
    ),
    ({"gcp_project": PASSWORD}, "unknown key 'gcp_project' (did you mean gcp_project_id?)"),
    ({"namespace": PASSWORD}, "unknown key 'namespace' (did you mean management_namespace?)"),
    ({"adpot": True}, "unknown key 'adpot' (did you mean adopt?)"),
    ({"team": 1}, "unknown key 'team'; the keys are adopt, annotations, cluster_id, cluster_name, drop, "),
    ({"gcp_project_id": "left out"}, "gcp_project_id is missing"),
    ({"gcp_project_id": ""}, "gcp_project_id is missing"),
    ({"gcp_project_id": "No Project"}, "gcp_project_id must be the id or number of a"),
    ({"management_namespace": None}, "management_namespace is missing"),
    ({"management_namespace": "No_Namespace"}, "management_namespace must be at most 63 lower case"),
    ({"secret_name": "no/slashes"}, "secret_name must be 1-255 letters"),
    ({"k8s_secret_name": "Upper"}, "k8s_secret_name must be lower case"),
    ({"cluster_name": ["a"]}, "cluster_name must be a string"),
    ({"labels": PASSWORD}, "labels must be a mapping"),
    ({"labels": {"Team": "a"}}, "label 1: keys and values must be at most"),
    ({"labels": {"managed-by": "me"}}, "label 'managed-by' is reserved for this collection"),
    ({"state": PASSWORD}, "state must be one of present, absent"),
    ({"adopt": PASSWORD}, "adopt must be true or false"),
    ({"source": {}}, f"source must be a mapping with one of {PLACES}"),
    ({"source": "/etc/pull-secret.json"}, f"source must be a mapping with one of {PLACES}"),
    ({"layers": []}, "layers is empty"),
    (
        {"layers": [{"name": "a", "source": {"env": "A"}}], "source": {"env": "B"}},
        "it has both source and layers",
    ),
    ({"retention": 5}, "retention must be a mapping with keep, disable, destroy_after"),
    (
        {"retention": {"keep": 1, "destroy_after": False}},
        "retention.destroy_after must be a number of seconds from 0 to 315360000, not true or false",
    ),
    (
        {"retention": {"keep": True}},
        "retention.keep must be a number from 1 to 2147483647, not true or false",
    ),
    ({"retention": {"keep": 0}}, "retention.keep must be a number from 1 to 2147483647"),
    (
        {"replication_policy": "user_managed"},
        "replication_policy is user_managed, which needs replication_locations",
    ),
    (
        {"replication_locations": ["europe-west1"]},
        "replication_locations and location_kms_keys require replication_policy: user_managed",
    ),
    (
        {"replication_policy": "user_managed", "replication_locations": ["europe-west1", "No Location"]},
        "replication_locations[1] must be at most 63 lower case letters",
    ),
    ({"service_accounts": ["No_Account"]}, "service_accounts[0] must be lower case"),
    (
        {"source": {"file": "/etc/pull-secret.json"}, "impersonate_service_account": "no'account"},
        "impersonate_service_account is not a valid name",
    ),
    (
        {"source": {"gcp": {"project": "p", "secret": "s", "impersonate_service_account": "no'account"}}},
        "source.gcp.impersonate_service_account is not a valid name",
    ),
    ({"source": {"env": AUTH}}, "source.env: a docker config or a credential is not allowed here"),
]


@pytest.mark.parametrize(("wrong", "said"), WRONG, ids=[said for dummy, said in WRONG])
def test_one_wrong_cluster_is_named_with_key_and_rule_and_fails_alone(
    wrong: dict[str, Any], said: str
) -> None:
    clusters = [cluster(1), cluster(2, **wrong), cluster(3)]
    found = problems(*clusters)
    assert list(found) == ["cls-2"]
    assert found["cls-2"].startswith(said)
    assert PASSWORD not in found["cls-2"]
    assert AUTH not in found["cls-2"]
    assert [target["id"] for target in gcp_targets(clusters)] == ["cls-1", "cls-3"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"cluster_id": "left out"}, "cluster_id is missing"),
        ({"cluster_id": None}, "cluster_id is missing"),
        ({"cluster_id": ""}, "cluster_id is missing"),
        ({"cluster_id": 123}, "cluster_id must be a string; put a number in quotes"),
        ({"cluster_id": True}, "cluster_id must be a string"),
        ({"cluster_id": ["cls-2"]}, "cluster_id must be a string"),
        ({"cluster_id": f'{{"auth": "{AUTH}"}}'}, "cluster_id: a docker config or a credential"),
    ],
)
def test_without_a_usable_id_a_cluster_goes_by_its_position(wrong: dict[str, Any], said: str) -> None:
    clusters = [cluster(1), cluster(2, **wrong), cluster(3)]
    found = problems(*clusters)
    assert list(found) == ["cluster 2"]
    assert found["cluster 2"].startswith(said)
    assert [target["id"] for target in gcp_targets(clusters)] == ["cls-1", "cls-3"]


def test_an_id_with_wrong_letters_is_not_shown_since_it_can_be_a_password() -> None:
    assert problems(cluster(1, cluster_id="Cls 1")) == {
        "cluster 1": (
            "cluster_id must be at most 63 lower case letters, digits and dashes, "
            "with a letter or digit at both ends"
        )
    }


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ("cls-2", "a string"),
        (None, "null or an empty string"),
        (7, "a number"),
        (True, "true or false"),
        (["a"], "a list"),
    ],
)
def test_what_is_no_mapping_is_told_by_its_position(item: Any, kind: str) -> None:
    assert problems(cluster(1), item) == {"cluster 2": f"it is {kind}, not a mapping"}


@pytest.mark.parametrize(
    "fine",
    [
        {"gcp_project_id": 123456789012, "restore_version": 3},
        {"adopt": "yes", "k8s_immutable": "false", "labels": "team=a", "source": '{"env": "A"}'},
        {"retention": {"keep": "3"}, "service_accounts": "default,puller", "cluster_name": None},
        {"layers": [{"name": "a", "source": {"inline": {"auths": {"quay.io": {"auth": AUTH}}}}}]},
        {"state": "absent", "source": "", "management_context": "mgmt-2"},
    ],
)
def test_what_the_modules_take_is_no_problem(fine: dict[str, Any]) -> None:
    assert problems(cluster(1, **fine)) == {}


def test_one_id_twice_fails_both_and_names_them() -> None:
    clusters = [cluster(1), cluster(2), cluster(3, cluster_id="cls-1")]
    checked = check_cluster_list(clusters)
    said = "cls-1 is the cluster_id of clusters 1 and 3; correct it, or remove all but one of them"
    assert [item.problem for item in checked] == [said, None, said]
    assert [target["id"] for target in gcp_targets(clusters)] == ["cls-2"]


@pytest.mark.parametrize(
    ("more", "shared"),
    [
        ({"secret_name": "one"}, "Secret Manager's projects/customer-prod-12345/secrets/one"),
        (
            {"management_namespace": "ns", "k8s_secret_name": "one", "management_context": "mgmt-2"},
            "the management cluster's namespaces/ns/secrets/one (context mgmt-2)",
        ),
    ],
)
def test_one_secret_for_several_clusters_fails_them_all(more: dict[str, Any], shared: str) -> None:
    clusters = [cluster(1, **more), cluster(2), cluster(3, **more), cluster(4, **more)]
    said = f"cls-1, cls-3 and cls-4 share {shared}; give each cluster a secret of its own"
    assert problems(*clusters) == {"cls-1": said, "cls-3": said, "cls-4": said}


def test_one_name_in_two_management_clusters_is_two_secrets() -> None:
    one = {"management_namespace": "ns", "k8s_secret_name": "one"}
    assert (
        problems(cluster(1, **one, management_context="a"), cluster(2, **one, management_context="b")) == {}
    )


def test_many_that_share_one_secret_are_counted() -> None:
    found = problems(*(cluster(number, secret_name="one") for number in range(100)))
    assert len(found) == 100
    assert found["cls-0"].startswith("cls-0, cls-1, cls-2, cls-3, cls-4 and 95 more share")


def test_a_cluster_can_bring_its_problem_along() -> None:
    told = {"cluster_id": "x.json", "problem": "fleet/x.json cannot be read: Permission denied"}
    # Its file name must not clash with another cluster's id.
    clusters = [cluster(1), told, cluster(2, cluster_id="x.json")]
    assert problems(*clusters)["cluster 3"].startswith("cluster_id must be at most 63 lower case")
    assert check_cluster_list(clusters)[1].problem == told["problem"]
    assert [target["id"] for target in gcp_targets(clusters)] == ["cls-1"]


@pytest.mark.parametrize("text", [f'{{"auth": "{AUTH}"}}', 7, None])
def test_a_problem_that_is_no_sentence_is_not_shown(text: Any) -> None:
    assert problems({"cluster_id": "cls-1", "problem": text}) == {"cls-1": "(not shown)"}


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (None, "null or an empty string"),
        (5, "a number"),
        ("foo", "a string (a file of variables is given as -e @FILE)"),
        (cluster(1), "a mapping"),
        (True, "true or false"),
    ],
)
def test_what_is_no_list_is_one_error(given: Any, kind: str) -> None:
    for use in (gcp_targets, lambda it: kubernetes_targets(it, {}), lambda it: summary_rows(it, {}, {})):
        with pytest.raises(ClusterError) as caught:
            use(given)
        assert str(caught.value) == f"the clusters must be a list of mappings, not {kind}"


def test_the_report_has_a_row_for_each_problem_and_takes_no_other_clusters_result() -> None:
    clusters = [cluster(1), cluster(2, state="foo"), 7, {"cluster_id": "cls-1", "problem": "it is broken"}]
    stored = {"targets": [{"id": "cls-1", "version": "4", "changed": True}]}
    rows = summary_rows(clusters, stored, {"targets": [{"id": "cls-1"}]})
    told = [(row["cluster"], row["version"], row["changed"], row["kind"], row["reason"]) for row in rows]
    assert told == [
        ("cls-1", "4", True, None, None),
        ("cls-2", None, False, "configuration", "state must be one of present, absent"),
        ("cluster 3", None, False, "configuration", "it is a number, not a mapping"),
        ("cls-1", None, False, "configuration", "it is broken"),
    ]
    assert {row["secret_manager"] for row in rows[1:]} == {"not reached"}


def test_workflow_2_leaves_out_what_workflow_1_never_saw() -> None:
    stored = {"targets": [{"id": "cls-1", "place": "projects/p-1/secrets/s", "version": "1"}]}
    clusters = [
        cluster(1),
        cluster(2),
        7,
        {"cluster_id": ["a"]},
        {"cluster_id": "cls-1", "problem": "broken"},
    ]
    assert [target["id"] for target in kubernetes_targets(clusters, stored)] == ["cls-1"]
