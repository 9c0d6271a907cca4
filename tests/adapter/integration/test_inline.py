# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The execution mode ``inline``: the same work without Jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.metrics import AdapterMetrics
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.engine.run_results import (
    request_counts,
    result_document,
)
from tests.adapter.world import ONE, TWO, World, outcomes
from tests.support.secret_manager import PROJECT


@pytest.fixture(autouse=True)
def inline(world: World) -> None:
    world.spec = {"execution": "inline"}


def test_a_batch_is_done_in_one_run(world: World, flavour: str) -> None:
    clusters = [world.cluster() for _number in range(5)]
    unmet, wrong = world.cluster(ready=False), world.cluster("{}")
    handled = world.handle(*clusters, unmet, wrong)
    assert [one.entry()["state"] for one in handled] == ["succeeded"] * 5 + ["unmet", "refused"]
    for one, cluster in zip(handled, clusters, strict=False):
        (end,) = one.ends
        assert (end["result"], end["versions_created"]) == ("success", 1)
        assert world.said(cluster) == "TTTF PullSecretStored"
        data = dict(world.status(cluster)["data"])
        assert bool(data.pop("transitions", None)) == (flavour == "seed")
        assert data == {
            "gcp_secret": f"projects/{PROJECT}/secrets/hyperfleet-{cluster}-pull-secret",
            "management_secret": {"namespace": f"clusters-{cluster}", "name": f"{cluster}-pull-secret"},
            "secret_version": "1",
        }
        assert (world.versions(cluster), world.placed(cluster)) == (1, ONE)
    assert world.jobs() == []
    again = world.handle(*clusters)
    assert all(one.actions == () and one.ends == () for one in again)
    assert all(world.versions(cluster) == 1 for cluster in clusters)


def test_what_drifts_is_brought_back_and_what_changes_gets_a_version(world: World) -> None:
    cluster = world.cluster()
    world.one(cluster)
    path = f"/api/v1/namespaces/clusters-{cluster}/secrets/{cluster}-pull-secret"
    assert world.request("DELETE", path)[0] == 200
    assert world.one(cluster).actions
    assert world.placed(cluster) == ONE
    world.edit(cluster, TWO)
    assert world.one(cluster).entry()["state"] == "succeeded"
    assert (world.versions(cluster), world.placed(cluster)) == (2, TWO)
    assert world.status(cluster)["data"]["secret_version"] == "2"


@pytest.mark.parametrize("policy", ["user-managed:europe-west1", "automatic", None])
def test_a_secret_in_other_locations_is_reported_and_kept(world: World, policy: str | None) -> None:
    """Locations cannot be changed: the pull secret is stored nevertheless, and the status names them."""
    gcp = {"projectId": PROJECT, **({"replicationPolicy": policy} if policy else {})}
    cluster, beside = world.cluster(gcp=gcp), world.cluster(gcp=gcp)
    there = {"userManaged": {"replicas": [{"location": "us-east1"}]}}
    world.manager.seed(
        [
            {
                "project": PROJECT,
                "secret": f"hyperfleet-{cluster}-pull-secret",
                "labels": {"managed-by": "hyperfleet", "cluster-id": cluster},
                "replication": there,
            }
        ]
    )
    for _time in range(2):
        world.handle(cluster, beside)
        assert world.said(cluster) == "TTTF PullSecretStored"
        asked = policy or "automatic"
        said = f"; its replication is not {asked}: it cannot be changed after a secret is created"
        assert world.why(cluster).endswith(said)
        assert "replication" not in world.why(beside)
    record = world.manager.store.find(PROJECT, f"hyperfleet-{cluster}-pull-secret")
    assert record is not None
    assert [one.location for one in record.message.replication.user_managed.replicas] == ["us-east1"]
    assert (world.versions(cluster), world.placed(cluster)) == (1, ONE)


def test_one_failure_stays_one(world: World) -> None:
    good, foreign, homeless = world.cluster(), world.cluster(), world.cluster(ready=False)
    world.depend(homeless)
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
    handled = world.handle(good, foreign, homeless)
    assert outcomes(handled) == ["reported"] * 3
    assert [one.entry()["state"] for one in handled] == ["succeeded", "failed", "failed"]
    assert [one.requeue_after for one in handled] == [None, 60.0, 15.0]
    assert world.said(foreign) == "FFTF OwnershipConflict"
    assert world.said(homeless) == "FFTF DependencyMissing"
    assert "shop-team" in handled[1].detail()["message"]


def test_nothing_is_waited_for_that_a_place_refuses(world: World) -> None:
    cluster = world.cluster()
    world.manager.faults.add(method="*", code="PERMISSION_DENIED")
    handled = world.one(cluster)
    assert handled.entry()["state"] == "failed"
    assert [end["phase"] for end in handled.ends] == ["gcp-secret-manager"]
    assert world.said(cluster) == "FFTF PermissionDenied"


def test_check_mode(world: World) -> None:
    cluster = world.cluster()
    handled = world.one(cluster, check_mode=True)
    assert handled.entry()["state"] == "succeeded"
    assert len(handled.actions) == 3, handled.actions
    assert handled.actions[-1].endswith(f"/secrets/{cluster}-pull-secret")
    assert handled.report is not None
    assert handled.report.message.startswith("A version of projects/")
    assert (world.versions(cluster), world.placed(cluster)) == (0, None)
    assert world.reports(cluster) == []


def counts(result: Mapping[str, Any] | None, api: str) -> Counter[str]:
    calls: list[dict[str, Any]] = (result or {})[f"{api}_api_calls"]
    return Counter({f"{call['operation']} {call['status_code']}": call["count"] for call in calls})


def test_requests_are_reported_with_the_cluster_that_they_were_for(world: World) -> None:
    """As in a Job's termination message. Each request is counted exactly once."""
    first, second = world.cluster(), world.cluster()
    world.one(first)
    world.edit(first, TWO)
    foreign = world.cluster()
    world.manager.seed(
        [{"project": PROJECT, "secret": f"hyperfleet-{foreign}-pull-secret", "versions": [{"data": "x"}]}]
    )
    many = [world.cluster() for _number in range(4)]
    world.manager.calls.clear()
    world.kubernetes.calls.clear()
    ran = world.ran(first, second, foreign, *many)
    told = {one.cluster_id: one.ends[0] for one in ran.results}
    assert all(job["duration_seconds"] > 0 for job in told.values())
    assert told[first]["phase"] == told[second]["phase"] == "k8s-secret"
    assert told[first]["result"] == "success"
    assert counts(told[first], "gcp")["add_secret_version 200"] == 1
    assert counts(told[first], "gcp")["create_secret 200"] == 0
    assert counts(told[second], "gcp")["create_secret 200"] == 1
    assert counts(told[second], "k8s")["create_secret 201"] == 1
    assert (told[foreign]["result"], told[foreign]["kind"]) == ("failure", "ownership")
    assert counts(told[foreign], "k8s") == Counter()
    everything = {
        api: sum((counts(job, api) for job in (*told.values(), request_counts(ran.calls))), Counter())
        for api in ("gcp", "k8s")
    }
    assert sum(everything["gcp"].values()) == world.manager.calls.count()
    assert sum(everything["k8s"].values()) == world.kubernetes.calls.count("*", "*/secrets*")
    metrics = AdapterMetrics()
    metrics.count(result_document(ran.results, "", "", ran.calls))
    read = metrics.registry.get_sample_value
    for api, total in everything.items():
        for name, number in total.items():
            operation, status = name.split()
            labels = {"operation": operation, "status_code": status}
            assert read(f"pullsecret_{api}_api_calls_total", labels) == number, name
    assert read("pullsecret_secret_versions_created_total", {}) == 6
    assert read("pullsecret_job_run_seconds_count", {"result": "success"}) == 6
    assert read("pullsecret_job_failures_total", {"kind": "ownership", "phase": "gcp-secret-manager"}) == 1


def test_a_run_without_changes_is_no_job_and_its_requests_are_counted(world: World) -> None:
    cluster = world.cluster()
    world.one(cluster)
    world.manager.calls.clear()
    ran = world.ran(cluster)
    assert ran.results[0].ends == ()
    asked = counts(request_counts(ran.calls), "gcp")
    assert sum(asked.values()) == world.manager.calls.count() > 0
    world.delete(cluster)
    world.manager.calls.clear()
    gone = world.ran(cluster)
    assert counts(request_counts(gone.calls), "gcp")["delete_secret 200"] == 1
    assert sum(counts(request_counts(gone.calls), "gcp").values()) == world.manager.calls.count()
