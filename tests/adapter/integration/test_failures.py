# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Dependencies that do not answer or refuse: what the adapter reports, and when it retries."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.client import (
    HyperFleetClient,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.report_format import (
    parse_time,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.engine import (
    conditions,
    engine,
)
from tests.adapter.world import TWO, World, outcomes

_MANY = 60


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_passing_faults_of_the_api_are_tried_again(world: World, method: str) -> None:
    cluster = world.cluster()
    world.hyperfleet.faults.add(method=method, status=503, times=2)
    handled = world.one(cluster)
    assert handled.outcome == "reported"
    assert handled.retries == 2
    assert world.said(cluster) == "TFTF JobCreated"


def test_a_report_that_cannot_be_sent_is_retried(world: World) -> None:
    cluster = world.cluster()
    world.hyperfleet.faults.add(method="PUT", status=500)
    handled = world.one(cluster)
    assert (handled.outcome, handled.requeue_after) == ("failed", 15.0)
    assert handled.entry()["reports"]["failed"] == 1
    assert handled.job_created, "the Job that was created stays"
    world.hyperfleet.faults.clear()
    after = world.one(cluster)
    assert (after.outcome, after.job_created) == ("reported", False)


def test_statuses_that_cannot_be_read_are_reported(world: World) -> None:
    cluster = world.cluster()
    world.hyperfleet.faults.add(method="GET", path="*/statuses", status=500)
    handled = world.one(cluster)
    world.hyperfleet.faults.clear()
    assert (handled.outcome, handled.requeue_after) == ("reported", 15.0)
    assert world.said(cluster) == "FFFF StatusesUnavailable"
    assert world.jobs() == []


@pytest.mark.parametrize("deleted", [False, True])
def test_statuses_that_cannot_be_read_are_not_written_over(world: World, deleted: bool) -> None:
    """A removal needs the places in the status: placement may name another namespace by then."""
    cluster = world.cluster()
    world.one(cluster)
    world.do_the_job(cluster, f"pullsecret-{cluster}-gen1")
    world.one(cluster)
    if deleted:
        world.delete(cluster)
    before = world.status(cluster)
    world.hyperfleet.faults.add(method="GET", path="*/statuses", status=500)
    handled = world.one(cluster)
    world.hyperfleet.faults.clear()
    assert (handled.outcome, handled.kind, handled.requeue_after) == ("failed", "unavailable", 15.0)
    assert world.status(cluster) == before
    if not deleted:
        world.delete(cluster)
    world.namespace("elsewhere")
    world.say(cluster, "placement", "True", {"namespace": "elsewhere"})
    assert world.one(cluster).entry()["state"] == "deleted"
    assert world.placed(cluster) is None


def test_an_api_that_is_down_is_given_up_for_all(world: World) -> None:
    clusters = [world.cluster(ready=False) for _number in range(_MANY)]
    world.hyperfleet.faults.add(status=503)
    handled = world.handle(*clusters)
    assert set(outcomes(handled)) == {"failed"}
    assert {one.requeue_after for one in handled} == {15.0}
    assert world.hyperfleet.calls.count("GET", "*/cls-*") == 0, "the search must be the only request"


def test_an_api_that_goes_down_under_way_is_given_up(world: World) -> None:
    clusters = [world.cluster(ready=False) for _number in range(_MANY)]
    world.hyperfleet.faults.add(path="*/statuses", status=503)
    handled = world.handle(*clusters)
    assert set(outcomes(handled)) == {"failed"}
    asked = world.hyperfleet.calls.count("*", "*/statuses")
    assert asked < _MANY * 3, asked


def test_an_unknown_route_is_a_wrong_address(world: World) -> None:
    cluster = world.cluster()
    world.spec = {"hyperfleetAPI": {"url": world.hyperfleet.url + "/elsewhere"}}
    handled = world.one(cluster)
    assert (handled.outcome, handled.kind, handled.requeue_after) == ("failed", "configuration", 60.0)


def test_the_other_form_of_the_api_is_recognised(world: World) -> None:
    cluster = world.cluster()
    world.spec = {"hyperfleetAPI": {"url": world.hyperfleet.url, "flavour": "contract"}}
    handled = world.one(cluster)
    assert (handled.outcome, handled.kind) == ("failed", "configuration")
    assert "flavour" in handled.message


def test_a_kubernetes_that_is_silent_is_the_adapters_ill_health(world: World) -> None:
    clusters = [world.cluster() for _number in range(30)]
    world.kubernetes.faults.add(path="*", drop=True, times=None)
    handled = world.handle(*clusters)
    assert len(world.kubernetes.calls) < 3 * len(clusters), "the adapter must give up, not try each cluster"
    assert set(outcomes(handled)) == {"reported"}
    assert {one.requeue_after for one in handled} == {15.0}
    assert {world.said(cluster) for cluster in clusters} == {"FFFF KubernetesUnavailable"}
    world.kubernetes.faults.clear()
    assert {one.entry()["state"] for one in world.handle(*clusters)} == {"created"}


def done(world: World) -> str:
    """A cluster whose pull secret is stored and reported."""
    cluster = world.cluster()
    world.one(cluster)
    world.do_the_job(cluster, f"pullsecret-{cluster}-gen1")
    world.one(cluster)
    assert world.said(cluster) == "TTTF PullSecretStored"
    return cluster


def test_an_outage_of_kubernetes_makes_no_pull_secret_unavailable(world: World) -> None:
    cluster = done(world)
    world.kubernetes.faults.add(path="*", drop=True, times=None)
    handled = world.one(cluster)
    assert (handled.entry()["state"], handled.entry()["reason"]) == ("failed", "KubernetesUnavailable")
    assert world.said(cluster) == "TTFF PullSecretStored"
    world.edit(cluster, TWO)
    world.one(cluster)
    assert world.said(cluster) == "FFFF KubernetesUnavailable", "the state of the new generation is unknown"
    world.kubernetes.faults.clear()
    world.one(cluster)
    assert world.said(cluster) == "TFTF JobCreated"


def test_a_dependency_that_flips_makes_no_pull_secret_unavailable(world: World) -> None:
    cluster = done(world)
    world.depend(cluster, "False")
    assert world.one(cluster).entry()["state"] == "unmet"
    assert world.said(cluster) == "TTTF PullSecretStored"
    world.depend(cluster)
    assert world.one(cluster).entry()["state"] == "succeeded"


def test_an_outage_of_secret_manager_inline_makes_no_pull_secret_unavailable(world: World) -> None:
    world.spec = {"execution": "inline"}
    cluster, other = world.cluster(), world.cluster()
    world.one(cluster)
    world.manager.faults.add(method="*", code="UNAVAILABLE")
    world.handle(cluster, other)
    assert world.said(cluster) == "TTFF PullSecretStored"
    assert world.said(other) == "FFTF Unavailable"


@pytest.mark.parametrize("where", ["decide", "statuses", "seen"])
def test_a_defect_is_reported_to_the_api_by_its_kind(
    world: World, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Without a report the event would repeat for ever. The text of an exception may contain a value."""
    good, bad = world.cluster(), world.cluster()

    def breaks(original: Any) -> Any:
        def broken(*arguments: Any, **options: Any) -> Any:
            if any(bad in str(one) for one in arguments):
                raise ValueError("s3cr3t in an exception")
            return original(*arguments, **options)

        return broken

    if where == "decide":
        monkeypatch.setattr(engine, "decide", breaks(vars(engine)["decide"]))
    elif where == "seen":
        monkeypatch.setattr(conditions, "observed", breaks(conditions.observed))
    else:
        monkeypatch.setattr(HyperFleetClient, "statuses", breaks(HyperFleetClient.statuses))
    handled = {one.cluster_id: one for one in world.handle(good, bad)}
    assert {one.outcome for one in handled.values()} == {"reported"}
    assert world.said(good) == "TFTF JobCreated"
    reason = "StatusesInternalError" if where == "statuses" else "InternalError"
    assert world.said(bad) == f"FFFF {reason}"
    assert handled[bad].requeue_after == 60.0
    told = str((world.status(bad), handled[bad].detail(), world.log))
    assert "ValueError at " in told
    assert "s3cr3t" not in told


def test_transition_times_are_kept_while_a_status_stays(world: World, flavour: str) -> None:
    cluster = world.cluster()
    world.one(cluster)
    name = "lastTransitionTime" if flavour == "seed" else "last_transition_time"
    first = {one["type"]: one[name] for one in world.status(cluster)["conditions"]}
    world.do_the_job(cluster, f"pullsecret-{cluster}-gen1")
    world.one(cluster)
    second = {one["type"]: one[name] for one in world.status(cluster)["conditions"]}
    assert [kind for kind in first if first[kind] != second[kind]] == ["Available"]
    if flavour == "seed":
        kept = world.status(cluster)["data"]["transitions"]
        # The two have different time formats.
        told = {kind: parse_time(one["since"]) for kind, one in kept.items()}
        assert told == {kind: parse_time(since) for kind, since in second.items()}


def test_a_kubernetes_that_refuses_the_adapter(world: World) -> None:
    cluster = world.cluster()
    world.kubernetes.faults.add(method="POST", path="*/jobs", status=403, reason="Forbidden", times=None)
    handled = world.one(cluster)
    assert (handled.outcome, handled.requeue_after) == ("reported", 60.0)
    assert world.said(cluster) == "FFFF KubernetesPermissionDenied"


def test_a_missing_kubeconfig_is_reported_to_the_api(world: World) -> None:
    cluster = world.cluster()
    world.spec = {"kubernetes": {"kubeconfig": "/nowhere/kubeconfig"}}
    handled = world.one(cluster)
    assert handled.outcome == "reported"
    assert world.said(cluster) == "FFFF KubernetesConfigurationError"


def test_a_cluster_that_is_deleted_while_its_job_is_created(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cluster is deleted for good between reading and reporting: the adapter must leave nothing behind."""
    cluster = world.cluster()
    store = world.hyperfleet.store
    report = store.report

    def goes(cluster_id: str, new: Any) -> Any:
        store.reset()
        return report(cluster_id, new)

    monkeypatch.setattr(store, "report", goes)
    handled = world.one(cluster)
    assert (handled.outcome, handled.requeue_after, handled.job_created) == ("gone", None, True)
    assert world.jobs() == world.data_secrets() == []


def test_what_kubernetes_does_not_answer_for_is_not_finalized(world: World) -> None:
    cluster = world.cluster()
    world.one(cluster)
    world.delete(cluster)
    world.kubernetes.faults.add(path="*", status=500, times=None)
    handled = world.one(cluster)
    assert (handled.entry()["state"], handled.requeue_after) == ("deleting", 15.0)
    assert world.said(cluster) == "TFTF RemovalUnavailable"
    world.kubernetes.faults.clear()
    assert world.one(cluster).entry()["state"] == "deleted"
