# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of the plugins that make up the workflows: job, report, lookup and filters."""

from __future__ import annotations

import json
from typing import Any

from tests.docs.world import World, auths, config
from tests.support.processes import Finished

ONE = ("customer-prod-12345", "cls-123")
TWO = ("customer-dev-67890", "cls-456")
_STORE = {
    "name": "Store",
    "hyperfleet.pull_secret.gcp_pull_secret": {
        "targets": "{{ clusters | hyperfleet.pull_secret.gcp_targets }}"
    },
    "register": "stored",
    "failed_when": "stored.targets is not defined",
}
_PLACE = {
    "name": "Place",
    "hyperfleet.pull_secret.k8s_pull_secret": {
        "targets": "{{ clusters | hyperfleet.pull_secret.kubernetes_targets(stored) }}"
    },
    "register": "placed",
    "failed_when": "placed.targets is not defined",
}


def clusters(world: World) -> None:
    """Two clusters whose pull secrets are files."""
    world.variables["clusters"] = [_cluster(world, *ONE), _cluster(world, *TWO)]


def all_stored(world: World, done: Finished) -> None:
    assert done.result["summary"] == {"total": 2, "changed": 2, "failed": 0}
    _assert_stored(world, ONE, TWO)


def given_variables(world: World) -> None:
    """An empty field of a survey, and one that was filled in."""
    world.variables.update(state="", labels={"team": "a"}, cluster_id="cls-123")


def all_right(_world: World, done: Finished) -> None:
    assert not done.result["changed"]
    assert "msg" not in done.result


def default_used(_world: World, done: Finished) -> None:
    assert done.result["msg"] == "present"


def stored_clusters(world: World) -> None:
    clusters(world)
    done = world.run(_STORE)
    assert done.code == 0, done.output


def all_placed(world: World, done: Finished) -> None:
    assert done.result["summary"] == {"total": 2, "changed": 2, "failed": 0}
    _assert_placed(world, ONE, TWO)


def looked_at(world: World, done: Finished) -> None:
    """They are stored, and not placed."""
    assert "2 clusters: 0 in sync, 2 drift, 0 failed" in done.stdout
    assert [target["secret_manager"]["newest"] for target in done.result["targets"]] == ["1", "1"]
    assert not done.result["changed"]


def drift_told(_world: World, done: Finished) -> None:
    assert done.result["evaluated_to"] is False


def versions_told(_world: World, done: Finished) -> None:
    (target,) = done.result["targets"]
    (version,) = target["secret_manager"]["versions"]
    assert (version["version"], version["state"]) == ("1", "enabled")
    assert version["digest"].startswith("hmac-sha256:")


def one_left_the_list(world: World) -> None:
    del world.variables["clusters"][1]


def found_unlisted(_world: World, done: Finished) -> None:
    assert [entry["cluster_id"] for entry in done.result["unlisted"]] == ["cls-456"]


def one_of_two_failed(world: World) -> None:
    """Both modules have run, and the docker config of cls-456 is none."""
    clusters(world)
    world.write("cls-456.json", "{")
    done = world.run(_STORE, _PLACE)
    assert done.code == 0, done.output


def reported(world: World, done: Finished) -> None:
    assert done.result["summary"] == {"total": 2, "changed": 1, "failed": 1}
    assert "cls-456 failed: " in done.stdout
    assert "2 clusters: 1 changed, 1 failed" in done.stdout


def ended(world: World, done: Finished) -> None:
    assert done.tasks[-1].status == "failed"
    assert "1 of 2 clusters failed: cls-456: " in done.result["msg"]


def files_of_clusters(world: World) -> None:
    """Two files as the HyperFleet API returns clusters, one of them in YAML, which JSON is."""
    for project, identity, ending in ((*ONE, "json"), (*TWO, "yaml")):
        spec = {"gcp": {"projectId": project}, "pullSecret": {"data": config(quay_io=identity)}}
        world.write(
            f"fleet/{identity}.{ending}", json.dumps({"id": identity, "name": identity, "spec": spec})
        )
        world.namespace(f"clusters-{identity}")


def provisioned(world: World, done: Finished) -> None:
    assert "2 clusters: 2 changed, 0 failed" in done.stdout
    _assert_stored(world, ONE, TWO)
    _assert_placed(world, ONE, TWO)


def cluster_by_variables(world: World) -> None:
    world.variables.update(_cluster(world, *ONE))


def provisioned_by_variables(world: World, done: Finished) -> None:
    assert "1 cluster: 1 changed, 0 failed" in done.stdout
    _assert_stored(world, ONE)
    _assert_placed(world, ONE)


def job_environment(world: World) -> None:
    world.namespace("clusters-cls-123")
    world.ansible.env |= {
        "CLUSTER_ID": "cls-123",
        "CLUSTER_NAME": "production-cluster",
        "GCP_PROJECT_ID": "customer-prod-12345",
        "MANAGEMENT_NAMESPACE": "clusters-cls-123",
        "PULL_SECRET_DATA": config(quay_io="environment"),
    }


def job_done(world: World, done: Finished) -> None:
    log = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert log[-1]["message"] == "Success: Pull secret provisioned"
    assert done.result["version"] == "1"
    assert world.versions(*ONE) == [auths(quay_io="environment")]
    assert world.placed("clusters-cls-123", "cls-123-pull-secret") == auths(quay_io="environment")


def _assert_stored(world: World, *clusters: tuple[str, str]) -> None:
    for project, identity in clusters:
        assert world.versions(project, identity) == [auths(quay_io=identity)]


def _assert_placed(world: World, *clusters: tuple[str, str]) -> None:
    for _project, identity in clusters:
        assert world.placed(f"clusters-{identity}", f"{identity}-pull-secret") == auths(quay_io=identity)


def _cluster(world: World, project: str, identity: str) -> dict[str, Any]:
    world.write(f"{identity}.json", config(quay_io=identity))
    world.namespace(f"clusters-{identity}")
    return {
        "cluster_id": identity,
        "gcp_project_id": project,
        "management_namespace": f"clusters-{identity}",
        "source": {"file": str(world.path(f"{identity}.json"))},
    }
