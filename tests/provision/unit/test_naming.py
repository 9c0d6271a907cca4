# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names, labels and annotations of the job contract, and the owner of an object."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model import naming
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import (
    gcp_pull_secret,
    k8s_pull_secret,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.provision import place, store


def test_names() -> None:
    assert naming.gcp_secret_id("cls-123") == "hyperfleet-cls-123-pull-secret"
    assert naming.kubernetes_secret_name("cls-123") == "cls-123-pull-secret"


@pytest.mark.parametrize("cluster_id", ["a", "cls-123", "0", "a" * 63])
def test_cluster_ids(cluster_id: str) -> None:
    assert naming.check_cluster_id(cluster_id) == cluster_id


@pytest.mark.parametrize("cluster_id", ["", "-a", "a-", "A", "a_b", "a/b", "a.b", "a" * 64, "a\n", "é"])
def test_what_is_no_cluster_id(cluster_id: str) -> None:
    with pytest.raises(ConfigurationError, match=r"is empty$|lower case letters, digits and dashes"):
        naming.gcp_secret_id(cluster_id)


def test_labels() -> None:
    assert naming.gcp_labels("cls-123", "Production Cluster") == {
        "managed-by": "hyperfleet",
        "adapter": "pullsecret",
        "resource-type": "pull-secret",
        "hyperfleet-version": "v1",
        "cluster-id": "cls-123",
        "cluster-name": "production-cluster",
    }
    assert naming.kubernetes_labels("cls-123", "Production Cluster") == {
        "managed-by": "hyperfleet",
        "adapter": "pullsecret",
        "hyperfleet-version": "v1",
        "cluster-id": "cls-123",
        "cluster-name": "Production-Cluster",
    }
    assert "cluster-id" not in naming.gcp_labels(None, None)
    assert "cluster-name" not in naming.kubernetes_labels(None, "---")


def test_annotations() -> None:
    assert naming.kubernetes_annotations("projects/p/secrets/s") == {
        "hyperfleet.io/created-by": "pullsecret-adapter",
        "hyperfleet.io/gcp-secret-path": "projects/p/secrets/s",
    }
    assert "hyperfleet.io/gcp-secret-path" not in naming.kubernetes_annotations(None)


@given(st.text(min_size=1))
def test_any_cluster_name_becomes_a_label_that_both_services_take(name: str) -> None:
    gcp = naming.gcp_labels("c", name)["cluster-name"]
    assert re.fullmatch(r"[a-z0-9_-]{1,63}", gcp)
    kubernetes = naming.kubernetes_labels("c", name).get("cluster-name", "none")
    assert re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?", kubernetes)


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        ({"managed-by": "hyperfleet", "cluster-id": "c"}, None),
        ({}, "has no label managed-by=hyperfleet"),
        ({"cluster-id": "c"}, "has no label managed-by=hyperfleet"),
        ({"managed-by": "Hyperfleet", "cluster-id": "c"}, "is managed by Hyperfleet"),
        ({"managed-by": "hyperfleet", "cluster-id": "d"}, "belongs to cluster d"),
        ({"managed-by": "hyperfleet"}, "has no label cluster-id"),
    ],
)
def test_whose_an_object_is(labels: dict[str, str], problem: str | None) -> None:
    assert naming.owner_problem(labels, "c") == problem


def test_without_a_cluster_the_manager_decides() -> None:
    assert naming.owner_problem({"managed-by": "hyperfleet", "cluster-id": "d"}, None) is None
    assert naming.owner_problem({"cluster-id": "d"}, None) is not None


def test_yamls_values_become_text() -> None:
    given = {"yes": True, "no": False, "number": 3, "empty": "", "word": "None"}
    made = {"yes": "true", "no": "false", "number": "3", "empty": "", "word": "None"}
    assert naming.texts("labels", given) == made
    assert naming.texts("labels", None) == {}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"n": None}, "annotations.n has no value"),
        ({"a": {"b": "c"}}, "annotations.a must be a string, a number or a boolean"),
        ({"a": ["b"]}, "annotations.a must be a string, a number or a boolean"),
        ({"example.com/a": []}, "annotations.example.com/a must be a string, a number or a boolean"),
        ({True: "b"}, "annotations has a key that is neither a string nor a number"),
        ({None: "b"}, "annotations has a key that is neither a string nor a number"),
        ({1: "a", "1": "b"}, "annotations.1 is given twice"),
    ],
)
def test_what_has_no_text_of_its_own_is_refused_by_its_name(given: Any, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        naming.texts("annotations", given)
    assert str(caught.value) == said


def test_a_key_that_may_be_a_secret_is_not_told() -> None:
    with pytest.raises(ConfigurationError) as caught:
        naming.texts("labels", {'{"auths": {}}': None})
    assert str(caught.value) == "labels.(not shown) has no value"


_PASSWORD = "CanaryPassw0rd78"


def _refused(build: Callable[[dict[str, Any]], object], wanted: dict[str, Any], wrong: dict[str, Any]) -> str:
    with pytest.raises(ConfigurationError) as caught:
        build({"state": "present", **wanted, **wrong})
    return str(caught.value)


@pytest.mark.parametrize(
    ("option", "wrong"),
    [
        ("project", {"project": _PASSWORD}),
        ("project", {"project": f"robot:{_PASSWORD.lower()}"}),
        ("project", {"project": "dXNlcjpwdw=="}),
        ("secret", {"secret": "dXNlcjpwYXNzd29yZA"}),
        ("secret", {"secret": f"robot:{_PASSWORD}"}),
        ("cluster_id", {"secret": None, "cluster_id": _PASSWORD}),
        ("label 1", {"labels": {f"{_PASSWORD}.": "x"}}),
        ("label 'a'", {"labels": {"a": f"{_PASSWORD}."}}),
        ("annotation 1", {"annotations": {f"{_PASSWORD}.": "x"}}),
        ("locations[0]", {"replication": "user_managed", "locations": [_PASSWORD]}),
        ("location_kms_keys", {"replication": "user_managed", "locations": ["a1"],
                               "location_kms_keys": {_PASSWORD: "x"}}),
        ("kms_key", {"kms_key": f"projects/p/locations/global/keyRings/r/cryptoKeys/robot:{_PASSWORD}"}),
    ],
)  # fmt: skip
def test_a_value_that_breaks_a_rule_of_secret_manager_is_not_quoted(
    option: str, wrong: dict[str, Any]
) -> None:
    base = {"project": "project-1", "secret": "s", "source": {"env": "X"}}
    said = _refused(store.build_target, base, wrong)
    assert said.startswith(option)
    assert not re.search("canary|dXNl", said, re.IGNORECASE)
    target = gcp_pull_secret.targets_of({**base, **wrong, "state": "present"})[0]
    assert "canary" not in f"{target.id} {store.printable_place(target.options)}".lower()


@pytest.mark.parametrize(
    ("option", "wrong"),
    [
        ("namespace", {"namespace": _PASSWORD}),
        ("name", {"name": _PASSWORD}),
        ("cluster_id", {"name": None, "cluster_id": _PASSWORD}),
        ("gcp_secret_path", {"gcp_secret_path": f"robot:{_PASSWORD}"}),
        ("service_accounts[0]", {"service_accounts": [_PASSWORD]}),
        ("label 1", {"labels": {f"{_PASSWORD}.": "x"}}),
        ("label 'a'", {"labels": {"a": f"{_PASSWORD}."}}),
        ("annotation 1", {"annotations": {f"{_PASSWORD}.": "x"}}),
    ],
)
def test_a_value_that_breaks_a_rule_of_kubernetes_is_not_quoted(option: str, wrong: dict[str, Any]) -> None:
    base = {"namespace": "n", "name": "s", "source": {"env": "X"}}
    said = _refused(place.build_target, base, wrong)
    assert said.startswith(option)
    assert "canary" not in said.lower()
    target = k8s_pull_secret.targets_of({**base, **wrong, "state": "present"})[0]
    assert "canary" not in f"{target.id} {place._place(target)}".lower()


@pytest.mark.parametrize(
    "project", ["p", "-project", "project-", "1project", "project.1", ".", "a:b", "1" * 21, _PASSWORD]
)
def test_the_path_in_secret_manager_takes_what_is_a_project_elsewhere(project: str) -> None:
    base = {"namespace": "n", "name": "s", "source": {"env": "X"}}
    for version in ("", "/versions/3", "/versions/latest"):
        wrong = {"gcp_secret_path": f"projects/{project}/secrets/s{version}"}
        assert _refused(place.build_target, base, wrong).startswith("gcp_secret_path must be projects/P")
        path = f"projects/project-1/secrets/s{version}"
        target = place.build_target({**base, "state": "present", "gcp_secret_path": path})
        assert target.gcp_secret_path == path


@pytest.mark.parametrize("project", ["project-1", "example.com:project-1", "123456789012", "a23456"])
def test_projects(project: str) -> None:
    assert naming.check_name("project", project) == project


def test_an_owner_is_not_quoted_where_it_is_no_name() -> None:
    text = "dXNlcjpwYXNzd29yZA"
    assert text not in str(naming.owner_problem({"managed-by": text}, None))
    assert text not in str(naming.owner_problem({"managed-by": "hyperfleet", "cluster-id": text}, "cls-1"))
