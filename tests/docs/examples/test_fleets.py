# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of the plugins that make up the workflows: job, reports, lookups and filters."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.docs.examples.world import World, auths, config

ONE = ("customer-prod-12345", "cls-123")
TWO = ("customer-dev-67890", "cls-456")
STORE = {
    "name": "Store",
    "hyperfleet.pull_secret.gcp_pull_secret": {
        "targets": "{{ clusters | hyperfleet.pull_secret.gcp_targets }}"
    },
    "register": "stored",
    "failed_when": "'targets' not in stored",
}
PLACE = {
    "name": "Place",
    "hyperfleet.pull_secret.k8s_pull_secret": {
        "targets": "{{ clusters | hyperfleet.pull_secret.kubernetes_targets(stored) }}"
    },
    "register": "placed",
    "failed_when": "'targets' not in placed",
}

pytestmark = pytest.mark.nightly


def cluster(world: World, project: str, identity: str) -> dict[str, Any]:
    """What a playbook lists of a cluster whose pull secret is a file."""
    world.write(f"{identity}.json", config(quay_io=identity))
    world.namespace(f"clusters-{identity}")
    return {
        "cluster_id": identity,
        "gcp_project_id": project,
        "management_namespace": f"clusters-{identity}",
        "source": {"file": str(world.path(f"{identity}.json"))},
    }


def list_clusters(world: World) -> None:
    world.variables["clusters"] = [cluster(world, *ONE), cluster(world, *TWO)]


def list_stored_clusters(world: World) -> None:
    list_clusters(world)
    assert world.run(STORE).code == 0


def assert_stored(world: World, *clusters: tuple[str, str]) -> None:
    for project, identity in clusters:
        assert world.versions(project, identity) == [auths(quay_io=identity)]


def assert_placed(world: World, *clusters: tuple[str, str]) -> None:
    for _project, identity in clusters:
        assert world.placed(f"clusters-{identity}", f"{identity}-pull-secret") == auths(quay_io=identity)


def test_modules_check_variables(world: World) -> None:
    world.variables["cluster_id"] = "cls-123"
    done = world.example("Check the variables of a playbook that runs the role provision")
    assert not done.result["changed"]
    assert "msg" not in done.result


def test_modules_pull_secret_info(world: World) -> None:
    list_stored_clusters(world)
    done = world.example("List what there is for the clusters of a list")
    assert "2 clusters: 0 in sync, 2 drift, 0 failed" in done.stdout
    assert [target["secret_manager"]["newest"] for target in done.result["targets"]] == ["1", "1"]
    assert not done.result["changed"]

    done = world.example("Fail if a cluster has drifted", code=2)
    assert done.result["evaluated_to"] is False

    done = world.example(
        "List every version of one cluster's secret with its digest, to choose one to restore"
    )
    (target,) = done.result["targets"]
    (version,) = target["secret_manager"]["versions"]
    assert (version["version"], version["state"]) == ("1", "enabled")
    assert version["digest"].startswith("hmac-sha256:")

    del world.variables["clusters"][1]
    done = world.example("Find the secrets of clusters that are no longer in the list")
    assert [entry["cluster_id"] for entry in done.result["unlisted"]] == ["cls-456"]


def test_modules_pull_secret_job(world: World) -> None:
    world.namespace("clusters-cls-123")
    world.ansible.env |= {
        "CLUSTER_ID": "cls-123",
        "CLUSTER_NAME": "production-cluster",
        "GCP_PROJECT_ID": "customer-prod-12345",
        "MANAGEMENT_NAMESPACE": "clusters-cls-123",
        "PULL_SECRET_DATA": config(quay_io="cls-123"),
    }
    done = world.example("Provision the cluster that the environment describes")
    log = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert log[-1]["message"] == "Success: Pull secret provisioned"
    assert done.result["version"] == "1"
    assert_stored(world, ONE)
    assert_placed(world, ONE)


def test_modules_pull_secret_report(world: World) -> None:
    list_clusters(world)
    world.write("cls-456.json", "{")
    assert world.run(STORE, PLACE).code == 0
    done = world.example("Report the result of every cluster")
    assert done.result["summary"] == {"total": 2, "changed": 1, "failed": 1}
    assert "cls-456 failed: " in done.stdout
    assert "2 clusters: 1 changed, 1 failed" in done.stdout

    done = world.example("End with one result for all clusters", code=2)
    assert done.tasks[-1].status == "failed"
    assert "1 of 2 clusters failed: cls-456: " in done.result["msg"]


def test_lookup_given(world: World) -> None:
    """With an empty field of a survey, and one that was filled in."""
    world.variables.update(state="", labels={"team": "a"})
    assert world.example("Use given values, or a default").result["msg"] == "present"


def test_lookup_cluster_variables(world: World) -> None:
    world.variables.update(cluster(world, *ONE))
    done = world.example("Provision the cluster that the variables of this host describe")
    assert "1 cluster: 1 changed, 0 failed" in done.stdout
    assert_stored(world, ONE)
    assert_placed(world, ONE)


def test_lookup_cluster_files(world: World) -> None:
    """With files as the HyperFleet API returns clusters, one of them in YAML, which JSON is."""
    for project, identity, ending in ((*ONE, "json"), (*TWO, "yaml")):
        spec = {"gcp": {"projectId": project}, "pullSecret": {"data": config(quay_io=identity)}}
        described = {"id": identity, "name": identity, "spec": spec}
        world.write(f"fleet/{identity}.{ending}", json.dumps(described))
        world.namespace(f"clusters-{identity}")
    done = world.example("Provision the clusters of a directory")
    assert "2 clusters: 2 changed, 0 failed" in done.stdout
    assert_stored(world, ONE, TWO)
    assert_placed(world, ONE, TWO)


def test_filter_gcp_targets(world: World) -> None:
    list_clusters(world)
    done = world.example("Store the pull secrets of all clusters")
    assert done.result["summary"] == {"total": 2, "changed": 2, "failed": 0}
    assert_stored(world, ONE, TWO)


def test_filter_info_targets(world: World) -> None:
    list_stored_clusters(world)
    done = world.example("List what is stored and placed for all clusters")
    assert "2 clusters: 0 in sync, 2 drift, 0 failed" in done.stdout


def test_filter_kubernetes_targets(world: World) -> None:
    list_stored_clusters(world)
    done = world.example("Copy the pull secrets from Secret Manager to the management clusters")
    assert done.result["summary"] == {"total": 2, "changed": 2, "failed": 0}
    assert_placed(world, ONE, TWO)
