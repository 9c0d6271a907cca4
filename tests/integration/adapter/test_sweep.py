# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sweep over all clusters of the API, and over what is left of those that are gone."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import hyperfleet_adapter
from tests.integration.adapter.world import World
from tests.lab.hyperfleet.problems import ApiError


def test_all_clusters_page_by_page(world: World) -> None:
    clusters = [world.cluster(ready=False) for _number in range(230)]
    handled = world.handle(all=True)
    assert sorted(one.cluster_id for one in handled) == sorted(clusters)
    assert {one.entry()["state"] for one in handled} == {"unmet"}
    assert world.hyperfleet.calls.count("GET", "*/clusters") == 3


def test_what_is_left_of_a_cluster_that_is_gone_is_removed(world: World) -> None:
    lost, kept = world.cluster(), world.cluster()
    world.handle(lost, kept)
    assert len(world.jobs()) == 2
    cluster = world.read(kept)
    world.hyperfleet.store.reset()
    world.hyperfleet.store.seed([{"id": kept, "spec": cluster["spec"]}])
    checked = {one.cluster_id: one for one in world.handle(all=True, check_mode=True)}
    assert checked[lost].actions
    assert len(world.jobs()) == 2
    handled = {one.cluster_id: one for one in world.handle(all=True)}
    assert (handled[lost].outcome, handled[kept].outcome) == ("gone", "reported")
    assert world.jobs() == [f"pullsecret-{kept}-gen1"]
    assert world.data_secrets() == [f"cluster-{kept}-pullsecret-data"]


def test_what_the_api_does_not_answer_for_stays(world: World) -> None:
    """Only its word that a cluster is gone lets anything be removed."""
    lost = world.cluster()
    world.one(lost)
    world.hyperfleet.store.reset()
    world.hyperfleet.faults.add(method="GET", path=f"*/clusters/{lost}", status=500)
    (handled,) = world.handle(all=True)
    assert handled.outcome == "failed"
    assert len(world.jobs()) == 1


def test_a_listing_that_ends_early_is_a_failure_and_what_was_done_is_told(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = world.cluster()
    world.one(lost)
    world.hyperfleet.store.reset()
    clusters = {world.cluster(ready=False) for _number in range(110)}
    monkeypatch.setattr(hyperfleet_adapter, "_CHUNK", 50)
    store = world.hyperfleet.store
    select = store.select

    def ends(wanted: Any, order: Any, start: int, size: int) -> Any:
        if start >= 100:
            raise ApiError.of_status(500)
        return select(wanted, order, start, size)

    monkeypatch.setattr(store, "select", ends)
    ran = world.ran(all=True)
    assert ran.problem is not None
    assert {one.cluster_id for one in ran.handled} < clusters
    assert world.jobs() == [f"pullsecret-{lost}-gen1"], "nobody said that it is gone"
    result = ran.result(None)
    assert result["failed"] is True
    assert result["summary"]["reported"] == 100
    assert "the sweep did not end: " in result["msg"]


def test_what_is_left_cannot_be_listed(world: World) -> None:
    cluster = world.cluster(ready=False)
    world.kubernetes.faults.add(verb="list", path="*/jobs", status=403, reason="Forbidden", times=None)
    ran = world.ran(all=True)
    assert [one.cluster_id for one in ran.handled] == [cluster]
    assert ran.problem is not None
    assert ran.problem.kind == "permission_denied"
