# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Job of a cluster from its creation to its removal."""

from __future__ import annotations

import base64

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Deadline
from tests.support.adapter_jobs.world import DOCUMENT, FAILURE, SUCCESS, World, said

NAME, DATA = "pullsecret-c-1-gen1", "cluster-c-1-pullsecret-data"


@pytest.mark.both
def test_from_the_making_to_the_end(world: World) -> None:
    made = world.apply()
    assert (made.state, made.reason, made.job, made.made) == ("created", "JobCreated", NAME, True)
    assert made.actions == (f"created secret {DATA}", f"created job {NAME}")
    assert base64.b64decode(world.secrets()[DATA]["data"]["pull-secret.json"]).decode() == DOCUMENT
    waiting = world.apply()
    assert (waiting.state, waiting.made, waiting.actions) == ("pending", False, ())
    world.playing.run(NAME)
    assert world.apply().state == "running"
    world.playing.finish(NAME, said(SUCCESS))
    ended = world.apply()
    assert (ended.state, ended.reason) == ("succeeded", "PullSecretStored")
    assert ended.result == SUCCESS
    assert ended.actions == (f"deleted secret {DATA}", f"noted the end of job {NAME}")
    assert world.secrets() == {}
    world.api.calls.clear()
    again = world.apply()
    assert (again.state, again.result, again.actions) == ("succeeded", SUCCESS, ())
    # Reads the management Secret to detect drift.
    assert world.requests() == ["list jobs", "get secrets"]


def test_in_a_batch_a_new_cluster_takes_two_requests_and_a_finished_one_none(world: World) -> None:
    ids = ["c-1", "c-2", "c-3", "c-4"]
    for cluster_id in ids[:3]:
        world.apply(cluster_id=cluster_id)
        world.playing.finish(f"pullsecret-{cluster_id}-gen1", said(SUCCESS))
        world.apply(cluster_id=cluster_id)
    jobs = world.adapter()
    world.api.calls.clear()
    jobs.prepare(ids, Deadline(20))
    assert world.requests() == ["list jobs", "list secrets"]
    for cluster_id in ids[:3]:
        assert (
            jobs.apply(world.order(cluster_id=cluster_id), DOCUMENT.encode(), Deadline(20)).state
            == "succeeded"
        )
    assert world.requests() == ["list jobs", "list secrets", "get secrets"]  # the key of the digests
    assert jobs.apply(world.order(cluster_id="c-4"), DOCUMENT.encode(), Deadline(20)).state == "created"
    assert world.requests()[3:] == ["create secrets", "create jobs"]


def test_the_pods_of_a_batch_are_listed_once(world: World) -> None:
    ids = ["c-1", "c-2", "c-3"]
    for cluster_id in ids:
        world.apply(cluster_id=cluster_id)
        world.playing.run(f"pullsecret-{cluster_id}-gen1")
    world.api.calls.clear()
    world.jobs.prepare(ids, Deadline(20))
    seen = [world.jobs.apply(world.order(cluster_id=name), DOCUMENT.encode(), Deadline(20)) for name in ids]
    assert [observed.state for observed in seen] == ["running"] * 3
    assert world.requests() == ["list jobs", "list pods"]


def test_a_small_batch_lists_its_jobs_by_name_and_a_large_one_lists_all(
    world: World,
) -> None:
    for cluster_id in ("c-1", "c-2", "c-3", "other"):
        world.apply(cluster_id=cluster_id)
    for count, lists in ((3, 1), (150, 2), (201, 1)):
        jobs = world.adapter()
        world.api.calls.clear()
        jobs.prepare([f"c-{number}" for number in range(1, count + 1)], Deadline(20))
        # There are only three pods, so their Jobs are named in the request.
        assert world.requests() == ["list jobs"] * lists + ["list pods"], count
        found = jobs.apply(world.order(cluster_id="c-2"), DOCUMENT.encode(), Deadline(20))
        assert (found.state, found.made) == ("pending", False), count


def test_a_failure_has_a_reason_and_is_retried_after_a_pause(world: World) -> None:
    jobs = world.adapter(backoff_limit=0)
    world.apply(by=jobs)
    world.playing.finish(NAME, said(FAILURE), exit_code=1)
    failed = world.apply(by=jobs)
    assert (failed.state, failed.reason, failed.retry) == ("failed", "PermissionDenied", True)
    assert failed.message == f"job {NAME} failed: PERMISSION_DENIED on projects/p-1"
    assert failed.attempt == 1
    assert world.apply(by=jobs).actions == ()
    world.ahead = 60
    anew = world.apply(by=jobs)
    assert (anew.state, anew.attempt) == ("created", 2)
    assert anew.actions == (f"deleted job {NAME}", f"created secret {DATA}", f"created job {NAME}")
    world.playing.finish(NAME, said(SUCCESS))
    assert world.apply(by=jobs).state == "succeeded"


def test_what_the_program_refused_is_not_tried_again(world: World) -> None:
    world.apply()
    refused = {"result": "failure", "kind": "invalid_document", "message": "auths is missing"}
    world.playing.finish(NAME, said(refused), exit_code=2)
    failed = world.apply()
    assert (failed.state, failed.reason, failed.retry) == ("failed", "InvalidDocument", False)
    world.ahead = 1e6
    assert world.apply().state == "failed"
    # A changed document is tried at once.
    assert world.apply(2, '{"auths":{"quay.io":{"auth":"dTpw"}}}').state == "created"


def test_a_conflict_of_ownership_is_tried_again_after_minutes(world: World) -> None:
    world.apply()
    foreign = {"result": "failure", "kind": "ownership", "message": "is managed by shop-team"}
    world.playing.finish(NAME, said(foreign), exit_code=2)
    failed = world.apply()
    assert (failed.state, failed.reason, failed.retry) == ("failed", "Ownership", False)
    world.ahead = 240
    assert world.apply().state == "failed"
    world.ahead = 330
    assert world.apply().state == "created"


def test_an_edit_of_a_label_makes_no_job(world: World) -> None:
    world.apply()
    world.playing.run(NAME)
    assert (world.apply(2).state, world.apply(2).job) == ("running", NAME)
    world.playing.finish(NAME, said(SUCCESS))
    assert (world.apply(3).state, world.apply(4).job) == ("succeeded", NAME)
    assert world.job_names() == [NAME]


def test_going_back_to_an_earlier_document_makes_a_job(world: World) -> None:
    for generation, document in enumerate([DOCUMENT, DOCUMENT.replace("quay", "b"), DOCUMENT], 1):
        assert world.apply(generation, document).state == "created"
        world.playing.finish(f"pullsecret-c-1-gen{generation}", said(SUCCESS))
        assert world.apply(generation, document).state == "succeeded"
    # One ended Job is kept beside the current one.
    assert world.job_names() == ["pullsecret-c-1-gen2", "pullsecret-c-1-gen3"]


@pytest.mark.both
def test_removal_is_reported_when_nothing_is_left(world: World) -> None:
    world.apply()
    world.playing.run(NAME)
    world.apply(cluster_id="c-2")
    assert world.jobs.cluster_ids(Deadline(20)) == {"c-1", "c-2"}
    removal = world.remove()
    assert set(removal.actions) == {f"deleted job {NAME}", f"deleted secret {DATA}"}
    while not removal.gone:
        assert all("c-1" in name for name in removal.left)
        removal = world.remove()
    assert (world.remove().gone, world.remove().actions) == (True, ())
    assert world.jobs.cluster_ids(Deadline(20)) == {"c-2"}
    assert list(world.secrets()) == ["cluster-c-2-pullsecret-data"]
