# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Deleting a cluster: the adapter deletes everything that it created, and then reports Finalized."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.adapter.world import World
from tests.stand_ins.hyperfleet.store import Cluster
from tests.support.secret_manager import PROJECT


def made(world: World) -> str:
    cluster = world.cluster()
    world.one(cluster)
    world.do_the_job(cluster, f"pullsecret-{cluster}-gen1")
    world.one(cluster)
    assert world.said(cluster).startswith("TTTF ")
    return cluster


def managed(world: World, cluster: str) -> bool:
    path = f"/api/v1/namespaces/clusters-{cluster}/secrets/{cluster}-pull-secret"
    return world.request("GET", path)[0] == 200


def test_everything_is_deleted_and_then_the_cluster(world: World, flavour: str) -> None:
    cluster = made(world)
    world.delete(cluster)
    handled = world.one(cluster)
    assert (handled.outcome, handled.entry()["state"]) == ("reported", "deleted"), handled.detail()
    assert [c.status for c in handled.report.api_report.conditions] == ["False", "False", "True", "True"]  # type: ignore[union-attr]
    assert world.jobs() == world.data_secrets() == []
    assert world.versions(cluster) == 0
    assert not managed(world, cluster)
    assert world.is_gone(cluster), "the API deletes the cluster after the adapter's last report"
    assert world.one(cluster).outcome == "gone"


def test_a_finalized_cluster_that_is_still_there_is_looked_at_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it has node pools, the API keeps it, and deletes it only when another report comes."""
    cluster = made(world)
    world.delete(cluster)
    monkeypatch.setattr(Cluster, "finished", False)
    looks = [world.one(cluster), world.one(cluster)]
    assert [(one.entry()["state"], one.entry()["again"]) for one in looks] == [("deleted", 60.0)] * 2
    assert world.said(cluster) == "FFTT Deleted"
    monkeypatch.undo()
    assert not world.is_gone(cluster)
    world.one(cluster)
    assert world.is_gone(cluster)
    last = world.one(cluster)
    assert (last.outcome, last.entry()["again"]) == ("gone", None)


def test_the_stores_secret_can_be_kept(world: World) -> None:
    cluster = made(world)
    world.spec = {"deletion": {"store": "keep"}}
    world.delete(cluster)
    handled = world.one(cluster)
    assert handled.entry()["state"] == "deleted"
    assert f"projects/{PROJECT}/secrets/hyperfleet-{cluster}-pull-secret" in handled.detail()["message"]
    assert world.versions(cluster) == 1
    assert not managed(world, cluster)


def test_deleted_while_its_job_runs(world: World) -> None:
    """A pod that still runs could create the secrets again: the adapter waits for it."""
    cluster = world.cluster()
    job = f"pullsecret-{cluster}-gen1"
    world.one(cluster)
    world.playing.run(job, node="node-1")
    world.delete(cluster)
    first = world.one(cluster)
    assert (first.entry()["state"], first.requeue_after) == ("deleting", 2.0)
    assert world.said(cluster) == "TFTF Deleting"
    assert not first.job_created
    world.playing.end_deleted()
    assert world.one(cluster).entry()["state"] == "deleted"
    assert world.is_gone(cluster)


def test_deleted_before_anything_was_made(world: World) -> None:
    cluster = world.cluster(ready=False)
    world.delete(cluster)
    world.manager.faults.add(method="*", code="PERMISSION_DENIED")
    handled = world.one(cluster)
    assert handled.entry()["state"] == "deleted", handled.detail()
    assert world.is_gone(cluster)


def test_what_cannot_be_removed_is_not_reported_as_gone(world: World) -> None:
    cluster = made(world)
    world.delete(cluster)
    world.manager.faults.add(method="*", code="PERMISSION_DENIED")
    handled = world.one(cluster)
    assert (handled.entry()["state"], handled.requeue_after) == ("deleting", 60.0)
    assert world.said(cluster) == "TFTF RemovalPermissionDenied"
    assert "PERMISSION_DENIED" in handled.detail()["message"]
    world.manager.faults.clear()
    assert world.one(cluster).entry()["state"] == "deleted"


def refused_in_its_namespace(world: World) -> str:
    """A deleted cluster whose management Secret the adapter may not read."""
    cluster = made(world)
    world.delete(cluster)
    secret = f"/api/v1/namespaces/clusters-{cluster}/secrets/{cluster}-pull-secret"
    world.kubernetes.faults.add(method="GET", path=secret, status=403)
    return cluster


def test_a_namespace_that_is_not_allowed_blocks_no_deletion(world: World) -> None:
    """Placement now names a namespace where nothing was created and where the adapter has no rights."""
    cluster = made(world)
    world.spec = {"placement": {"allowedNamespaces": ["clusters-*"]}}
    world.say(cluster, "placement", "True", {"namespace": "kube-system"})
    secret = f"/api/v1/namespaces/kube-system/secrets/{cluster}-pull-secret"
    world.kubernetes.faults.add(method="GET", path=secret, status=403)
    assert world.one(cluster).entry()["reason"] == "NamespaceNotAllowed"
    world.delete(cluster)
    handled = world.one(cluster)
    assert handled.entry()["state"] == "deleted", handled.detail()
    assert world.is_gone(cluster)
    assert (world.versions(cluster), managed(world, cluster)) == (0, False)


def test_a_secret_from_before_the_restriction_is_not_reported_as_gone(world: World) -> None:
    cluster = refused_in_its_namespace(world)
    world.spec = {"placement": {"allowedNamespaces": ["elsewhere"]}}
    assert world.one(cluster).entry()["state"] == "deleting"
    world.kubernetes.faults.clear()
    assert world.one(cluster).entry()["state"] == "deleted"
    assert not managed(world, cluster)


def test_a_secret_that_may_not_be_read_is_not_reported_as_gone(world: World) -> None:
    cluster = refused_in_its_namespace(world)
    handled = world.one(cluster)
    assert (handled.entry()["state"], handled.requeue_after) == ("deleting", 60.0)
    assert "Forbidden" in handled.detail()["message"]
    assert world.kubernetes.store.find("secrets", f"clusters-{cluster}", f"{cluster}-pull-secret")


def test_the_namespace_went_and_our_rights_with_it(world: World) -> None:
    """Without rights the API server refuses every request, whether or not the namespace exists."""
    cluster = refused_in_its_namespace(world)
    assert world.request("DELETE", f"/api/v1/namespaces/clusters-{cluster}")[0] == 200
    handled = world.one(cluster)
    assert handled.entry()["state"] == "deleted", handled.detail()
    assert world.is_gone(cluster)
    assert world.versions(cluster) == 0


def test_a_namespace_that_may_not_be_read_is_not_reported_as_gone(world: World) -> None:
    cluster = refused_in_its_namespace(world)
    assert world.request("DELETE", f"/api/v1/namespaces/clusters-{cluster}")[0] == 200
    world.kubernetes.faults.add(method="GET", path=f"/api/v1/namespaces/clusters-{cluster}", status=403)
    assert world.one(cluster).entry()["state"] == "deleting"


def test_a_secret_of_another_owner_stays(world: World) -> None:
    cluster = made(world)
    path = f"/api/v1/namespaces/clusters-{cluster}/secrets/{cluster}-pull-secret"
    labels: Any = {"metadata": {"labels": {"managed-by": "shop-team"}}}
    world.request("PATCH", path, labels, "application/merge-patch+json")
    world.delete(cluster)
    assert world.one(cluster).entry()["state"] == "deleted"
    assert managed(world, cluster)


def test_a_removal_goes_where_the_secret_was_and_not_where_placement_points_now(world: World) -> None:
    cluster = made(world)
    world.delete(cluster)
    world.namespace("elsewhere")
    world.say(cluster, "placement", "True", {"namespace": "elsewhere"})
    assert world.one(cluster).entry()["state"] == "deleted"
    assert not managed(world, cluster)


def test_a_removal_goes_wherever_placement_has_pointed(world: World) -> None:
    world.spec = {"execution": "inline"}
    cluster = world.cluster()
    first = f"clusters-{cluster}"
    world.one(cluster)
    for place in ("second", "third"):
        world.namespace(place)
        world.say(cluster, "placement", "True", {"namespace": place})
        assert world.one(cluster).entry()["state"] == "succeeded"
    paths = [f"/api/v1/namespaces/{one}/secrets/{cluster}-pull-secret" for one in (first, "second", "third")]
    assert [world.request("GET", path)[0] for path in paths] == [200, 200, 200]
    world.delete(cluster)
    assert world.one(cluster).entry()["state"] == "deleted"
    assert [world.request("GET", path)[0] for path in paths] == [404, 404, 404]


@pytest.mark.parametrize("execution", ["job", "inline"])
def test_many_are_removed_at_once(world: World, execution: str) -> None:
    world.spec = {"execution": execution}
    clusters = [world.cluster() for _number in range(12)]
    world.handle(*clusters)
    for cluster in clusters:
        if execution == "job":
            world.do_the_job(cluster, f"pullsecret-{cluster}-gen1")
    world.handle(*clusters)
    for cluster in clusters:
        world.delete(cluster)
    handled = world.handle(*clusters)
    assert {one.entry()["state"] for one in handled} == {"deleted"}, json.dumps([h.detail() for h in handled])
    assert all(world.is_gone(cluster) and world.versions(cluster) == 0 for cluster in clusters)
    assert not any(managed(world, cluster) for cluster in clusters)
