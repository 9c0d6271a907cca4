# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbook and its role, run by Ansible: one cluster, a list, invalid clusters, check mode, connections."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.hosted.integration.world import IMAGE, OURS, World
from tests.support.docker_configs import docker_config
from tests.support.kubernetes.running import SERVERS
from tests.support.processes import Ansible, Finished
from tests.support.provision import recap

PLAYBOOK = "hyperfleet.pull_secret.hosted_cluster"
MODULE = "hyperfleet.pull_secret.hosted_cluster_pull_secret"


# Ansible's part is the same with either kind of server: the stand-in is enough.
pytestmark = pytest.mark.parametrize("servers", SERVERS[:1], indirect=True)


@pytest.fixture
def ready(world: World, ansible: Ansible, tmp_path: Path) -> World:
    ansible.env["KUBECONFIG"] = str(world.management.kubeconfig(tmp_path / "kubeconfig"))
    world.additional(docker_config(registry_example_com="tenant"))
    world.add_nodes(2)
    return world


def rows(finished: Finished) -> dict[str, dict[str, Any]]:
    (report,) = finished.of("hosted_cluster_report")
    return {row["cluster"]: row for row in report["clusters"]}


@pytest.mark.nightly
def test_one_cluster_by_variables(ready: World, ansible: Ansible) -> None:
    said = ansible.playbook(PLAYBOOK, ready.options(), flags=["--check", "--diff"])
    assert said.code == 0, said.output
    assert ready.there() == set()
    done = ansible.playbook(PLAYBOOK, ready.options())
    assert done.code == 0, done.output
    assert ready.there() == {*OURS, "leases"}
    row = rows(done)[ready.id]
    assert (row["additional"], row["global_secret"], row["nodes"]) == (
        "merged",
        "created (7 steps)",
        "0 of 2",
    )
    assert f"{ready.id}  merged      created (7 steps)  0 of 2  changed" in done.stdout
    assert "1 cluster: 1 changed, 0 failed" in done.stdout
    again = ansible.playbook(PLAYBOOK, ready.options())
    assert recap(again)["changed"] == 0
    assert rows(again)[ready.id]["global_secret"] == "unchanged"


@pytest.mark.both
@pytest.mark.cores
def test_a_list_whose_wrong_clusters_fail_alone(ready: World, ansible: Ansible) -> None:
    good = {key: value for key, value in ready.options().items() if key != "syncer_image"}
    clusters = [
        good,
        {**good, "cluster_id": "cls-unknown", "nodes": "all"},
        {**good, "cluster_id": "cls-share", "max_restarting": "many"},
        {**good, "cluster_id": "cls-away", "control_plane_namespace": "clusters-away", "adopt": ""},
        {"cluster_id": "cls-twice", "control_plane_namespace": "a"},
        {"cluster_id": "cls-twice", "control_plane_namespace": "b"},
        "no mapping",
    ]
    done = ansible.playbook(PLAYBOOK, {"clusters": clusters, "syncer_image": IMAGE})
    assert done.code != 0
    assert ready.there() == {*OURS, "leases"}
    assert "clusters" in done.of("hosted_cluster_report")[0], done.output
    found = rows(done)
    assert not found[ready.id]["failed"]
    assert {name: row["kind"] for name, row in found.items() if row["failed"]} == {
        "cls-unknown": "configuration",
        "cls-share": "configuration",
        "cls-away": "not_found",
        "cls-twice": "configuration",
        "cluster 7": "configuration",
    }
    assert found["cls-unknown"]["reason"].startswith("unknown key 'nodes'; the keys are adopt, cluster_id, ")
    assert "max_restarting" in found["cls-share"]["reason"]
    assert found["cls-twice"]["reason"] == "clusters 5 and 6 share cluster_id cls-twice"
    assert "7 clusters: 1 changed, 6 failed" in done.stdout


@pytest.mark.nightly
def test_variables_of_one_cluster_beside_a_list_are_refused(ready: World, ansible: Ansible) -> None:
    done = ansible.playbook(PLAYBOOK, {"clusters": [ready.options()], "hosted_context": "b"})
    assert done.code != 0
    assert "hosted_context: a variable of one cluster" in done.output
    assert ready.writes() == []


@pytest.mark.nightly
def test_a_module_process_does_the_same(ready: World, ansible: Ansible) -> None:
    options = {**ready.connection(), **ready.options()}
    play = [
        {
            "hosts": "localhost",
            "gather_facts": False,
            "tasks": [{MODULE: options, "environment": {"A": "b"}}, {MODULE: options}],
        }
    ]
    done = ansible.playbook(play)
    assert done.code == 0, done.output
    assert [result["changed"] for result in done.of("hosted_cluster_pull_secret")] == [True, False]
    assert ready.there() == {*OURS, "leases"}
