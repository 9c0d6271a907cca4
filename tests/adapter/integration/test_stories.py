# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The life of a cluster with Jobs: from the first event to the reported version, and later changes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.adapter.world import NAMESPACE, TRACE, TWO, World, outcomes
from tests.stand_ins.http_server import Request
from tests.support.secret_manager import PROJECT


def test_from_the_first_event_to_the_version(world: World, flavour: str) -> None:
    cluster = world.cluster()
    job = f"pullsecret-{cluster}-gen1"
    first = world.one(cluster)
    assert (first.outcome, first.entry()["state"], first.requeue_after) == ("reported", "created", 2.0)
    assert first.job_created
    assert world.said(cluster) == "TFTF JobCreated"
    assert world.jobs() == [job]
    assert world.data_secrets() == [f"cluster-{cluster}-pullsecret-data"]

    world.playing.run(job)
    running = world.one(cluster)
    assert (running.entry()["state"], running.requeue_after, running.job_created) == ("running", 2.0, False)
    assert world.said(cluster).startswith("TFTF ")

    world.do_the_job(cluster, job, "7")
    done = world.one(cluster)
    assert (done.entry()["state"], done.requeue_after) == ("succeeded", None)
    assert [end["result"] for end in done.ends] == ["success"]
    assert world.said(cluster).startswith("TTTF ")
    status = world.status(cluster)
    status["data"].pop("transitions", None)  # only in one form of the API
    assert status["data"] == {
        "gcp_secret": f"projects/{PROJECT}/secrets/hyperfleet-{cluster}-pull-secret",
        "management_secret": {"namespace": f"clusters-{cluster}", "name": f"{cluster}-pull-secret"},
        "job_name": job,
        "secret_version": "7",
        "content_digest": status["data"]["content_digest"],
    }
    assert status["data"]["content_digest"].startswith("hmac-sha256:")
    assert status["metadata"]["job_namespace"] == NAMESPACE
    assert status["observedGeneration" if flavour == "seed" else "observed_generation"] == 1

    again = world.one(cluster)
    assert (again.actions, again.ends) == ((), ()), "the end of a Job must be reported once"
    assert set(world.reports(cluster)) <= {200, 201}


def test_a_secret_that_a_job_found_in_other_locations_is_reported(world: World) -> None:
    cluster = world.cluster(gcp={"projectId": PROJECT, "replicationPolicy": "user-managed:europe-west1"})
    world.one(cluster)
    (job,) = world.jobs()
    said = {"secret": f"projects/{PROJECT}/secrets/hyperfleet-{cluster}-pull-secret"}
    world.playing.finish(job, world.message("1", replication_differs=True, **said))
    for _time in range(2):
        world.one(cluster)
        assert world.said(cluster) == "TTTF PullSecretStored"
        assert "; its replication is not user-managed:europe-west1: it cannot be changed" in world.why(
            cluster
        )


def test_preconditions_that_are_not_met_are_reported_with_their_reasons(world: World, flavour: str) -> None:
    cluster = world.cluster(ready=False)
    handled = world.one(cluster)
    assert (handled.outcome, handled.entry()["state"], handled.requeue_after) == ("reported", "unmet", None)
    assert world.said(cluster) == "FFTF PreconditionsNotMet"
    message = next(c["message"] for c in world.status(cluster)["conditions"] if c["type"] == "Available")
    for said in ("validation", "dns", "placement"):
        assert said in message
    assert world.jobs() == []
    world.namespace(f"clusters-{cluster}")
    world.depend(cluster, "False")
    assert world.one(cluster).entry()["state"] == "unmet"
    world.depend(cluster)
    assert world.one(cluster).entry()["state"] == "created"


def test_a_placement_of_an_earlier_generation_does_not_count(world: World) -> None:
    cluster = world.cluster()
    world.api("PATCH", f"/clusters/{cluster}", {"labels": {"a": "b"}})
    handled = world.one(cluster)
    assert handled.entry()["state"] == "unmet"
    assert (
        "the placement adapter has not reported a namespace for the cluster's current generation"
        in handled.detail()["message"]
    )
    assert handled.generation == 2


@pytest.mark.parametrize("text", ['{"auths": {"quay.io": {"auth": "%%example-value%%"}}}', "example-value"])
def test_a_wrong_pull_secret_is_refused_without_a_job(world: World, text: str) -> None:
    cluster = world.cluster(text)
    handled = world.one(cluster)
    assert (handled.entry()["state"], handled.requeue_after) == ("refused", None)
    assert world.said(cluster) == "FFTF InvalidPullSecret"
    assert world.jobs() == world.data_secrets() == []
    assert "example-value" not in json.dumps([handled.detail(), world.status(cluster), world.log])


def test_a_failed_job_is_reported_with_its_message(world: World) -> None:
    cluster = world.cluster()
    job = f"pullsecret-{cluster}-gen1"
    world.one(cluster)
    said = "PERMISSION_DENIED on projects/p: roles/secretmanager.admin is missing"
    message = {"result": "failure", "kind": "permission_denied", "message": said}
    world.playing.finish(job, json.dumps(message), exit_code=2)
    handled = world.one(cluster)
    assert handled.outcome == "reported"
    assert handled.entry()["state"] == "failed"
    assert [end["kind"] for end in handled.ends] == ["permission_denied"]
    conditions = {one["type"]: one for one in world.status(cluster)["conditions"]}
    assert conditions["Available"]["status"] == "False"
    assert said in conditions["Available"]["message"]
    assert conditions["Health"]["status"] == "True"


@pytest.mark.parametrize(
    ("said", "end", "kind", "level"),
    [
        ({"kind": "unavailable", "message": "UNAVAILABLE"}, {}, "unavailable", "warn"),
        ({"kind": "dependency", "message": 'namespaces "x" not found'}, {}, "dependency", "error"),
        ({"kind": "verification", "message": "differs"}, {}, "verification", "error"),
        (None, {"exit_code": 137, "reason": "OOMKilled"}, "out_of_memory", "error"),
        (None, {"exit_code": 2}, "input_refused", "error"),
    ],
)
def test_a_new_clusters_failure_has_its_jobs_kind(
    world: World, said: Any, end: dict[str, Any], kind: str, level: str
) -> None:
    """Its management Secret never existed. The log's level and the metrics of clusters and of Jobs agree."""
    world.spec = {"jobTemplate": {"image": "registry.example.com/pullsecret-job:1", "backoffLimit": 0}}
    cluster = world.cluster()
    world.one(cluster)
    message = json.dumps({"result": "failure", **said}) if said else ""
    world.playing.finish(f"pullsecret-{cluster}-gen1", message, **{"exit_code": 1, **end})
    first, second = world.one(cluster), world.one(cluster)
    assert [one.entry()["kind"] for one in (first, second)] == [kind, kind]
    assert ([one["kind"] for one in first.ends], second.ends) == ([kind], ())
    lines = [entry["level"] for entry in world.log if entry.get("state") == "failed"]
    assert lines == [level, level]


def test_a_cluster_in_another_management_cluster_is_not_available(world: World, flavour: str) -> None:
    world.spec = {"placement": {"managementCluster": "mgmt-1"}}
    cluster = world.cluster()
    world.one(cluster)
    world.do_the_job(cluster, f"pullsecret-{cluster}-gen1")
    world.one(cluster)
    assert world.said(cluster) == "TTTF PullSecretStored"
    place = {"namespace": f"clusters-{cluster}", "managementCluster": "mgmt-2"}
    world.say(cluster, "placement", "True", place)
    assert world.one(cluster).actions == ()
    assert world.said(cluster) == "FFTF PreconditionsNotMet"
    assert world.why(cluster) == (
        "Preconditions not met: placement names the management cluster 'mgmt-2', and this adapter works only in "
        "'mgmt-1' (spec.placement.managementCluster)"
    )
    world.say(cluster, "placement", "True", {**place, "managementCluster": "mgmt-1"})
    world.one(cluster)
    assert world.said(cluster) == "TTTF PullSecretStored"


def test_an_image_that_cannot_be_pulled_is_seldom_checked(world: World) -> None:
    cluster = world.cluster()
    world.one(cluster)
    world.playing.stick(f"pullsecret-{cluster}-gen1", "ImagePullBackOff", "Back-off pulling image")
    handled = world.one(cluster)
    assert (handled.entry()["state"], handled.requeue_after) == ("stuck", 30.0)
    assert world.said(cluster).startswith("TFTF ")


def test_a_new_pull_secret_gets_a_job_of_its_generation_and_labels_get_none(world: World) -> None:
    cluster = world.cluster()
    world.one(cluster)
    world.do_the_job(cluster, f"pullsecret-{cluster}-gen1")
    world.one(cluster)
    world.edit(cluster, team="a")
    relabelled = world.one(cluster)
    assert (relabelled.generation, relabelled.entry()["state"]) == (2, "succeeded")
    assert world.said(cluster).startswith("TTTF ")
    world.edit(cluster, TWO)
    changed = world.one(cluster)
    assert (changed.generation, changed.entry()["state"]) == (3, "created")
    assert f"pullsecret-{cluster}-gen3" in world.jobs()
    assert world.status(cluster)["data"]["secret_version"] == "1", (
        "the last version that is known to be stored"
    )
    world.playing.finish(f"pullsecret-{cluster}-gen3", world.message("2"))
    assert world.one(cluster).entry()["state"] == "succeeded"
    assert world.status(cluster)["data"]["secret_version"] == "2"


def test_a_job_that_its_ttl_deleted_is_created_again_and_the_cluster_stays_available(
    world: World, flavour: str
) -> None:
    cluster = world.cluster()
    job = f"pullsecret-{cluster}-gen1"
    world.one(cluster)
    world.do_the_job(cluster, job)
    world.one(cluster)
    assert world.request("DELETE", f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/{job}")[0] == 200
    assert world.one(cluster).entry()["state"] == "created"
    assert world.said(cluster) == "TTTF PullSecretStored"
    world.playing.run(job)
    assert world.one(cluster).entry()["state"] == "running"
    assert world.said(cluster) == "TTTF PullSecretStored"
    said = {"result": "failure", "kind": "permission_denied", "message": "no"}
    world.playing.finish(job, json.dumps(said), exit_code=2)
    world.one(cluster)
    # The Job failed before it could check the Secrets.
    assert world.said(cluster) == "TTFF PullSecretStored"
    health = next(one for one in world.status(cluster)["conditions"] if one["type"] == "Health")
    assert health["reason"] == "PermissionDenied"


def test_a_deleted_management_secret_is_reported_and_created_again(world: World) -> None:
    cluster = world.cluster()
    job = f"pullsecret-{cluster}-gen1"
    world.one(cluster)
    world.do_the_job(cluster, job)
    for _look in range(2):
        world.one(cluster)
        assert world.said(cluster) == "TTTF PullSecretStored"
    path = f"/api/v1/namespaces/clusters-{cluster}/secrets/{cluster}-pull-secret"
    assert world.request("DELETE", path)[0] == 200
    seen = world.one(cluster)
    assert (seen.entry()["state"], seen.requeue_after, seen.ends) == ("failed", 15.0, ())
    assert world.said(cluster) == "TFTF ManagementSecretMissing"
    # Change the time at which the Job ended to an earlier one.
    conditions = [{"type": "Complete", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z"}]
    status = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/{job}/status"
    patch = {"status": {"conditions": conditions}}
    assert world.request("PATCH", status, patch, "application/merge-patch+json")[0] == 200
    made = world.one(cluster)
    assert (made.entry()["state"], made.entry()["reason"]) == ("created", "ManagementSecretMissing")
    assert world.said(cluster) == "TFTF ManagementSecretMissing"
    assert world.status(cluster)["metadata"]["attempt"] == 2
    world.playing.run(job)
    world.one(cluster)
    assert world.said(cluster) == "TFTF JobRunning", "the drift makes earlier results of this content invalid"
    world.playing.finish(job, world.message())
    world.one(cluster)
    assert world.said(cluster) == "TTTF PullSecretStored"


def test_one_cluster_is_handled_once_however_often_its_id_comes(world: World) -> None:
    cluster, other = world.cluster(), world.cluster()
    handled = world.handle(*([cluster] * 50), other, *([cluster] * 50))
    assert [one.cluster_id for one in handled] == [cluster, other]
    assert len(world.reports(cluster)) == 1
    assert len(world.jobs()) == 2


def test_a_cluster_that_is_gone_is_left_alone(world: World) -> None:
    cluster = world.cluster()
    handled = world.handle("cls-nowhere", cluster, "not an id")
    assert outcomes(handled) == ["gone", "reported", "failed"]
    assert handled[0].requeue_after is None
    assert handled[2].kind == "configuration"


def test_many_clusters_are_read_in_few_requests(world: World) -> None:
    clusters = [world.cluster(ready=False) for _number in range(150)]
    world.hyperfleet.calls.clear()
    assert set(outcomes(world.handle(*clusters))) == {"reported"}
    assert world.hyperfleet.calls.count("GET", "*/clusters") == 2
    assert world.hyperfleet.calls.count("GET", "*/clusters/cls-*") == 150, "one for each cluster's statuses"


def test_a_report_that_is_discarded_is_no_failure(world: World) -> None:
    cluster = world.cluster()
    world.say(cluster, "pullsecret", "True", {})
    world.hyperfleet.faults.add(method="PUT", status=204, body="", times=1)
    handled = world.one(cluster)
    assert (handled.outcome, handled.entry()["reports"]["discarded"]) == ("discarded", 1)
    assert any("discarded" in str(entry["message"]) for entry in world.log)


def test_a_traceparent_is_carried_into_log_and_status(world: World) -> None:
    cluster, other = world.cluster(), world.cluster()
    handled = world.handle(cluster, other, traceparents={cluster: TRACE, other: "none"})
    assert [one.traceparent for one in handled] == [TRACE, None]
    assert world.status(cluster)["metadata"]["traceparent"] == TRACE
    traced = [entry for entry in world.log if entry["cluster_id"] == cluster]
    assert {entry["trace_id"] for entry in traced} == {"a" * 32}


def test_a_traceparent_is_in_each_request_of_its_cluster(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster, asked, answer = world.cluster(), [], world.hyperfleet.answer

    def noted(request: Request) -> Any:
        asked.append((request.method, request.headers.get("traceparent")))
        return answer(request)

    monkeypatch.setattr(world.hyperfleet, "answer", noted)
    world.one(cluster, traceparents={cluster: TRACE})
    assert asked == [("GET", TRACE), ("GET", TRACE), ("PUT", TRACE)]


def test_check_mode_reports_and_writes_nothing(world: World) -> None:
    fresh, unmet = world.cluster(), world.cluster(ready=False)
    leaving, edited = world.cluster(), world.cluster()
    for cluster in (leaving, edited):
        world.one(cluster)
        world.do_the_job(cluster, f"pullsecret-{cluster}-gen1")
        world.one(cluster)
    world.delete(leaving)
    world.edit(edited, TWO)
    world.kubernetes.calls.clear()
    before = {cluster: len(world.reports(cluster)) for cluster in (fresh, unmet, leaving, edited)}
    handled = world.handle(fresh, unmet, leaving, edited, check_mode=True)
    assert [one.entry()["state"] for one in handled] == ["created", "unmet", "deleted", "created"]
    assert f"created job pullsecret-{fresh}-gen1" in handled[0].actions
    assert any(action.startswith("deleted projects/") for action in handled[2].actions)
    assert {cluster: len(world.reports(cluster)) for cluster in before} == before
    written = [
        call
        for call in world.kubernetes.calls.matching()
        if call.method != "GET" and "dryRun" not in call.query
    ]
    assert written == []
    assert (world.versions(leaving), world.versions(edited)) == (1, 1)
    assert world.placed(fresh) is None
