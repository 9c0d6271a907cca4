# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Problems around a Job: pods that cannot start, other generations, changes by other writers."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Deadline
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.jobs.planning import (
    HOLD_SECONDS,
)
from tests.lab.session import STAND_IN
from tests.support.adapter_jobs.world import CANARY, DOCUMENT, FAILURE, SUCCESS, World, said

# Only on the stand-in: a real Job controller and garbage collector cannot be made to do this.
played = pytest.mark.parametrize("server", [pytest.param(STAND_IN, id="stand-in")], indirect=True)
NAME, DATA = "pullsecret-c-1-gen1", "cluster-c-1-pullsecret-data"
OTHER = json.dumps({"auths": {"registry.example.com": {"auth": "dTpwYXNzd29yZC0y"}}})


def job_path(world: World, name: str = "") -> str:
    return f"/apis/batch/v1/namespaces/{world.namespace}/jobs" + (f"/{name}" if name else "")


def delete_job(world: World, name: str = NAME, policy: str = "Background") -> None:
    code, _answer = world.api.request("DELETE", job_path(world, name), {"propagationPolicy": policy})
    assert code == 200


def test_an_image_that_cannot_be_pulled_is_reported_and_another_is_tried(world: World) -> None:
    world.apply()
    world.playing.stick(NAME, "ImagePullBackOff", 'Back-off pulling image "x": 401 Unauthorized')
    stuck = world.apply()
    assert (stuck.state, stuck.reason) == ("stuck", "ImagePullFailed")
    assert "401 Unauthorized" in stuck.message
    assert stuck.actions == ()
    better = world.adapter(image="registry.example.com/pullsecret-job:v2")
    ending = world.apply(by=better)
    assert (ending.state, ending.reason, ending.actions) == (
        "pending",
        "EarlierJobEnding",
        (f"deleted job {NAME}",),
    )
    until_created(world, by=better)
    (job,) = world.api.items(world.namespace, "jobs")
    assert job["spec"]["template"]["spec"]["containers"][0]["image"].endswith(":v2")


def until_created(world: World, *arguments: Any, **more: Any) -> Any:
    """Wait until the garbage collector has deleted the earlier Job."""
    deadline = Deadline(60)
    while (seen := world.apply(*arguments, **more)).state != "created":
        assert seen.reason == "EarlierJobEnding"
        assert deadline.remaining()
    return seen


def test_a_secret_that_was_deleted_meanwhile_is_created_again(world: World) -> None:
    world.apply()
    world.api.delete(world.namespace, "secrets", DATA)
    world.playing.stick(NAME, "CreateContainerConfigError", f'secret "{DATA}" not found')
    seen = world.apply()
    assert (seen.reason, seen.actions) == ("ContainerConfigError", (f"created secret {DATA}",))
    assert DATA in world.secrets()
    world.playing.finish(NAME, said(SUCCESS))
    # It is not the Secret that the Job was created with, but it belongs to the adapter.
    assert world.apply().state == "succeeded"
    assert world.secrets() == {}


def test_a_secret_that_was_left_behind_is_brought_up_to_date(world: World) -> None:
    world.apply(1, OTHER)
    delete_job(world)
    made = world.apply()
    assert made.actions == (f"updated secret {DATA}", f"created job {NAME}")
    assert base64.b64decode(world.secrets()[DATA]["data"]["pull-secret.json"]).decode() == DOCUMENT


def test_a_job_that_was_deleted_by_hand_is_created_again(world: World) -> None:
    world.apply()
    # The real controller may still wait for the pod of the deleted Job, and then creates none for the next one.
    world.playing.begin(NAME)
    delete_job(world)
    assert world.apply().state == "created"
    world.playing.finish(NAME, said(SUCCESS))
    assert world.apply().state == "succeeded"
    delete_job(world)
    assert world.apply().state == "created"


@played
def test_another_document_waits_for_the_end_of_the_pod_before(world: World) -> None:
    world.apply()
    world.playing.run(NAME, node="node-1")
    first = world.apply(2, OTHER)
    assert (first.state, first.reason, first.job) == ("pending", "EarlierJobEnding", NAME)
    # The pod may use its whole grace period. Until then nothing is created.
    again = world.apply(2, OTHER)
    assert (again.state, again.actions) == ("pending", ())
    assert world.job_names() == [NAME]
    world.playing.end_deleted()
    made = world.apply(2, OTHER)
    assert made.actions == (f"updated secret {DATA}", "created job pullsecret-c-1-gen2")
    assert world.job_names() == ["pullsecret-c-1-gen2"]


def test_an_older_generation_changes_nothing(world: World) -> None:
    world.apply(2)
    world.api.calls.clear()
    old = world.apply(1, OTHER)
    assert (old.state, old.reason, old.actions) == ("pending", "NewerGenerationSeen", ())
    assert world.api.writes() == []


def test_a_planted_job_of_a_huge_generation_is_waited_for_no_longer_than_a_run_lasts(world: World) -> None:
    labels = {"managed-by": "hyperfleet", "adapter": "pullsecret", "cluster-id": "c-1"}
    metadata = {
        "name": "pullsecret-c-1-gen999",
        "labels": {**labels, "resource-type": "pull-secret-job"},
        "annotations": {"hyperfleet.io/generation": "999999999"},
    }
    world.api.post(job_path(world), {**foreign_job(), "metadata": metadata})
    held = world.apply()
    assert (held.state, held.reason, held.actions) == ("pending", "NewerGenerationSeen", ())
    assert re.search(r"the API's generation 1; the adapter waits until 20\S+Z for the API", held.message)
    world.ahead = HOLD_SECONDS + 5
    assert world.apply().reason == "EarlierJobEnding"
    until_created(world)
    assert world.job_names() == [NAME]
    world.ahead = 0
    world.playing.finish(NAME, said(SUCCESS))
    assert world.apply().state == "succeeded"


def test_a_cluster_that_moved_gets_a_job_at_the_same_generation(world: World) -> None:
    world.apply()
    world.playing.finish(NAME, said(SUCCESS))
    world.apply()
    moved = world.apply(namespace="clusters-moved")
    assert moved.actions == (f"deleted job {NAME}", f"created secret {DATA}", f"created job {NAME}")


def test_one_failed_pod_is_not_the_end(world: World) -> None:
    world.apply()
    world.playing.finish(NAME, said(FAILURE), exit_code=1)
    seen = world.apply()
    assert (seen.state, seen.reason, seen.attempt) == ("running", "JobRetrying", 2)
    assert "PERMISSION_DENIED on projects/p-1" in seen.message
    assert DATA in world.secrets()


@played
def test_an_evicted_pod_is_not_the_end(world: World) -> None:
    world.apply()
    world.playing.evict(NAME)
    assert (world.apply().state, world.apply().reason) == ("running", "PodEvicted")


@played
def test_a_deadline_that_passed(world: World) -> None:
    world.apply()
    world.playing.fail(NAME, "DeadlineExceeded", "Job was active longer than specified deadline")
    seen = world.apply()
    assert (seen.state, seen.reason, seen.retry) == ("failed", "DeadlineExceeded", True)
    assert world.secrets() == {}


def test_no_node_takes_the_pod(world: World) -> None:
    world.apply()
    world.playing.unschedulable(NAME, since="2026-01-02T03:04:05Z")
    assert (world.apply().state, world.apply().reason) == ("stuck", "PodUnschedulable")


def test_a_job_without_a_pod_is_stuck_after_a_while(world: World) -> None:
    world.api.delete(world.namespace, "serviceaccounts", "pullsecret-adapter-job")
    world.apply()
    assert world.apply().state == "pending"
    world.ahead = 90
    assert (world.apply().state, world.apply().reason) == ("stuck", "PodNotCreated")


@pytest.mark.parametrize("labels", [{}, {"managed-by": "someone"}, {"managed-by": "hyperfleet"}])
def test_a_foreign_job_is_left_alone(world: World, labels: dict[str, str]) -> None:
    world.api.post(job_path(world), {**foreign_job(), "metadata": {"name": NAME, "labels": labels}})
    refused = world.apply()
    assert (refused.state, refused.reason, refused.retry) == ("failed", "OwnershipConflict", False)
    assert f"jobs/{NAME} exists but was not made by the adapter pullsecret" in refused.message
    assert world.job_names() == [NAME]
    assert world.secrets() == {}
    assert world.remove().actions == ()


def test_a_foreign_secret_is_left_alone(world: World) -> None:
    body = {"metadata": {"name": DATA, "labels": {"managed-by": "someone"}}, "data": {"a": "Yg=="}}
    made = world.api.create(world.namespace, "secrets", body)
    refused = world.apply()
    assert (refused.state, refused.reason) == ("failed", "OwnershipConflict")
    assert world.job_names() == []
    assert (world.remove().gone, world.remove().actions) == (True, ())
    assert world.api.secret(world.namespace, DATA)["metadata"]["uid"] == made["metadata"]["uid"]


def test_the_jobs_of_another_adapter_are_left_alone(world: World) -> None:
    theirs = world.adapter(name="second")
    world.apply(by=theirs)
    assert world.apply().reason == "OwnershipConflict"
    assert (world.jobs.cluster_ids(Deadline(20)), theirs.cluster_ids(Deadline(20))) == (set(), {"c-1"})
    assert world.remove().actions == ()
    assert theirs.remove("c-1", Deadline(20)).actions != ()


def foreign_job() -> dict[str, Any]:
    container = {"name": "c", "image": "registry.example.com/a:1"}
    return {
        "spec": {
            "suspend": True,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        }
    }


def test_a_pods_message_about_the_pull_secret_is_not_repeated(world: World) -> None:
    jobs = world.adapter(backoff_limit=0)
    auth = json.loads(DOCUMENT)["auths"]["quay.io"]["auth"]
    world.apply(by=jobs)
    told = {"result": "failure", "kind": "internal", "message": f"cannot use {auth} ({CANARY})"}
    world.playing.finish(NAME, said(told), exit_code=1)
    for dummy in range(2):
        seen = world.apply(by=jobs)
        assert (seen.state, seen.reason) == ("failed", "Internal")
        assert not any(form in repr(seen) for form in (auth, CANARY))
    text = json.dumps(world.api.items(world.namespace, "jobs"))
    assert not any(form in text for form in (auth, CANARY))


def test_a_pods_message_about_its_success_is_not_repeated_either(world: World) -> None:
    world.apply()
    # Valid shapes, but each value could be a part of the pull secret.
    told = {**SUCCESS, "secret": f"projects/{CANARY}/secrets/{CANARY}"}
    told["management_secret"] = {"namespace": CANARY, "name": CANARY}
    told["gcp_api_calls"] = [
        {"operation": "example_password", "status_code": "4711", "count": 1, "seconds": 1}
    ]
    world.playing.finish(NAME, said(told))
    for dummy in range(2):
        seen = world.apply()
        assert (seen.state, seen.reason) == ("succeeded", "PullSecretStored")
        assert "a secret (not shown) that is not the one the adapter requested" in seen.message
        assert not any(form in repr(seen) for form in (CANARY, "example_password", "4711"))
    text = json.dumps(world.api.items(world.namespace, "jobs"))
    assert not any(form in text for form in (CANARY, "example_password", "4711"))


def test_pods_that_were_left_behind_are_removed_too(world: World) -> None:
    world.apply()
    world.playing.begin(NAME)
    delete_job(world, policy="Orphan")
    deadline = Deadline(60)
    while not (removal := world.remove()).gone:
        assert deadline.remaining()
    assert world.playing.pods() == []
    assert removal.left == ()


@played
def test_removal_waits_for_a_pod_that_still_runs(world: World) -> None:
    world.apply()
    world.playing.run(NAME, node="node-1")
    first = world.remove()
    assert not first.gone
    assert [left.partition("/")[0] for left in first.left] == ["pods"]
    assert not world.remove().gone
    world.playing.end_deleted()
    assert world.remove().gone
