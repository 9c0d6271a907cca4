# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Clusters and statuses with hostile content must not affect other clusters."""

from __future__ import annotations

from typing import Any

import pytest

from tests.adapter.integration.test_deletion import made, managed
from tests.adapter.world import World
from tests.support.secret_manager import PROJECT


def own(world: World, cluster: str, data: dict[str, Any]) -> None:
    """Write the adapter's status as another writer would."""
    world.say(cluster, "pullsecret", "False", data)


def test_a_status_that_names_secrets_of_another_cluster_blocks_no_deletion(world: World) -> None:
    first, second, third = made(world), made(world), made(world)
    own(world, second, world.status(first)["data"])
    for cluster in (first, second, third):
        world.delete(cluster)
    handled = world.handle(first, second, third)
    assert [one.entry()["state"] for one in handled] == ["deleted"] * 3
    assert not any(managed(world, cluster) for cluster in (first, second, third))


@pytest.mark.parametrize("execution", ["job", "inline"])
def test_a_placement_that_is_not_allowed_gets_nothing(world: World, execution: str) -> None:
    world.spec = {"execution": execution, "placement": {"allowedNamespaces": ["clusters-*"]}}
    cluster, beside = world.cluster(), world.cluster()
    world.say(cluster, "placement", "True", {"namespace": "kube-system"})
    world.kubernetes.calls.clear()
    handled = world.one(cluster)
    assert (handled.entry()["state"], handled.entry()["reason"]) == ("refused", "NamespaceNotAllowed")
    assert world.said(cluster) == "FFTF NamespaceNotAllowed"
    conditions = {one["type"]: one for one in world.status(cluster)["conditions"]}
    assert "spec.placement.allowedNamespaces" in conditions["Available"]["message"]
    assert [call.path for call in world.kubernetes.calls.matching() if call.method != "GET"] == []
    assert (world.versions(cluster), world.jobs(), world.data_secrets()) == (0, [], [])
    assert world.one(beside).entry()["state"] == ("created" if execution == "job" else "succeeded")


@pytest.mark.parametrize("execution", ["job", "inline"])
@pytest.mark.parametrize(
    "policy",
    [
        *("user-managed", "user-managed:", "evil:us-east1", "regional", "user-managed:EU"),
        *({"userManaged": {"replicas": [{"location": "europe-west1"}]}}, ["europe-west1"], False, 0),
    ],
    ids=str,
)
def test_an_invalid_replication_is_not_all_locations(world: World, policy: Any, execution: str) -> None:
    world.spec = {"execution": execution}
    cluster = world.cluster(gcp={"projectId": PROJECT, "replicationPolicy": policy})
    handled = world.one(cluster)
    assert (handled.entry()["state"], handled.entry()["reason"]) == ("refused", "InvalidClusterSpec")
    assert world.said(cluster) == "FFTF InvalidClusterSpec"
    assert world.why(cluster).startswith("spec.gcp.replicationPolicy")
    assert (world.versions(cluster), world.jobs()) == (0, [])
