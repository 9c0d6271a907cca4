# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Drift, check mode, other writers, faults, interrupted runs, and a fleet with one bad cluster."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import hosted_cluster_pull_secret
from tests.hosted.integration.world import ADDITIONAL, GLOBAL, OURS, SYNCER, World
from tests.support.docker_configs import docker_config, encoded
from tests.support.kubernetes.running import run_task

ANYTHING_BUT_READ = ("create", "update", "patch", "delete")
DRIFT: dict[str, tuple[str, str, Any, str]] = {
    "another image": (
        "daemonsets",
        SYNCER,
        {"spec": {"template": {"spec": {"containers": [{"name": "syncer", "image": "example.com/other"}]}}}},
        "updated daemonset",
    ),
    "another selector": (
        "daemonsets",
        SYNCER,
        {"spec": {"template": {"spec": {"nodeSelector": {"also": "this"}}}}},
        "updated daemonset",
    ),
    "more rights": (
        "roles",
        SYNCER,
        {"rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["*"]}]},
        "updated role",
    ),
    "another subject": ("rolebindings", SYNCER, {"subjects": []}, "updated rolebinding"),
    "another content": (
        "secrets",
        GLOBAL,
        {"data": {".dockerconfigjson": encoded(json.dumps(docker_config(evil_example_com="x")))}},
        "updated secret",
    ),
    "no label": (
        "configmaps",
        "global-pull-secret-status",
        {"metadata": {"labels": {"hyperfleet-version": None}}},
        "updated configmap",
    ),
}


@pytest.fixture
def deployed(world: World) -> World:
    """A cluster whose additional secret is merged, with two nodes that report."""
    world.additional(docker_config(registry_example_com="tenant"))
    world.add_nodes(2)
    assert not world.run().get("failed")
    for name in world.nodes:
        world.report(name)
    world.reset()
    return world


@pytest.mark.parametrize(("kind", "name", "patch", "action"), DRIFT.values(), ids=DRIFT)
def test_drift_is_repaired(deployed: World, kind: str, name: str, patch: Any, action: str) -> None:
    good = _without_version(deployed.get(kind, name))
    deployed.merge(kind, name, patch)
    assert _without_version(deployed.get(kind, name)) != good
    assert deployed.run()["actions"] == [action]
    assert _without_version(deployed.get(kind, name)) == good
    assert not deployed.run()["changed"]


def _without_version(found: Any) -> Any:
    for name in ("resourceVersion", "managedFields", "generation", "annotations"):
        found["metadata"].pop(name, None)
    found.pop("status", None)
    return found


@pytest.mark.parametrize("kind", OURS)
def test_deleted_objects_are_created_again(deployed: World, kind: str) -> None:
    deployed.delete(kind, OURS[kind])
    assert deployed.run()["actions"] == [f"created {kind[:-1]}"]
    assert deployed.there() == {*OURS, "leases"}


def test_a_role_binding_to_another_role_is_replaced(deployed: World) -> None:
    reference = deployed.get("rolebindings", SYNCER)
    deployed.delete("rolebindings", SYNCER)
    body = {
        "metadata": {"name": SYNCER, "labels": reference["metadata"]["labels"]},
        "roleRef": {**reference["roleRef"], "name": "other"},
    }
    deployed.hosted.post(
        f"/apis/rbac.authorization.k8s.io/v1/namespaces/{deployed.namespace}/rolebindings", body
    )
    assert deployed.run()["actions"] == ["replaced rolebinding"]
    assert deployed.get("rolebindings", SYNCER)["roleRef"] == reference["roleRef"]


@pytest.mark.parametrize("kind", OURS)
def test_others_labels_and_annotations_stay(deployed: World, kind: str) -> None:
    theirs = {"labels": {"team": "a"}, "annotations": {"example.com/note": "b"}}
    deployed.merge(kind, OURS[kind], {"metadata": theirs})
    deployed.additional(docker_config(registry_example_com="new"))
    deployed.run(syncer_image="registry.example.com/hyperfleet/syncer:2", max_restarting="2")
    metadata = deployed.get(kind, OURS[kind])["metadata"]
    assert metadata["labels"]["team"] == "a"
    assert metadata["annotations"]["example.com/note"] == "b"


def test_check_mode_says_what_would_be_done_and_writes_nothing(world: World) -> None:
    world.additional(docker_config(registry_example_com="tenant"))
    said = world.run(check_mode=True, diff=True, digest_key="a")
    assert world.writes() == []
    assert world.there() == set()
    done = world.run(diff=True, digest_key="a")
    assert said["actions"] == done["actions"]
    assert said["diff"] == done["diff"]
    assert "registry registry.example.com" in said["diff"]["after"]
    world.additional("{")
    world.reset()
    assert world.run(check_mode=True)["actions"] == ["reported to the tenant"]
    world.additional(None)
    said = world.run(check_mode=True)
    assert said["actions"][:2] == ["updated secret", "deleted daemonset"]
    assert world.writes() == []


def test_a_diff_names_fields_and_registries_and_no_value(deployed: World) -> None:
    deployed.merge("daemonsets", SYNCER, DRIFT["another image"][2])
    deployed.additional(docker_config(registry_example_com="new", other_example_com="new"))
    diff = deployed.run(diff=True)["diff"]
    assert "daemonsets/global-pull-secret-syncer spec.template.spec.containers[0].image" in diff["before"]
    assert "registry registry.example.com (credential differs)" in diff["after"]
    assert "registry other.example.com" in diff["after"]
    assert "registry other.example.com" not in diff["before"]
    assert "example-password" not in json.dumps(diff)


def _interrupted(world: World, change: Any, **options: Any) -> int:
    """Run after ``change`` repeatedly, each time interrupted at a later write. Return the number of writes.

    After each interruption the next run must reach the same state as an uninterrupted one, and the run after
    that must have nothing to do.
    """
    count = 0
    while True:
        change()
        world.reset()
        # From write number ``count`` on every write fails, as after a kill.
        # A verb of those that create, patch or delete.
        world.hosted.faults.add(verb="[cpd]*", status=500, skip=count, times=None)
        ended = world.run(retry={"tries": 1}, **options)
        world.reset()
        result = world.run(**options)
        assert not result.get("failed"), (count, result)
        again = world.run(**options)
        assert not again["changed"], (count, again)
        if not ended.get("failed"):
            return count
        count += 1
        assert count < 50


def test_a_run_that_ends_at_any_write_of_a_deployment_is_completed(world: World) -> None:
    world.add_nodes(1)

    def from_nothing() -> None:
        if world.get("secrets", ADDITIONAL) is not None:
            world.additional(None)
            world.run(rollout_timeout=0)
        assert world.there() == set()
        world.additional(docker_config(registry_example_com="tenant"))

    # One write for each of seven objects.
    assert _interrupted(world, from_nothing, rollout_timeout=0) == 7
    assert world.there() == {*OURS, "leases"}


def test_a_run_that_ends_at_any_write_of_a_removal_is_completed(world: World) -> None:
    def deployed() -> None:
        world.additional(docker_config(registry_example_com="tenant"))
        world.run(rollout_timeout=0)
        assert world.there() == {*OURS, "leases"}
        world.additional(None)

    # One write restores the original, then seven objects are deleted.
    assert _interrupted(world, deployed, rollout_timeout=0) == 8
    assert world.there() == set()


def test_two_runs_at_once_end_in_one_deployment(world: World) -> None:
    world.additional(docker_config(registry_example_com="tenant"))
    world.add_nodes(30)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _number: world.run(), range(4)))
    assert [result.get("msg") for result in results] == [None] * 4
    assert world.there() == {*OURS, "leases"}
    assert not world.run()["changed"]


def test_a_writer_in_between_is_not_overwritten_blindly(deployed: World) -> None:
    deployed.additional(docker_config(registry_example_com="new"))

    def meanwhile() -> None:
        deployed.merge("secrets", GLOBAL, {"metadata": {"annotations": {"example.com/note": "kept"}}})

    deployed.hosted.before("patch", f"*/secrets/{GLOBAL}", meanwhile)
    result = deployed.run()
    assert not result.get("failed"), result
    assert deployed.held()["registry.example.com"] == "new"
    metadata = deployed.get("secrets", GLOBAL)["metadata"]
    assert metadata["annotations"]["example.com/note"] == "kept"


def test_a_secret_that_gets_another_owner_meanwhile_is_not_written(deployed: World) -> None:
    deployed.additional(docker_config(registry_example_com="new"))

    def meanwhile() -> None:
        deployed.merge("secrets", GLOBAL, {"metadata": {"labels": {"managed-by": "somebody"}}})

    deployed.hosted.before("patch", f"*/secrets/{GLOBAL}", meanwhile)
    assert deployed.run()["kind"] == "ownership"
    assert deployed.held()["registry.example.com"] == "tenant"


def test_a_write_whose_answer_is_lost_is_found_done(deployed: World) -> None:
    deployed.additional(docker_config(registry_example_com="new"))
    deployed.hosted.faults.add(verb="patch", path=f"*/secrets/{GLOBAL}", status=504, phase="after")
    result = deployed.run()
    assert (result.get("failed"), result["changed"]) == (None, True)
    assert deployed.held()["registry.example.com"] == "new"


def test_a_failing_event_stops_nothing(deployed: World) -> None:
    deployed.additional("{")
    deployed.original(docker_config(cloud_openshift_com="new"))
    deployed.hosted.faults.add(verb="create", path="*/events", status=403, times=None)
    result = deployed.run()
    assert not result.get("failed"), result
    assert deployed.held()["cloud.openshift.com"] == "new"
    assert any("the problem could not be reported to the tenant" in text for text in result["warnings"])


def test_one_cluster_that_cannot_be_reached_is_one_failure(servers: Any) -> None:
    worlds = [World(*servers) for dummy in range(3)]
    try:
        for world in worlds:
            world.additional(docker_config(registry_example_com="tenant"))
        # Port 9 of this machine is closed.
        away = json.loads(
            json.dumps(worlds[1].kubeconfig).replace(worlds[1].hosted.url, "http://127.0.0.1:9")
        )
        worlds[1].put_kubeconfig(away)
        targets = [world.options() for world in worlds]
        result = run_task(hosted_cluster_pull_secret, {**worlds[0].connection(), "targets": targets})
        assert result["summary"] == {"total": 3, "changed": 2, "failed": 1}
        (failed,) = result["failed_targets"]
        assert (failed["id"], failed["kind"]) == (worlds[1].id, "unavailable")
        assert "127.0.0.1:9" in failed["msg"]
        assert [world.there() == {*OURS, "leases"} for world in worlds] == [True, False, True]
    finally:
        for world in worlds:
            world.reset()
            world.close()
