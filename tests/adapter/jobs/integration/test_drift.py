# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Other writers change the management Secret while its Job exists."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Deadline
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.jobs import drift
from tests.support.adapter_jobs.world import SUCCESS, World, said
from tests.support.docker_configs import KEY, held

NAME, DATA, PLACED = "pullsecret-c-1-gen1", "cluster-c-1-pullsecret-data", "c-1-pull-secret"
LATER = 60.0


def done(world: World, *cluster_ids: str) -> None:
    """Let the Jobs succeed, and let the adapter see that."""
    for cluster_id in cluster_ids:
        world.apply(cluster_id=cluster_id)
        world.playing.finish(f"pullsecret-{cluster_id}-gen1", said(SUCCESS))
        assert world.apply(cluster_id=cluster_id).state == "succeeded"
    world.api.calls.clear()


def delete(world: World) -> None:
    world.api.delete(world.namespace, "secrets", PLACED)


def edit(world: World) -> None:
    world.api.merge(world.namespace, "secrets", PLACED, {"data": {KEY: "e30="}})


def disown(world: World) -> None:
    world.api.merge(world.namespace, "secrets", PLACED, {"metadata": {"labels": {"managed-by": None}}})


@pytest.mark.parametrize(
    ("meddle", "reason"),
    [
        (delete, "ManagementSecretMissing"),
        (edit, "ManagementSecretChanged"),
        (disown, "ManagementSecretChanged"),
    ],
)
@pytest.mark.parametrize("batch", [False, True])
def test_a_deleted_or_changed_secret_is_created_again(
    world: World, meddle: Callable[[World], None], reason: str, batch: bool
) -> None:
    done(world, "c-1", "c-2", "c-3")
    meddle(world)
    world.ahead = LATER
    if batch:
        world.jobs.prepare(["c-1", "c-2", "c-3"], Deadline(20))
        assert world.apply(cluster_id="c-2").state == "succeeded"
    seen = world.apply()
    assert (seen.state, seen.reason, seen.attempt, seen.made) == ("created", reason, 2, True)
    assert seen.actions == (f"deleted job {NAME}", f"created secret {DATA}", f"created job {NAME}")
    assert PLACED in seen.message
    assert seen.drifted, "the drift makes earlier results of this content invalid"
    world.playing.finish(NAME, said(SUCCESS))
    again = world.apply()
    assert (again.state, again.reason) == ("succeeded", "PullSecretStored")
    assert not again.drifted
    assert held(world.placed())["auths"].keys() == {"quay.io"}
    assert world.apply().actions == ()


def test_check_mode_reports_drift_and_writes_nothing(world: World) -> None:
    done(world, "c-1")
    delete(world)
    world.ahead = LATER
    seen = world.apply(by=world.adapter(check=True))
    assert (seen.state, seen.reason) == ("created", "ManagementSecretMissing")
    assert seen.actions == (f"deleted job {NAME}", f"created secret {DATA}", f"created job {NAME}")
    assert world.api.writes() == []
    assert world.job_names() == [NAME]


def test_a_job_that_wrongly_reports_success_is_retried_after_a_pause(world: World) -> None:
    done(world, "c-1")
    delete(world)
    for dummy in range(2):
        seen = world.apply()
        assert (seen.state, seen.reason, seen.retry) == ("failed", "ManagementSecretMissing", True)
        assert (seen.actions, seen.result, seen.kind) == ((), None, "verification")
    world.ahead = 31
    assert world.apply().attempt == 2


def test_the_secrets_of_a_batch_are_read_in_one_request(world: World) -> None:
    ids = ["c-1", "c-2", "c-3"]
    done(world, *ids)
    jobs = world.jobs
    jobs.prepare(ids, Deadline(20))
    assert [world.apply(cluster_id=name).state for name in ids] == ["succeeded"] * 3
    assert world.requests() == ["list jobs", "list secrets"]


def test_without_the_right_to_list_each_secret_is_read(world: World) -> None:
    ids = ["c-1", "c-2", "c-3"]
    done(world, *ids)
    world.api.faults.add(verb="list", path="/api/v1/secrets", status=403, times=None)
    delete(world)
    world.ahead = LATER
    world.jobs.prepare(ids, Deadline(20))
    states = [world.apply(cluster_id=name).state for name in ids]
    assert states == ["created", "succeeded", "succeeded"]


@pytest.mark.parametrize(("status", "requests"), [(403, 3), (500, 3)])
def test_a_failed_read_is_not_reported_as_drift(world: World, status: int, requests: int) -> None:
    """:param requests: three tries for the first cluster, or one try for each of three clusters"""
    ids = ["c-1", "c-2", "c-3"]
    done(world, *ids)
    delete(world)
    world.ahead = LATER
    world.api.faults.add(verb="list", path="/api/v1/secrets", status=403, times=None)
    world.api.faults.add(verb="get", path="*/secrets/*-pull-secret", status=status, times=None)
    world.jobs.prepare(ids, Deadline(20))
    for name in ids:
        seen = world.apply(cluster_id=name)
        assert (seen.state, seen.reason, seen.actions) == ("succeeded", "PullSecretStored", ())
    assert world.requests().count("get secrets") == requests


def lose_the_job(world: World) -> None:
    """Delete the Job as its TTL or a user would."""
    path = f"/apis/batch/v1/namespaces/{world.namespace}/jobs/{NAME}"
    assert world.api.request("DELETE", f"{path}?propagationPolicy=Background")[0] == 200
    limit = time.monotonic() + 180
    while world.playing.job(NAME) is not None:
        assert time.monotonic() < limit
        time.sleep(0.1)


def test_drift_leaves_a_failed_job_its_own_kind(world: World) -> None:
    """The Job reports an outage; meanwhile the Secret of an earlier Job was deleted."""
    done(world, "c-1")
    lose_the_job(world)
    delete(world)
    outage = {"result": "failure", "kind": "quota", "message": "RESOURCE_EXHAUSTED"}
    jobs = world.adapter(backoff_limit=0)
    assert not world.apply(by=jobs).drifted, "the Secret has not been read yet"
    world.playing.finish(NAME, said(outage), exit_code=1)
    for dummy in range(2):
        seen = world.apply(by=jobs)
        assert (seen.state, seen.reason, seen.kind, seen.drifted) == ("failed", "Quota", "quota", True)
    world.ahead = LATER
    again = world.apply(by=jobs)
    assert (again.state, again.reason, again.drifted) == ("created", "JobCreated", True)


def test_a_job_that_failed_takes_nothing_back_of_what_is_there(world: World) -> None:
    done(world, "c-1")
    lose_the_job(world)
    jobs = world.adapter(backoff_limit=0)
    world.apply(by=jobs)
    world.playing.finish(NAME, said({"result": "failure", "kind": "quota"}), exit_code=1)
    looks = [world.apply(by=jobs) for dummy in range(2)]
    world.ahead = LATER
    looks.append(world.apply(by=jobs))
    assert [(seen.kind, seen.drifted) for seen in looks] == [("quota", False)] * 3


def plant(world: World, name: str, size: int, cluster_id: str = "c-1") -> None:
    """Create a Secret with the adapter's labels, as anyone with the right to create Secrets could."""
    body = {
        "metadata": {"name": name, "labels": {"managed-by": "hyperfleet", "cluster-id": cluster_id}},
        "data": {KEY: base64.b64encode(b"x" * size).decode()},
    }
    code, dummy = world.api.request(
        "POST", f"/api/v1/namespaces/{world.namespace}/secrets", body, "application/json"
    )
    assert code == 201


def test_secrets_with_copied_labels_cost_no_memory(world: World) -> None:
    ids = ["c-1", "c-2", "c-3"]
    done(world, *ids)
    for number in range(5):
        plant(world, f"a-{number}", 100_000)
    large = base64.b64encode(b'{"auths":{}}' + b" " * 300_000).decode()
    world.api.merge(world.namespace, "secrets", PLACED, {"data": {KEY: large}})
    world.ahead = LATER
    world.jobs.prepare(ids, Deadline(20))
    assert len(str(world.jobs._drift_detector._listed)) < 10_000
    assert [world.apply(cluster_id=name).state for name in ids] == ["created", "succeeded", "succeeded"]


@pytest.mark.parametrize(("limit", "small"), [("_PAGE", 2000), ("_MOST", 2), ("_VALUES", 10)])
def test_secrets_with_copied_labels_hide_no_drift(
    world: World, monkeypatch: pytest.MonkeyPatch, limit: str, small: int
) -> None:
    """A Secret that does not fit a LIST is read by itself."""
    monkeypatch.setattr(drift, limit, small)
    ids = ["c-1", "c-2", "c-3"]
    done(world, *ids)
    for number in range(3):
        plant(world, f"a-{number}", 1000)
    delete(world)
    world.ahead = LATER
    world.jobs.prepare(ids, Deadline(20))
    assert [world.apply(cluster_id=name).state for name in ids] == ["created", "succeeded", "succeeded"]
