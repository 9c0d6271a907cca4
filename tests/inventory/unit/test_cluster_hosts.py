# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From clusters to hosts."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.cluster_hosts import (
    host_names,
    host_variables,
    inventory_value,
)


def cluster(**values: Any) -> dict[str, Any]:
    known = {"id": "cls-1", "name": "shop-1", "generation": 2, "labels": {}, "spec": {}}
    return {**known, "conditions": {}, "statuses": {}, **values}


def placement(namespace: Any, *, current: bool = True) -> dict[str, Any]:
    status = {
        "current": current,
        "conditions": {},
        "data": {"namespace": namespace, "managementCluster": "m-1"},
    }
    return {"placement": status}


@pytest.mark.parametrize(
    ("values", "namespace", "placed", "management_cluster"),
    [
        ({"statuses": placement("placed")}, "clusters-{id}", "placed", "m-1"),
        ({}, "clusters-{id}", "clusters-cls-1", ""),
        ({}, "clusters-{name}", "clusters-shop-1", ""),
    ],
)
def test_the_management_namespace(
    values: dict[str, Any], namespace: str, placed: str, management_cluster: str
) -> None:
    variables = host_variables(cluster(**values), namespace)
    assert variables["hyperfleet_cluster"]["management_namespace"] == placed
    assert variables["hyperfleet_management_cluster"] == management_cluster


@pytest.mark.parametrize(
    ("values", "namespace", "problem"),
    [
        ({}, None, "has not reported a management namespace"),
        ({"statuses": placement(["no", "text"])}, "clusters-{id}", "has not reported a management namespace"),
        # It is perhaps elsewhere by now.
        ({"statuses": placement("placed", current=False)}, "clusters-{id}", "has not reported"),
        ({"statuses": placement("No_Namespace")}, None, "the management namespace"),
        ({"spec": {"gcp": {"projectID": "p-1"}}}, "clusters-{id}", "spec.gcp.projectID"),
    ],
)
def test_a_wrong_cluster_has_a_problem(values: dict[str, Any], namespace: str | None, problem: str) -> None:
    target = host_variables(cluster(**values), namespace)["hyperfleet_cluster"]
    assert target.keys() == {"cluster_id", "problem"}
    assert problem in target["problem"]


@pytest.mark.parametrize(
    ("spec", "place"),
    [
        ({"provider": "gcp", "region": "us-east1"}, ("gcp", "us-east1")),
        ({"aws": {"region": "eu-west-1"}}, ("aws", "eu-west-1")),
        ({"gcp": "text"}, ("gcp", "")),
        ({"provider": 7}, ("", "")),
    ],
)
def test_provider_and_region(spec: dict[str, Any], place: tuple[str, str]) -> None:
    variables = host_variables(cluster(spec=spec), None)
    assert (variables["hyperfleet_provider"], variables["hyperfleet_region"]) == place


def test_host_names() -> None:
    first, second = cluster(), cluster(id="cls-2")
    assert host_names([first, second], "id") == ["cls-1", "cls-2"]
    with pytest.raises(ValueError, match="clusters cls-1 and cls-2 have the name shop-1; use hostname: id"):
        host_names([first, second], "name")
    with pytest.raises(ValueError, match="cluster cls-1 has no name"):
        host_names([cluster(name=None)], "name")


def is_evaluated(value: Any) -> bool:
    try:
        from ansible.template import is_trusted_as_template
    except ImportError:  # ansible-core 2.18
        from ansible.utils.unsafe_proxy import AnsibleUnsafe

        return not isinstance(value, AnsibleUnsafe)
    return bool(is_trusted_as_template(value))


@pytest.mark.parametrize("text", ["{{ 6 * 7 }}", "lookup('pipe', 'echo x') == 'x'", "a\n"])
def test_no_value_is_evaluated(text: str) -> None:
    """A condition such as ``when: "{{ variable }}"`` evaluates more than templates."""
    value = inventory_value({"a": [text, "us-east1"]})
    assert value == {"a": [text, "us-east1"]}
    assert [is_evaluated(part) for part in value["a"]] == [False, True]
    assert Templar(loader=DataLoader(), variables={}).template(value["a"][0]) == text
