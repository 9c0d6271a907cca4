# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The inventory plugin as ``ansible-inventory`` runs it, against the stand-in of the HyperFleet API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.support.processes import Ansible, Finished

PLUGIN = "hyperfleet.pull_secret.hyperfleet_clusters"
FILE = "hyperfleet_clusters.yml"
AUTH = "dXNlcjpleGFtcGxlLXBhc3N3b3Jk"
CLUSTERS = [
    {
        "id": "cls-1",
        "name": "shop-1",
        "labels": {"env": "production", "team": "shop"},
        "spec": {
            "provider": "gcp",
            "region": "us-east1",
            "gcp": {"projectId": "customer-prod-12345"},
            "pullSecret": {"data": json.dumps({"auths": {"quay.io": {"auth": AUTH}}})},
        },
    },
    {"id": "cls-2", "name": "shop-2", "labels": {"env": "test"}, "spec": {"aws": {"region": "eu-west-1"}}},
    {"id": "cls-3", "name": "gone", "labels": {"env": "test"}},
]
STATUS = {
    "adapter": "placement",
    "observed_generation": 1,
    "conditions": [
        {"type": kind, "status": "True", "reason": "Tested", "message": "reported by a test"}
        for kind in ("Applied", "Available", "Health")
    ],
    "data": {"namespace": "clusters-shop-1", "managementCluster": "us-east1-mgmt-1"},
}


@pytest.fixture
def fleet(hyperfleet: HyperFleetLab) -> HyperFleetLab:
    hyperfleet.store.seed(CLUSTERS)
    hyperfleet.store.delete("cls-3")
    code, answer = hyperfleet.ask("PUT", "/clusters/cls-1/statuses", STATUS)
    assert code == 201, answer
    return hyperfleet


class Inventory:
    """Runs ``ansible-inventory`` with a configuration."""

    def __init__(self, ansible: Ansible, fleet: HyperFleetLab) -> None:
        self._ansible = ansible
        self._path = ansible.directory / FILE
        ansible.env.update(HYPERFLEET_API_URL=fleet.url, ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED="true")

    def run(self, *flags: str, **options: Any) -> Finished:
        self._path.write_text(yaml.safe_dump({"plugin": PLUGIN, **options}))
        return self._ansible.start_command("ansible-inventory", "-i", self._path, *flags).wait()

    def read(self, **options: Any) -> tuple[dict[str, list[str]], dict[str, Any]]:
        """The hosts of each group, and the variables of each host."""
        listed = self.run("--list", **options)
        assert listed.code == 0, listed.output
        groups = json.loads(listed.stdout)
        hosts = groups.pop("_meta")["hostvars"]
        return {name: group["hosts"] for name, group in groups.items() if group.get("hosts")}, hosts


@pytest.fixture
def inventory(ansible: Ansible, fleet: HyperFleetLab) -> Inventory:
    return Inventory(ansible, fleet)


def test_each_cluster_is_a_host_without_its_pull_secret(inventory: Inventory) -> None:
    """AWX stores what this prints. ansible-core 2.19 prints a mapping for a string that is not trusted."""
    groups, hosts = inventory.read()
    assert groups == {"hyperfleet_clusters": ["cls-1", "cls-2"]}
    assert hosts["cls-1"].pop("hyperfleet_conditions")["Reconciled"] in ("True", "False")
    assert hosts["cls-1"] == {
        "hyperfleet_id": "cls-1",
        "hyperfleet_name": "shop-1",
        "hyperfleet_generation": 1,
        "hyperfleet_labels": {"env": "production", "team": "shop"},
        "hyperfleet_provider": "gcp",
        "hyperfleet_region": "us-east1",
        "hyperfleet_management_cluster": "us-east1-mgmt-1",
        "hyperfleet_adapters": {"placement": {"Applied": "True", "Available": "True", "Health": "True"}},
        "hyperfleet_spec": {
            "provider": "gcp",
            "region": "us-east1",
            "gcp": {"projectId": "customer-prod-12345"},
            "pullSecret": {},
        },
        "hyperfleet_cluster": {
            "cluster_id": "cls-1",
            "cluster_name": "shop-1",
            "gcp_project_id": "customer-prod-12345",
            "management_namespace": "clusters-shop-1",
        },
    }


def test_names_groups_filters_and_composed_variables(inventory: Inventory, fleet: HyperFleetLab) -> None:
    fleet.store.seed([{"id": "cls-4", "name": "no-labels", "spec": {"provider": "gcp"}}])
    groups, hosts = inventory.read(
        hostname="name",
        filters=["hyperfleet_labels.env | default('') == 'production' or hyperfleet_provider == 'aws'"],
        keyed_groups=[
            {"key": "hyperfleet_provider", "prefix": "provider"},
            {"key": "hyperfleet_management_cluster", "prefix": "management"},
            {"key": "hyperfleet_labels.env", "prefix": "env"},
        ],
        groups={"placed": "hyperfleet_adapters.placement.Available | default('False') == 'True'"},
        compose={"team": "hyperfleet_labels.team | default('nobody')"},
    )
    assert groups == {
        "hyperfleet_clusters": ["shop-1", "shop-2"],
        "provider_gcp": ["shop-1"],
        "provider_aws": ["shop-2"],
        "management_us_east1_mgmt_1": ["shop-1"],
        "env_production": ["shop-1"],
        "env_test": ["shop-2"],
        "placed": ["shop-1"],
    }
    assert [hosts[name]["team"] for name in ("shop-1", "shop-2")] == ["shop", "nobody"]


def test_the_api_is_read_once_while_the_cache_is_valid(
    inventory: Inventory, fleet: HyperFleetLab, tmp_path: Path
) -> None:
    directory = tmp_path / "cache"
    cache = {"cache": True, "cache_plugin": "ansible.builtin.jsonfile", "cache_connection": str(directory)}
    first = inventory.read(search="labels.env = 'production'", **cache)
    assert first[0] == {"hyperfleet_clusters": ["cls-1"]}
    calls = fleet.calls.count()
    assert calls == 2, "the search, and the cluster's statuses"
    assert inventory.read(search="labels.env = 'production'", **cache) == first
    assert fleet.calls.count() == calls
    # Another search has other clusters.
    assert inventory.read(search="labels.env = 'test'", **cache)[0] == {"hyperfleet_clusters": ["cls-2"]}
    assert AUTH not in "".join(path.read_text() for path in directory.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hyperfleet": {"url": "http://127.0.0.1:9"}, "retry": {"tries": 1}}, "127.0.0.1:9"),
        ({"hyperfleet": {"urls": "x"}}, "hyperfleet has the key 'urls', which is not allowed"),
        ({"search": "labels.env = 'prodction'"}, "no cluster is left"),
        ({"filters": ["hyperfleet_region == 'nowhere'"]}, "no cluster is left"),
        ({"filters": ["nothing_defined == 1"]}, "filters: nothing_defined == 1: "),
        ({"filters": ["hyperfleet_labels"]}, "filters: hyperfleet_labels: must be true or false"),
    ],
)
def test_an_error_is_never_an_empty_inventory(
    inventory: Inventory, options: dict[str, Any], message: str
) -> None:
    listed = inventory.run("--list", **options)
    assert listed.code != 0
    assert message in listed.output.replace("\n", " ")


def test_a_cluster_is_listed_although_another_goes_meanwhile(
    inventory: Inventory, fleet: HyperFleetLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages are by number: the clusters after a deleted one move to the page before."""
    ids = fleet.store.seed({"id": f"other-{number:03}"} for number in range(150))
    answer = fleet.answer
    pages: list[Any] = []

    def delete_after_the_first_page(request: Any) -> Any:
        result = answer(request)
        if request.path.endswith("/clusters") and not pages:
            pages.append(request)
            del fleet.store._clusters[ids[5]]
        return result

    monkeypatch.setattr(fleet, "answer", delete_after_the_first_page)
    groups, _hosts = inventory.read(statuses=False, namespace="clusters-{id}")
    assert {*ids} - {ids[5]} <= {*groups["hyperfleet_clusters"]}
