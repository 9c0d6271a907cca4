# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A tenant is admin in their hosted cluster: nothing that they do there affects another cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes_secret import (
    owned_objects,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import hosted_cluster_pull_secret
from tests.hosted.integration.test_edges import annotation, deployed
from tests.hosted.integration.world import ADDITIONAL, GLOBAL, OURS, STATUS, SYNCER, World
from tests.support.docker_configs import TYPE, docker_config, encoded
from tests.support.kubernetes.running import run_task
from tests.support.kubernetes.world import Api
from tests.support.nightly import some


@pytest.fixture
def other(servers: tuple[Api, Api]) -> Iterator[World]:
    """The hosted cluster of another tenant."""
    made = World(*servers)
    made.additional(docker_config(registry_example_com="tenant"))
    yield made
    made.close()


def run_both(world: World, other: World, **more: Any) -> list[Any]:
    """Run for both clusters in sequence, the hostile one first."""
    params = {**world.connection(), "targets": [world.options(), other.options()], "concurrency": 1, **more}
    targets: list[Any] = run_task(hosted_cluster_pull_secret, params)["targets"]
    assert not targets[1].get("failed"), targets[1]
    assert other.there() == {*OURS, "leases"}
    return targets


@pytest.mark.parametrize("fault", some([{"delay": 30.0}, {"status": 503}, {"drop": True}]), ids=str)
def test_an_api_server_that_hangs_does_not_delay_others(
    world: World, other: World, fault: dict[str, Any]
) -> None:
    world.additional(docker_config(registry_example_com="tenant"))
    world.hosted.faults.add(path=f"*/namespaces/{world.namespace}/*", times=None, **fault)
    hostile, dummy = run_both(world, other, timeout=12, api_timeout=3)
    assert hostile["failed"]
    assert hostile["kind"] in ("timeout", "unavailable")


@pytest.mark.parametrize("field", ["spec.pullSecret", "status.kubeConfig"])
def test_a_control_plane_can_only_name_its_own_secrets(world: World, other: World, field: str) -> None:
    """API paths contain names, and HTTP clients resolve dots in a path."""
    world.additional(docker_config(registry_example_com="tenant"))
    part, dummy, name = field.partition(".")
    theirs = {"spec.pullSecret": "pull-secret", "status.kubeConfig": "admin-kubeconfig"}[field]
    patch = {part: {name: {"name": f"../../{other.control_plane}/secrets/{theirs}"}}}
    at = world.plane
    assert world.management.request("PATCH", at, patch, "application/merge-patch+json")[0] == 200
    hostile = run_both(world, other)[0]
    assert hostile["kind"] == "configuration", hostile
    assert hostile["msg"].endswith(f"{field}.name is not a valid name")
    assert world.there() == set()


def test_a_page_of_huge_objects_is_not_held(
    world: World, other: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owned_objects, "_LARGEST", 1024 * 1024)
    world.additional(docker_config(registry_example_com="tenant"))
    for number in range(5):
        body = {
            "metadata": {"name": f"theirs-{number}", "annotations": {"example.com/a": "x" * 250_000}},
            "spec": {},
        }
        world.hosted.create(world.namespace, "leases", body)
    hostile, dummy = run_both(world, other)
    assert hostile["failed"]
    assert "the answer has more than 1 MiB" in hostile["msg"]


@pytest.mark.nightly
def test_more_registries_than_fit_an_annotation_do_not_stop_the_original(world: World) -> None:
    deployed(world)
    world.additional(docker_config(**{f"registry_{number:05d}_example_com": "x" for number in range(6000)}))
    world.original(docker_config(cloud_openshift_com="new", quay_io="new"))
    result = world.run()
    assert (result.get("failed"), result["additional"]) == (None, "kept")
    assert world.held() == {"cloud.openshift.com": "new", "quay.io": "new", "registry.example.com": "tenant"}
    assert annotation(world) == "too many registries (6000): their names must fit in 128 KiB"


JUNK: dict[str, Any] = {
    "immutable": {"immutable": True},
    "binary": {"binaryData": {"junk": "AAAA"}},
    "other keys": {"data": {"junk": "x"}},
}


@pytest.mark.parametrize("junk", JUNK.values(), ids=JUNK)
def test_reports_find_room_again(world: World, junk: Any) -> None:
    deployed(world)
    world.merge("configmaps", STATUS, junk)
    assert world.run()["changed"]
    status = world.get("configmaps", STATUS)
    assert (status.get("immutable"), status.get("binaryData")) == (None, None)
    assert "junk" not in (status.get("data") or {})
    assert not world.run()["changed"]


def test_a_report_without_end_is_taken_away(world: World) -> None:
    names = deployed(world)
    world.report(names[0], "failed", "word " * 2000)
    result = world.run()
    assert len(json.dumps(result)) < 10_000
    assert set(world.get("configmaps", STATUS)["data"]) == {names[1]}


@pytest.mark.parametrize("name", [ADDITIONAL, GLOBAL])
def test_an_immutable_secret_is_no_obstacle(world: World, name: str) -> None:
    deployed(world)
    world.merge("secrets", name, {"immutable": True})
    world.original(docker_config(cloud_openshift_com="new", quay_io="new"))
    result = world.run()
    assert not result.get("failed"), result
    assert world.held() == {"cloud.openshift.com": "new", "quay.io": "new", "registry.example.com": "tenant"}


def test_a_secret_of_a_wrong_type_is_replaced(world: World) -> None:
    deployed(world)
    kept = world.get("secrets", GLOBAL)
    world.delete("secrets", GLOBAL)
    body = {"metadata": {"name": GLOBAL, "labels": kept["metadata"]["labels"]}, "data": {"a": encoded("b")}}
    world.hosted.create(world.namespace, "secrets", body)
    assert world.run()["actions"] == ["replaced secret"]
    found = world.get("secrets", GLOBAL)
    assert (found["type"], found["data"]) == (TYPE, kept["data"])


def test_leases_of_our_names_are_taken_away_or_refused(world: World) -> None:
    deployed(world)
    labels = world.get("leases", f"{SYNCER}-restart-0")["metadata"]["labels"]
    for number in (7, 9999):
        body = {"metadata": {"name": f"{SYNCER}-restart-{number}", "labels": labels}, "spec": {}}
        world.hosted.create(world.namespace, "leases", body)
    assert world.run()["actions"] == ["deleted leases"]
    assert world.leases() == [f"{SYNCER}-restart-0"]
    unlabelled = {**body, "metadata": {"name": body["metadata"]["name"]}}
    world.hosted.create(world.namespace, "leases", unlabelled)
    assert world.run()["kind"] == "ownership"


def test_slots_that_the_pods_do_not_know_are_not_counted(world: World) -> None:
    """The tenant may have written the DaemonSet."""
    deployed(world)
    pod = world.get("daemonsets", SYNCER)["spec"]["template"]["spec"]
    for text in ("", "x", ",".join(f"{SYNCER}-restart-{number}" for number in range(500))):
        for variable in pod["containers"][0]["env"]:
            if variable["name"] == "SYNCER_LEASES":
                variable["value"] = text
        world.merge("daemonsets", SYNCER, {"spec": {"template": {"spec": pod}}})
        assert world.run()["actions"] == ["updated daemonset"]
        assert world.leases() == [f"{SYNCER}-restart-0"]
