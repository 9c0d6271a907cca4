# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From a Job and its pods to the reported state."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter import names
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.jobs import (
    job_outcome,
    job_state,
    observing,
)
from tests.support.adapter_jobs.world import order

NOW = job_state.seconds_of("2026-01-02T03:10:00Z")
AGO = "2026-01-02T03:00:00Z"
JUST = "2026-01-02T03:09:50Z"
NAME = "pullsecret-c-1-gen2"
ORDER = order(2)


def job(
    end: str | None = None,
    reason: str = "",
    *,
    failed: int = 0,
    attempt: str = "1",
    created: str = AGO,
    **metadata: Any,
) -> job_state.JobState:
    conditions = [{"type": "Suspended", "status": "False"}, {"type": "FailureTarget", "status": "True"}]
    if end:
        conditions.append({"type": end, "status": "True", "reason": reason, "lastTransitionTime": JUST})
    annotations = {names.GENERATION: "2", names.ATTEMPT: attempt, **metadata.pop("annotations", {})}
    return job_state.read_job(
        {
            "metadata": {
                "name": NAME,
                "uid": "u-1",
                "resourceVersion": "7",
                "creationTimestamp": created,
                "annotations": annotations,
                **metadata,
            },
            "spec": {},
            "status": {"startTime": AGO, "failed": failed, "conditions": conditions},
        }
    )


def pod(
    phase: str, state: dict[str, Any] | None = None, *, uid: str = "u-1", **status: Any
) -> dict[str, Any]:
    containers = [{"name": "sidecar", "state": {"running": {}}}]
    if state is not None:
        containers.append({"name": "pullsecret-job", "state": state})
    return {
        "metadata": {
            "name": f"{NAME}-x",
            "creationTimestamp": status.pop("made", AGO),
            "ownerReferences": [{"uid": uid}],
        },
        "status": {"phase": phase, "containerStatuses": containers, **status},
    }


def ended(message: Any = None, code: int = 1, reason: str = "Error") -> dict[str, Any]:
    text = message if isinstance(message, str) else json.dumps(message)
    return {"terminated": {"exitCode": code, "reason": reason, "message": text}}


def waiting(reason: str, message: str = "") -> dict[str, Any]:
    return {"waiting": {"reason": reason, "message": message}}


def unschedulable(since: str) -> dict[str, Any]:
    return {
        "conditions": [
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": "0/3 nodes",
                "lastTransitionTime": since,
            }
        ]
    }


FAILURE = {"result": "failure", "kind": "quota", "message": "RESOURCE_EXHAUSTED"}


@pytest.mark.parametrize(
    ("found", "pods", "state", "reason"),
    [
        (job(created=JUST), [], "pending", "JobPending"),
        (job(), [], "stuck", "PodNotCreated"),
        (job(), [pod("Pending")], "pending", "JobPending"),
        (job(), [pod("Pending", waiting("ContainerCreating"))], "pending", "JobPending"),
        (job(), [pod("Running", {"running": {}})], "running", "JobRunning"),
        # The pod has ended, and the controller has not noticed it yet.
        (job(), [pod("Running", ended(code=0))], "running", "JobRunning"),
        (job(), [pod("Succeeded", ended(code=0))], "running", "JobRunning"),
        (job(), [pod("Pending", waiting("ErrImagePull"))], "stuck", "ImagePullFailed"),
        (job(), [pod("Pending", waiting("ImagePullBackOff"))], "stuck", "ImagePullFailed"),
        (job(), [pod("Pending", waiting("InvalidImageName"))], "stuck", "InvalidImageName"),
        (job(), [pod("Pending", waiting("CreateContainerConfigError"))], "stuck", "ContainerConfigError"),
        (job(), [pod("Pending", waiting("RunContainerError"))], "stuck", "ContainerCreateFailed"),
        (job(), [pod("Pending", **unschedulable(AGO))], "stuck", "PodUnschedulable"),
        (job(), [pod("Pending", **unschedulable(JUST))], "pending", "JobPending"),
        (job(), [pod("Failed", reason="Evicted")], "running", "PodEvicted"),
        (job(failed=1), [pod("Failed", ended())], "running", "JobRetrying"),
        (job(failed=1), [], "running", "JobRetrying"),
        (job(failed=1), [pod("Failed", ended()), pod("Pending", made=JUST)], "running", "JobRetrying"),
        (
            job(failed=1),
            [pod("Failed", ended()), pod("Pending", waiting("ErrImagePull"), made=JUST)],
            "stuck",
            "ImagePullFailed",
        ),
        # a pod of another Job
        (job(created=JUST), [pod("Running", {"running": {}}, uid="u-2")], "pending", "JobPending"),
    ],
)
def test_an_active_job(found: job_state.JobState, pods: list[Any], state: str, reason: str) -> None:
    observed = observing.observe(found, pods, "hyperfleet-system", ORDER, NOW)
    assert (observed.state, observed.reason) == (state, reason)
    assert (observed.job, observed.namespace, observed.started) == (NAME, "hyperfleet-system", AGO)
    assert observed.retry


@pytest.mark.parametrize(
    ("found", "pods", "reason", "why", "retry"),
    [
        (job("Failed", "BackoffLimitExceeded"), [pod("Failed", ended(FAILURE))], "Quota", "RESOURCE", True),
        (
            job("Failed", "BackoffLimitExceeded"),
            [pod("Failed", ended("panic"))],
            "BackoffLimitE",
            "often",
            True,
        ),
        (job("Failed", "BackoffLimitExceeded"), [], "BackoffLimitExceeded", "more often", True),
        (job("Failed", "DeadlineExceeded"), [], "DeadlineExceeded", "deadline", True),
        (job("Failed", "PodFailurePolicy"), [], "InputRefused", "exit code 2", False),
        (
            job("Failed", "BackoffLimitExceeded"),
            [pod("Failed", ended("", 2))],
            "InputRefused",
            "exit code 2",
            False,
        ),
        (
            job("Failed", "BackoffLimitExceeded"),
            [pod("Failed", ended({"result": "failure", "kind": "configuration"}))],
            "Configuration",
            "configuration",
            False,
        ),
        (
            job("Failed", "BackoffLimitExceeded"),
            [pod("Failed", reason="Evicted", message="low on memory")],
            "PodEvicted",
            "low on memory",
            True,
        ),
        (
            job("Failed", "BackoffLimitExceeded"),
            [pod("Failed", ended("", 137, "OOMKilled"))],
            "OutOfMemory",
            "limit",
            True,
        ),
        (job("Failed", "FutureReason"), [], "JobFailed", "no known reason", True),
        # The pod reports success, but the Job has failed.
        (
            job("Failed", "BackoffLimitExceeded"),
            [pod("Failed", ended({"result": "success"}))],
            "BackoffLimitExceeded",
            "often",
            True,
        ),
    ],
)
def test_a_job_that_failed(
    found: job_state.JobState, pods: list[Any], reason: str, why: str, retry: bool
) -> None:
    observed = observing.observe(found, pods, "hyperfleet-system", ORDER, NOW)
    assert observed.state == "failed"
    assert observed.reason.startswith(reason)
    assert why in observed.message
    assert observed.retry is retry
    assert observed.result is None or observed.result["result"] == "failure"


def test_the_newest_pod_is_heard() -> None:
    pods = [
        pod("Failed", ended({**FAILURE, "kind": "timeout"})),
        pod("Failed", ended(FAILURE), made=JUST),
        pod("Failed", ended({**FAILURE, "kind": "unavailable"}), made="2026-01-02T03:05:00Z"),
    ]
    observed = observing.observe(job("Failed", "BackoffLimitExceeded", failed=3), pods, "n", ORDER, NOW)
    assert (observed.reason, observed.attempt) == ("Quota", 3)


@pytest.mark.parametrize(
    ("found", "attempt"),
    [
        (job(), 1),
        (job(failed=2), 3),
        (job("Failed", failed=2), 2),
        (job("Failed"), 1),
        (job("Complete", failed=1), 2),
        (job("Failed", failed=1, attempt="4"), 4),
        (job(failed=1, attempt="4"), 5),
        (job(attempt="none"), 1),
        (job(attempt="-4"), 1),
        (job(attempt="9" * 5000), 1),
    ],
)
def test_attempts_are_counted_over_all_pods(found: job_state.JobState, attempt: int) -> None:
    assert observing.observe(found, [], "n", ORDER, NOW).attempt == attempt


def test_a_complete_job() -> None:
    told = {
        "result": "success",
        "version": "3",
        "secret": "projects/p-1/secrets/hyperfleet-c-1-pull-secret",
        "management_secret": {"namespace": "clusters-c-1", "name": "c-1-pull-secret"},
        "unknown": "field",
        "message": "whatever",
    }
    pods = [pod("Failed", ended(FAILURE), made=JUST), pod("Succeeded", ended(told, 0))]
    observed = observing.observe(job("Complete", failed=1), pods, "n", ORDER, NOW)
    assert (observed.state, observed.reason, observed.attempt) == ("succeeded", "PullSecretStored", 2)
    assert observed.result == {
        name: value for name, value in told.items() if name not in ("unknown", "message")
    }
    assert observed.message == (
        "the pull secret is stored: version 3 in projects/p-1/secrets/hyperfleet-c-1-pull-secret "
        "and in namespaces/clusters-c-1/secrets/c-1-pull-secret"
    )


HOSTILE = {
    "result": "success",
    "version": "4711",
    "secret": "projects/example/secrets/password",
    "management_secret": {"namespace": "example", "name": "password"},
    "gcp_api_calls": [{"operation": "example_password", "status_code": "password", "count": 1, "seconds": 1}],
    "k8s_api_calls": [{"operation": "get_password", "status_code": "4711", "count": 1, "seconds": 1}],
}


def test_places_of_another_cluster_are_not_shown_but_reported() -> None:
    observed = observing.observe(job("Complete"), [pod("Succeeded", ended(HOSTILE, 0))], "n", ORDER, NOW)
    assert (observed.state, observed.reason) == ("succeeded", "PullSecretStored")
    assert observed.message == (
        f"job {NAME} is complete; the Job reports a secret (not shown) that is not the one the adapter requested"
        ": check that spec.jobTemplate.image is this adapter's image"
    )
    assert not re.search("password|4711", repr(observed))
    # Nor if the value comes from an annotation that another writer made.
    note = json.dumps({"state": "succeeded", "reason": "PullSecretStored", "message": "x", "result": HOSTILE})
    for text in (note, job_outcome.outcome_annotation(observed)):
        noted = observing.observe(job("Complete", annotations={names.RESULT: text}), [], "n", ORDER, NOW)
        assert noted == observed


def test_values_of_an_annotation_are_not_quoted() -> None:
    note = {"state": "succeeded", "reason": "ExamplePassword", "message": "example-password"}
    found = job("Complete", annotations={names.RESULT: json.dumps(note)})
    observed = observing.observe(found, [], "n", ORDER, NOW)
    assert (observed.reason, observed.message) == ("PullSecretStored", f"job {NAME} is complete")


def test_a_kind_that_is_not_known_is_no_reason() -> None:
    told = {"result": "failure", "kind": "example_password", "message": "why"}
    found = job("Failed", "BackoffLimitExceeded")
    observed = observing.observe(found, [pod("Failed", ended(told))], "n", ORDER, NOW)
    assert (observed.reason, observed.message) == ("JobFailed", f"job {NAME} failed: why")
    assert observed.result == {"result": "failure", "kind": "other", "message": "why"}


def test_a_complete_job_of_which_nothing_is_heard() -> None:
    observed = observing.observe(job("Complete"), [], "n", ORDER, NOW)
    assert (observed.state, observed.result) == ("succeeded", None)


def test_a_complete_job_that_says_it_failed_is_not_believed() -> None:
    observed = observing.observe(job("Complete"), [pod("Succeeded", ended(FAILURE, 0))], "n", ORDER, NOW)
    assert (observed.state, observed.reason, observed.retry) == ("failed", "ResultContradicts", True)


@pytest.mark.parametrize(
    ("found", "pods"),
    [
        (job("Complete"), [pod("Succeeded", ended({"result": "success", "version": "3"}, 0))]),
        (job("Complete"), []),
        (job("Complete"), [pod("Succeeded", ended(FAILURE, 0))]),
        (job("Complete"), [pod("Succeeded", ended({"result": "success", "secret": "x"}, 0))]),
        (job("Failed", "PodFailurePolicy"), [pod("Failed", ended(FAILURE, 2))]),
        (job("Failed", "DeadlineExceeded"), []),
    ],
)
def test_what_was_noted_of_an_end_is_as_good_as_the_pods(found: job_state.JobState, pods: list[Any]) -> None:
    first = observing.observe(found, pods, "n", ORDER, NOW)
    noted = {names.RESULT: job_outcome.outcome_annotation(first)}
    later = job(found.ended, found.reason, annotations=noted)
    assert observing.observe(later, [], "n", ORDER, NOW) == first


@pytest.mark.parametrize(
    "note",
    [
        "",
        "[]",
        "[" * 5000,
        '{"state":"running","reason":"JobRunning"}',
        '{"state":"failed","reason":"two words"}',
        '{"state":"failed","reason":"ExamplePassword","message":""}',
        # A success has no retry.
        '{"state":"succeeded","reason":"PullSecretStored","message":"","retry":true}',
    ],
)
def test_an_invalid_annotation_is_ignored(note: str) -> None:
    found = job("Failed", "DeadlineExceeded", annotations={names.RESULT: note})
    assert observing.observe(found, [], "n", ORDER, NOW).reason == "DeadlineExceeded"


def test_foreign_texts_are_cut() -> None:
    message = "Back-off pulling image\n" + "x" * 5000 + ' "https://cdn.example.com/b?Signature=abc"'
    observed = observing.observe(job(), [pod("Pending", waiting("ErrImagePull", message))], "n", ORDER, NOW)
    assert len(observed.message) < 600
    assert "\n" not in observed.message


def test_a_suspended_job_waits() -> None:
    found = job_state.read_job(
        {"metadata": {"name": NAME, "uid": "u"}, "spec": {"suspend": True}, "status": {}}
    )
    assert observing.observe(found, [], "n", ORDER, NOW).reason == "JobSuspended"
