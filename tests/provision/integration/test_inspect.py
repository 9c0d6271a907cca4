# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbook ``inspect``: what is stored where, what differs, and which secrets no listed cluster owns."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.stand_ins.secret_manager.protos import DISABLED
from tests.support.docker_configs import docker_config, encoded
from tests.support.processes import Finished
from tests.support.provision import World
from tests.support.secret_manager import PROJECT

_INSPECT = "hyperfleet.pull_secret.inspect"
_TWO = docker_config(quay_io="two")


def inspect(world: World, variables: dict[str, Any], **options: Any) -> Finished:
    return world.provision(variables, playbook=_INSPECT, **options)


def found(finished: Finished) -> dict[str, Any]:
    (result,) = finished.of("pull_secret_info")
    return dict(result)


def targets(finished: Finished) -> dict[str, dict[str, Any]]:
    return {entry["id"]: entry for entry in found(finished)["targets"]}


def secret(cluster: dict[str, Any]) -> str:
    return f"projects/{PROJECT}/secrets/hyperfleet-{cluster['cluster_id']}-pull-secret"


def placed(cluster: dict[str, Any]) -> str:
    namespace, name = named(cluster)
    return f"namespaces/{namespace}/secrets/{name}"


def named(cluster: dict[str, Any]) -> tuple[str, str]:
    identity = cluster["cluster_id"]
    return f"clusters-{identity}", f"{identity}-pull-secret"


def _merge(world: World, cluster: dict[str, Any], patch: dict[str, Any]) -> None:
    namespace, name = named(cluster)
    world.api.merge(namespace, "secrets", name, patch)


def add_version(world: World, cluster: dict[str, Any], config: Any) -> Any:
    """Add a version without this collection, as another tool would."""
    record = world.manager.store.find(PROJECT, f"hyperfleet-{cluster['cluster_id']}-pull-secret")
    assert record is not None
    return world.manager.store.add_version(record, json.dumps(config).encode())


def set_disabled(world: World, cluster: dict[str, Any]) -> None:
    """Add a version, and disable it."""
    version = add_version(world, cluster, _TWO)
    record = world.manager.store.find(PROJECT, f"hyperfleet-{cluster['cluster_id']}-pull-secret")
    assert record is not None
    world.manager.store.set_version_state(record, version, DISABLED)


def test_a_fleet_is_looked_at_without_a_write_or_a_value(world: World) -> None:
    good, rotated, disabled, missing, edited, unnamed = clusters = [world.cluster() for _number in range(6)]
    wrong = {**world.cluster(), "gcp_project": PROJECT}
    foreign = world.cluster()
    never = world.cluster()
    assert world.provision({"clusters": clusters}).code == 0
    add_version(world, rotated, _TWO)
    set_disabled(world, disabled)
    namespace, of_missing = named(missing)
    world.api.delete(namespace, "secrets", of_missing)
    _merge(world, edited, {"data": {".dockerconfigjson": encoded(json.dumps(_TWO))}})
    _merge(world, unnamed, {"metadata": {"annotations": {"hyperfleet.io/gcp-secret-version": None}}})
    name = f"hyperfleet-{foreign['cluster_id']}-pull-secret"
    labels = {"managed-by": "shop-team"}
    world.manager.seed(
        [{"project": PROJECT, "secret": name, "labels": labels, "versions": [{"data": "kept"}]}]
    )
    world.manager.calls.clear()
    world.api.calls.clear()

    fleet = {"clusters": [*clusters, foreign, never, wrong]}
    finished = inspect(world, fleet)
    assert finished.code != 0, "one cluster's description is wrong, so the run must fail"
    assert found(finished)["changed"] is False
    assert world.api.writes() == []
    assert world.manager.calls.count("AccessSecretVersion") == 6
    told = targets(finished)
    drift = {
        name: told[cluster["cluster_id"]]["drift"]
        for name, cluster in {
            "good": good,
            "rotated": rotated,
            "disabled": disabled,
            "missing": missing,
            "edited": edited,
            "unnamed": unnamed,
            "foreign": foreign,
            "never": never,
        }.items()
    }
    assert drift == {
        "good": [],
        "rotated": [f"{placed(rotated)} holds version 1, and version 2 is the newest enabled"],
        "disabled": [],
        "missing": [f"{placed(missing)} does not exist"],
        "edited": [f"{placed(edited)} holds another pull secret than version 1"],
        "unnamed": [],
        "foreign": [f"{placed(foreign)} does not exist", f"{secret(foreign)} is managed by shop-team"],
        "never": [f"{secret(never)} does not exist", f"{placed(never)} does not exist"],
    }
    assert told[wrong["cluster_id"]]["kind"] == "configuration"
    assert "did you mean gcp_project_id?" in told[wrong["cluster_id"]]["msg"]

    one = told[good["cluster_id"]]
    stored, in_cluster = one["secret_manager"], one["management_secret"]
    assert (stored["owner"], stored["foreign"], stored["newest"]) == (good["cluster_id"], False, "1")
    (version,) = stored["versions"]
    assert (version["version"], version["state"], version["digest"]) == ("1", "enabled", stored["digest"])
    assert version["created"].endswith("Z")
    assert (in_cluster["version"], in_cluster["digest"]) == ("1", stored["digest"])
    assert (in_cluster["owner"], in_cluster["foreign"], in_cluster["immutable"]) == (
        good["cluster_id"],
        False,
        False,
    )
    states = [version["state"] for version in told[disabled["cluster_id"]]["secret_manager"]["versions"]]
    assert states == ["disabled", "enabled"]
    theirs = told[foreign["cluster_id"]]["secret_manager"]
    assert (theirs["owner"], theirs["foreign"], theirs["digest"]) == ("shop-team", True, None)

    assert "to list versions, inspect one cluster" in finished.stdout
    assert "9 clusters: 3 in sync, 5 drift, 1 failed" in finished.stdout
    assert f"{missing['cluster_id']} drift: " in finished.stdout
    for value in ("example-value", "kept", "robot-two", json.dumps(_TWO)):
        assert value not in finished.output


@pytest.mark.nightly
def test_what_a_list_no_longer_names_is_listed(world: World) -> None:
    kept, dropped, renamed = (world.cluster() for _number in range(3))
    assert world.provision({"clusters": [kept, dropped, renamed]}).code == 0
    world.manager.calls.clear()
    renamed["secret_name"] = f"other-{renamed['cluster_id']}"
    finished = inspect(
        world, {"clusters": [kept, renamed], "inspect_unlisted": True, "inspect_digests": "none"}
    )
    assert finished.code == 0, finished.output
    listed = {(one["place"], one["cluster_id"]) for one in found(finished)["unlisted"]}
    ours = {cluster["cluster_id"] for cluster in (kept, dropped, renamed)}
    # Other tests use the real API server at the same time.
    assert {one for one in listed if one[1] in ours} == {
        (secret(dropped), dropped["cluster_id"]),
        (placed(dropped), dropped["cluster_id"]),
        (secret(renamed), renamed["cluster_id"]),
    }
    assert (
        f"in no cluster of the list: {secret(dropped)} (cluster {dropped['cluster_id']})" in finished.stdout
    )
    assert world.manager.calls.count("AccessSecretVersion") == 0

    alone = {"clusters": [], "inspect_unlisted": True, "inspect_projects": [PROJECT]}
    places = {one["place"] for one in found(inspect(world, alone))["unlisted"]}
    assert {secret(kept), secret(dropped), placed(kept), placed(dropped)} <= places


@pytest.mark.nightly
def test_every_versions_digest_and_the_source_are_compared_if_wanted(world: World) -> None:
    cluster = world.cluster()
    assert world.provision({"clusters": [cluster]}).code == 0
    world.write(cluster, _TWO)
    assert world.provision({"clusters": [cluster]}).code == 0
    asked = {"clusters": [cluster], "inspect_digests": "all", "inspect_compare_source": True}
    (entry,) = targets(inspect(world, asked)).values()
    first, second = (version["digest"] for version in reversed(entry["secret_manager"]["versions"]))
    assert first != second
    assert entry["source"]["digest"] == second
    assert entry["in_sync"]

    world.write(cluster, docker_config(quay_io="three"))
    (entry,) = targets(inspect(world, asked)).values()
    assert entry["drift"] == ["the source holds another pull secret than version 2"]


@pytest.mark.parametrize("clusters", [12])
@pytest.mark.nightly
def test_a_fleet_costs_one_list_a_project_and_two_calls_a_cluster(world: World, clusters: int) -> None:
    fleet = [world.cluster() for _number in range(clusters)]
    assert world.provision({"clusters": fleet}).code == 0
    world.manager.calls.clear()
    world.api.calls.clear()
    assert inspect(world, {"clusters": fleet}).code == 0
    counts = {
        method: world.manager.calls.count(method)
        for method in ("ListSecrets", "GetSecret", "ListSecretVersions", "AccessSecretVersion")
    }
    assert counts == {
        "ListSecrets": 1,
        "GetSecret": 0,
        "ListSecretVersions": clusters,
        "AccessSecretVersion": clusters,
    }


@pytest.mark.nightly
def test_one_place_that_fails_is_one_clusters_failure(world: World) -> None:
    good, refused = world.cluster(), world.cluster()
    assert world.provision({"clusters": [good, refused]}).code == 0
    world.manager.faults.add(
        "ListSecretVersions", resource=f"*{refused['cluster_id']}*", code="PERMISSION_DENIED"
    )
    finished = inspect(world, {"clusters": [good, refused]})
    assert finished.code != 0
    told = targets(finished)
    assert told[good["cluster_id"]]["in_sync"]
    entry = told[refused["cluster_id"]]
    assert entry["kind"] == "permission_denied"
    assert "secretmanager.versions.list" in entry["msg"]
    assert entry["secret_manager"]["msg"] == entry["msg"]
    assert entry["management_secret"]["version"] == "1"
    assert "2 clusters: 1 in sync, 0 drift, 1 failed" in finished.stdout


@pytest.mark.parametrize("digests", ["newest", "all"])
@pytest.mark.nightly
def test_a_versions_number_and_state_are_printed(world: World, digests: str) -> None:
    cluster = world.cluster()
    assert world.provision(cluster).code == 0
    set_disabled(world, cluster)
    finished = inspect(world, {**cluster, "inspect_digests": digests})
    assert finished.code == 0, finished.output
    (entry,) = targets(finished).values()
    newest, first = entry["secret_manager"]["versions"]
    name = cluster["cluster_id"]
    lines = [re.split(r" {2,}", line) for line in finished.stdout.splitlines() if line.startswith(name)]
    told = [
        [name, "2", "disabled", newest["created"], "-"],
        [name, "1", "enabled", first["created"], first["digest"].partition(":")[2][:12]],
    ]
    assert lines[1:] == (told if digests == "all" else [line[:-1] for line in told])


@pytest.mark.nightly
def test_a_refusal_in_the_management_cluster_hides_no_version(world: World) -> None:
    good, refused = world.cluster(), world.cluster()
    assert world.provision({"clusters": [good, refused]}).code == 0
    world.api.faults.add(path=f"*/{refused['management_namespace']}/*", status=403, times=None)
    finished = inspect(world, {"clusters": [good, refused]})
    assert finished.code != 0
    told = targets(finished)
    assert told[good["cluster_id"]]["in_sync"]
    entry = told[refused["cluster_id"]]
    assert entry["failed"]
    assert entry["secret_manager"]["newest"] == "1"
    assert entry["management_secret"]["place"] == placed(refused)
    for part in (entry, entry["management_secret"]):
        assert part["kind"] == "permission_denied"
        assert f"GET {placed(refused)}" in part["msg"]
    assert "in_sync" not in entry
    assert f"{refused['cluster_id']} failed: {entry['msg']}" in finished.stdout
    assert entry["msg"] in finished.result["msg"]
    assert "hmac-sha256" not in finished.output, "the result is not printed"
    assert found(finished)["failed_targets"] == [
        {name: entry[name] for name in ("id", "place", "kind", "msg")}
    ]


@pytest.mark.nightly
def test_a_project_that_cannot_be_listed_fails_the_run_with_its_message(world: World) -> None:
    cluster = world.cluster()
    assert world.provision({"clusters": [cluster]}).code == 0
    world.manager.faults.add("ListSecrets", code="PERMISSION_DENIED")
    finished = inspect(world, {"clusters": [cluster], "inspect_unlisted": True})
    assert finished.code != 0
    assert finished.result["msg"].startswith(f"projects/{PROJECT} cannot be listed: ")
    assert "1 cluster: 1 in sync, 0 drift, 0 failed" in finished.stdout
    assert "hmac-sha256" not in finished.output, "the result is not printed"


@pytest.mark.nightly
def test_a_place_is_named_without_a_source(world: World) -> None:
    cluster = world.cluster()
    where = {"project": PROJECT, "namespace": cluster["management_namespace"]}
    finished = world.ansible.module("pull_secret_info", {"cluster_id": cluster["cluster_id"], **where})
    assert finished.code == 0, finished.output
    assert targets(finished)[cluster["cluster_id"]]["place"] == secret(cluster)
