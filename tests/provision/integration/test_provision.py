# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbook ``provision``: create, rotate and remove pull secrets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.stand_ins.secret_manager.protos import DISABLED, ENABLED
from tests.support.docker_configs import auth, docker_config
from tests.support.late import at_once_and_late
from tests.support.provision import World, recap, rows
from tests.support.secret_manager import PROJECT

ONE = docker_config(quay_io="one")
TWO = docker_config(quay_io="two")


@at_once_and_late(fast=False)
@pytest.mark.nightly
def test_one_cluster_by_variables_from_the_hyperfleet_api(world: World) -> None:
    """The default source is the cluster's spec.pullSecret.data."""
    cluster = world.cluster()
    identity = cluster["cluster_id"]
    spec = {"provider": "gcp", "pullSecret": {"data": json.dumps(ONE)}}
    world.hyperfleet.store.seed([{"id": identity, "name": "production", "spec": spec}])
    variables = {name: value for name, value in cluster.items() if name != "source"}
    finished = world.provision(variables)
    assert finished.code == 0, finished.output
    row = rows(finished)[identity]
    assert (row["version"], row["changed"], row["failed"]) == ("1", True, False)
    assert row["secret_manager"] == "created, version added"
    assert row["management_secret"] == "created"
    assert world.placed_config(identity) == ONE
    secret = world.placed(identity)
    assert secret["metadata"]["labels"]["cluster-name"] == cluster["cluster_name"]
    path = f"projects/{PROJECT}/secrets/hyperfleet-{identity}-pull-secret/versions/latest"
    assert secret["metadata"]["annotations"]["hyperfleet.io/gcp-secret-path"] == path
    assert recap(finished)["changed"] == 2
    assert f"{identity}" in finished.stdout
    assert "1 cluster: 1 changed, 0 failed" in finished.stdout
    assert auth("one") not in finished.output
    again = world.provision(variables)
    assert (again.code, recap(again)["changed"]) == (0, 0)


@at_once_and_late(fast=False)
@pytest.mark.nightly
def test_one_cluster_can_be_removed_by_variables(world: World) -> None:
    cluster = world.cluster()
    assert world.provision(cluster).code == 0
    assert world.placed(cluster) is not None
    removed = world.provision({**cluster, "state": "absent"})
    assert removed.code == 0, removed.output
    assert world.placed(cluster) is None
    assert world.versions(cluster) == 0
    assert recap(world.provision({**cluster, "state": "absent"}))["changed"] == 0


@pytest.mark.nightly
def test_a_play_can_ask_for_check_mode_itself(world: World) -> None:
    """``ansible_check_mode`` only reflects the command line, not the keyword ``check_mode``."""
    cluster = world.cluster()
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "check_mode": True,
        "tasks": [
            {
                "ansible.builtin.import_role": {"name": "hyperfleet.pull_secret.provision"},
                "vars": {
                    "provision_clusters": [cluster],
                    "provision_kubernetes": "{{ kubernetes | default({}) }}",
                },
            }
        ],
    }
    finished = world.provision({}, playbook=[play])
    assert finished.code == 0, finished.output
    row = rows(finished)[cluster["cluster_id"]]
    assert (row["secret_manager"], row["management_secret"]) == ("created, version added", "created")
    assert "1 cluster: 1 would change, 0 would fail" in finished.stdout
    assert (world.versions(cluster), world.placed(cluster)) == (0, None)


@at_once_and_late(fast=False)
@pytest.mark.both
@pytest.mark.cores
def test_a_fleet_from_check_to_rotation(world: World) -> None:
    """--check --diff, the real run, a run without changes, then one rotated, one drifted, one deleted."""
    clusters = [world.cluster() for _number in range(5)]
    variables = {"clusters": clusters}
    checked = world.provision(variables, flags=["--check", "--diff"])
    assert checked.code == 0, checked.output
    assert "5 clusters: 5 would change, 0 would fail" in checked.stdout
    assert "registry quay.io" in checked.stdout, "the diff must name the registries"
    assert auth("one") not in checked.output
    assert all(world.versions(cluster) == 0 and world.placed(cluster) is None for cluster in clusters)
    assert world.api.writes() == []

    first = world.provision(variables)
    assert (first.code, recap(first)["changed"]) == (0, 2), first.output
    assert {name: row["changed"] for name, row in rows(first).items()} == {
        name: row["changed"] for name, row in rows(checked).items()
    }
    assert all(world.versions(cluster) == 1 for cluster in clusters)
    assert all(world.placed_config(cluster) == ONE for cluster in clusters)

    world.api.calls.clear()
    again = world.provision(variables)
    assert (again.code, recap(again)["changed"]) == (0, 0)
    assert world.api.writes() == []
    assert "5 clusters: 0 changed, 0 failed" in again.stdout

    rotated, drifted, deleted = clusters[1:4]
    world.write(rotated, TWO)
    predicted = world.provision(variables, flags=["--check"])
    world.api.calls.clear()
    third = world.provision(variables)
    for run in (predicted, third):
        changed = [name for name, row in rows(run).items() if row["changed"]]
        assert changed == [rotated["cluster_id"]]
    assert [world.versions(cluster) for cluster in clusters] == [1, 2, 1, 1, 1]
    assert world.placed_config(rotated) == TWO
    assert len(world.api.writes()) == 1

    name = f"{drifted['cluster_id']}-pull-secret"
    labels = {"metadata": {"labels": {"cluster-name": "wrong"}}}
    world.api.merge(drifted["management_namespace"], "secrets", name, labels)
    world.api.delete(deleted["management_namespace"], "secrets", f"{deleted['cluster_id']}-pull-secret")
    fourth = rows(world.provision(variables))
    assert {row["cluster"]: row["management_secret"] for row in fourth.values() if row["changed"]} == {
        drifted["cluster_id"]: "labels updated",
        deleted["cluster_id"]: "created",
    }
    assert world.placed_config(deleted) == ONE
    assert all(row["secret_manager"] == "unchanged" for row in fourth.values())


@at_once_and_late(fast=False)
@pytest.mark.nightly
def test_a_list_can_mix_states(world: World) -> None:
    kept, gone = world.cluster(), world.cluster()
    assert world.provision({"clusters": [kept, gone]}).code == 0
    finished = world.provision({"clusters": [kept, {**gone, "state": "absent"}]})
    assert finished.code == 0, finished.output
    table = rows(finished)
    assert table[kept["cluster_id"]]["changed"] is False
    assert "deleted" in table[gone["cluster_id"]]["management_secret"]
    assert (world.versions(kept), world.versions(gone)) == (1, 0)


@at_once_and_late(fast=False)
@pytest.mark.cores
def test_failures_stay_alone_and_fail_the_run(world: World) -> None:
    """A directory with a broken JSON file, a broken pull secret, a foreign secret and a missing namespace."""
    good, _path = world.cluster_file()
    last, _path = world.cluster_file()
    _broken, path = world.cluster_file()
    path.write_text(path.read_text()[:-20])
    broken_id, broken_file = path.stem, path.name
    invalid, _path = world.cluster_file('{"auths": {"quay.io": {"auth": "%%example-value%%"}}}')
    foreign, _path = world.cluster_file()
    world.manager.seed(
        [
            {
                "project": PROJECT,
                "secret": f"hyperfleet-{foreign}-pull-secret",
                "labels": {"managed-by": "shop-team"},
                "versions": [{"data": "kept"}],
            }
        ]
    )
    homeless, _path = world.cluster_file(namespace=False)
    world.cluster_file()[1].rename(world.fleet / "ignored.txt")
    (world.fleet / f"{good}.dockerconfig").write_text("not a cluster")
    finished = world.provision({"clusters_dir": str(world.fleet)})
    assert finished.code != 0
    assert recap(finished)["failed"] == 1
    table = rows(finished)
    assert {name: row["kind"] for name, row in table.items()} == {
        good: None,
        last: None,
        broken_file: "configuration",
        invalid: "invalid_document",
        foreign: "ownership",
        homeless: "dependency",
    }
    assert f"namespace clusters-{homeless} does not exist" in table[homeless]["reason"]
    assert "quay.io" in table[invalid]["reason"]
    assert "shop-team" in table[foreign]["reason"]
    assert table[homeless]["secret_manager"] == "created, version added", "not stored"
    for name in (good, last):
        assert world.versions(name) == 1
        assert world.placed_config(name) == ONE
    for name in (broken_id, invalid):
        assert world.versions(name) == 0
    assert world.versions(foreign) == 1
    assert all(world.placed(name) is None for name in (broken_id, invalid, foreign))
    assert "6 clusters: 2 changed, 4 failed (1 after a change in Secret Manager)" in finished.stdout
    for name in (broken_file, invalid, foreign, homeless):
        assert f"{name} failed: " in finished.stdout
    assert "example-value" not in finished.output

    # The causes are removed: the next run does the rest, and nothing twice.
    path.unlink()
    (world.fleet / f"{invalid}.json").unlink()
    (world.fleet / f"{foreign}.json").unlink()
    world.namespaces.append(world.api.namespace(f"clusters-{homeless}"))
    second = world.provision({"clusters_dir": str(world.fleet)})
    assert second.code == 0, second.output
    assert [name for name, row in rows(second).items() if row["changed"]] == [homeless]
    assert world.versions(homeless) == 1
    assert world.placed_config(homeless) == ONE


@at_once_and_late(fast=False)
@pytest.mark.nightly
def test_a_role_of_ones_own_with_every_option(world: World) -> None:
    """Retention, own names, labels, service accounts and immutability reach the modules."""
    cluster: dict[str, Any] = world.cluster()
    namespace = cluster["management_namespace"]
    world.api.create(namespace, "serviceaccounts", {"metadata": {"name": "puller"}})
    cluster |= {
        "secret_name": f"own-{cluster['cluster_id']}",
        "k8s_secret_name": "own-pull-secret",
        "labels": {"team": "a"},
        "service_accounts": ["puller"],
        "k8s_immutable": True,
        "retention": {"keep": 1},
    }
    play = [
        {
            "hosts": "localhost",
            "gather_facts": False,
            "tasks": [
                {
                    "ansible.builtin.import_role": {"name": "hyperfleet.pull_secret.provision"},
                    "vars": {"provision_clusters": [cluster], "provision_show_table": False},
                }
            ],
        }
    ]
    first = world.provision({}, playbook=play)
    assert first.code == 0, first.output
    assert "CLUSTER" not in first.stdout
    secret = world.api.secret(namespace, "own-pull-secret")
    assert secret["immutable"] is True
    assert secret["metadata"]["labels"]["team"] == "a"
    account = world.api.get(namespace, "serviceaccounts", "puller")
    assert account["imagePullSecrets"] == [{"name": "own-pull-secret"}]
    record = world.manager.store.find(PROJECT, cluster["secret_name"])
    assert record is not None
    assert record.message.labels["team"] == "a"
    world.write(cluster, TWO)
    assert world.provision({}, playbook=play).code == 0
    assert [version.state for version in record.versions] == [DISABLED, ENABLED]
