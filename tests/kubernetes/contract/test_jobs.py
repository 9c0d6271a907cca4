# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Jobs and Pods: defaults, refusals, the status subresource, and deletion with dependent objects.

On a real control plane the controller manager creates Pods and ends Jobs; on the stand-in ``Playing`` does,
and must meet the same expectations. Neither has a kubelet.
"""

from __future__ import annotations

import copy
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from tests.kubernetes.contract.conftest import until
from tests.kubernetes.contract.support import Client, Place, causes, names, version
from tests.lab.session import STAND_IN, KubernetesEnv
from tests.support.kubernetes.playing import Playing
from tests.support.kubernetes.world import Admin

JOB: dict[str, Any] = {
    "metadata": {"name": "work", "labels": {"app": "work"}},
    "spec": {
        "backoffLimit": 1,
        "podFailurePolicy": {
            "rules": [
                {"action": "FailJob", "onExitCodes": {"containerName": "c", "operator": "In", "values": [2]}},
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
            ]
        },
        "template": {
            "metadata": {"labels": {"app": "work"}},
            "spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "c", "image": "registry.example.com/work:1"}],
            },
        },
    },
}


class Jobs:
    """A namespace, its Jobs, and the part that acts as their controller."""

    def __init__(self, client: Client, place: Place, server: KubernetesEnv) -> None:
        self.client = client
        self.root = f"/apis/batch/v1/namespaces/{place.namespace}/jobs"
        self.pods_root = f"{place.root}/pods"
        self.playing = Playing(Admin(server), place.namespace, controllers=server.kind != STAND_IN)

    def body(self, **spec: Any) -> dict[str, Any]:
        made = copy.deepcopy(JOB)
        made["metadata"]["name"] = f"work-{uuid.uuid4().hex[:8]}"
        made["spec"].update(spec)
        return made

    def make(self, **spec: Any) -> dict[str, Any]:
        return self.client.post(self.root, self.body(**spec)).ok()

    def at(self, job: dict[str, Any]) -> str:
        return f"{self.root}/{job['metadata']['name']}"

    def pods(self, job: dict[str, Any]) -> list[dict[str, Any]]:
        return self.playing.pods(job["metadata"]["name"])

    def condition(self, job: dict[str, Any]) -> tuple[str, str] | None:
        """Type and reason of the condition that ended the Job."""
        for found in self.client.get(self.at(job)).ok()["status"].get("conditions") or ():
            if found["type"] in ("Complete", "Failed") and found["status"] == "True":
                return found["type"], found["reason"]
        return None


@pytest.fixture(scope="module")
def jobs(admin: Client, shared_place: Place, server: KubernetesEnv) -> Iterator[Jobs]:
    yield Jobs(admin, shared_place, server)
    admin.delete(f"/apis/batch/v1/namespaces/{shared_place.namespace}/jobs", propagationPolicy="Background")


def name_of(job: dict[str, Any]) -> str:
    return str(job["metadata"]["name"])


def test_a_job_is_made_listed_by_label_and_patched_under_its_version(admin: Client, jobs: Jobs) -> None:
    made = jobs.make(suspend=True)
    assert (made["kind"], made["apiVersion"], made["status"]) == ("Job", "batch/v1", {})
    assert name_of(made) in names(admin.get(jobs.root, labelSelector="app=work").ok())
    again = admin.post(jobs.root, {**JOB, "metadata": {"name": name_of(made)}}).refused(409, "AlreadyExists")
    assert again["message"] == f'jobs.batch "{name_of(made)}" already exists'
    patch = {"metadata": {"annotations": {"a": "b"}, "resourceVersion": version(made)}}
    reply = admin.patch(jobs.at(made), patch)
    while reply.code == 409:
        # The real controller changed the Job first.
        patch["metadata"]["resourceVersion"] = version(admin.get(jobs.at(made)).ok())
        reply = admin.patch(jobs.at(made), patch)
    stale = {"metadata": {"annotations": {"a": "c"}, "resourceVersion": version(made)}}
    assert reply.ok()["metadata"]["annotations"]["a"] == "b"
    status = admin.patch(jobs.at(made), stale).refused(409, "Conflict")
    assert status["details"] == {"name": name_of(made), "group": "batch", "kind": "jobs"}
    status = admin.get(f"{jobs.root}/none").refused(404, "NotFound")
    assert status["message"] == 'jobs.batch "none" not found'


def test_what_the_server_adds(jobs: Jobs) -> None:
    made = jobs.make(suspend=True)
    uid, spec = made["metadata"]["uid"], made["spec"]
    template = spec.pop("template")
    policy = spec.pop("podFailurePolicy")
    assert policy["rules"][1] == {
        "action": "Ignore",
        "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
    }
    assert spec == {
        "parallelism": 1,
        "completions": 1,
        "backoffLimit": 1,
        "completionMode": "NonIndexed",
        "suspend": True,
        "manualSelector": False,
        "podReplacementPolicy": "Failed",
        "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}},
    }
    assert template["metadata"]["labels"] == {
        "app": "work",
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name_of(made),
        "controller-uid": uid,
        "job-name": name_of(made),
    }
    pod = template["spec"]
    assert pod.pop("containers") == [
        {
            "name": "c",
            "image": "registry.example.com/work:1",
            "resources": {},
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
            "imagePullPolicy": "IfNotPresent",
        }
    ]
    assert pod == {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
    }


def test_a_template_stays(admin: Client, jobs: Jobs) -> None:
    made = jobs.make(suspend=True)
    containers = [{"name": "c", "image": "registry.example.com/work:2"}]
    patch = {"spec": {"template": {"spec": {"containers": containers}}}}
    status = admin.patch(jobs.at(made), patch).refused(422, "Invalid")
    assert causes(status) == [("spec.template", "FieldValueInvalid")]
    # The backoff limit can be changed.
    assert admin.patch(jobs.at(made), {"spec": {"backoffLimit": 3}}).ok()["spec"]["backoffLimit"] == 3


def test_a_name_has_to_fit_a_label(admin: Client, jobs: Jobs) -> None:
    body = jobs.body(suspend=True)
    body["metadata"]["name"] = "w" * 64
    status = admin.post(jobs.root, body).refused(422, "Invalid")
    assert ("spec.template.labels", "FieldValueInvalid") in causes(status)
    body["metadata"]["name"] = "w" * 63
    admin.delete(jobs.at(admin.post(jobs.root, body).ok())).ok()


@pytest.mark.parametrize(
    ("policy", "reason"), [("Always", "FieldValueRequired"), ("OnFailure", "FieldValueInvalid")]
)
def test_pods_that_are_started_again_are_not_for_jobs_with_a_failure_policy(
    admin: Client, jobs: Jobs, policy: str, reason: str
) -> None:
    body = jobs.body()
    body["spec"]["template"]["spec"]["restartPolicy"] = policy
    status = admin.post(jobs.root, body).refused(422, "Invalid")
    assert ("spec.template.spec.restartPolicy", reason) in causes(status)


def test_a_status_is_written_on_its_own(admin: Client, jobs: Jobs) -> None:
    job = jobs.make()
    pod = jobs.playing.begin(name_of(job))
    at = f"{jobs.pods_root}/{pod['metadata']['name']}"
    patch = {"status": {"phase": "Running"}, "metadata": {"labels": {"written": "yes"}}}
    assert admin.patch(at, {"status": {"phase": "Running"}}).ok()["status"]["phase"] == "Pending"
    assert admin.patch(f"{at}/status", patch).ok()["status"]["phase"] == "Running"
    assert admin.get(f"{at}/status").ok()["status"]["phase"] == "Running"
    admin.delete(jobs.at(job), propagationPolicy="Background").ok()


def test_a_pod_carries_the_labels_and_the_owner_it_is_found_by(admin: Client, jobs: Jobs) -> None:
    job = jobs.make()
    pod = jobs.playing.begin(name_of(job))
    assert pod["metadata"]["labels"] == job["spec"]["template"]["metadata"]["labels"]
    assert pod["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "name": name_of(job),
            "uid": job["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
    listed = admin.get(jobs.pods_root, labelSelector=f"job-name={name_of(job)}").ok()
    assert names(listed) == [pod["metadata"]["name"]]
    admin.delete(jobs.at(job), propagationPolicy="Background").ok()


@pytest.mark.parametrize(
    ("codes", "end"),
    [
        ([0], ("Complete", "CompletionsReached")),
        ([2], ("Failed", "PodFailurePolicy")),
        ([1, 0], ("Complete", "CompletionsReached")),
    ],
)
def test_how_a_job_ends(jobs: Jobs, codes: list[int], end: tuple[str, str]) -> None:
    job = jobs.make()
    for code in codes:
        jobs.playing.finish(name_of(job), f"ended with {code}", exit_code=code)
    until(lambda: jobs.condition(job) == end, f"{end}")
    pod = jobs.pods(job)[-1]
    assert (
        pod["status"]["containerStatuses"][0]["state"]["terminated"]["message"] == f"ended with {codes[-1]}"
    )
    assert jobs.client.get(jobs.at(job)).ok()["status"].get("failed", 0) == len([c for c in codes if c])


def test_a_job_without_retries_fails_with_its_first_pod(jobs: Jobs) -> None:
    job = jobs.make(backoffLimit=0)
    jobs.playing.finish(name_of(job), exit_code=1)
    until(lambda: jobs.condition(job) == ("Failed", "BackoffLimitExceeded"), "its end")


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
@pytest.mark.parametrize("done", [False, True], ids=["going on", "ended"])
def test_pods_go_with_their_job(admin: Client, jobs: Jobs, policy: str, done: bool) -> None:
    job = jobs.make()
    if done:
        jobs.playing.finish(name_of(job))
        until(lambda: jobs.condition(job) is not None, "its end")
    else:
        jobs.playing.begin(name_of(job))
    body = {"propagationPolicy": policy, "preconditions": {"uid": job["metadata"]["uid"]}}
    answer = admin.delete(jobs.at(job), body).ok()
    if policy == "Foreground":
        assert answer["kind"] == "Job"
        assert "foregroundDeletion" in answer["metadata"]["finalizers"]
        assert answer["metadata"]["deletionTimestamp"]
    else:
        admin.get(jobs.at(job)).refused(404, "NotFound")
    until(lambda: not jobs.pods(job), "the end of its pods")
    until(lambda: admin.get(jobs.at(job)).code == 404, "its own end")


def test_pods_stay_without_a_propagation_policy(admin: Client, jobs: Jobs) -> None:
    job = jobs.make()
    jobs.playing.finish(name_of(job))
    until(lambda: jobs.condition(job) is not None, "its end")
    admin.delete(jobs.at(job)).ok()
    until(lambda: admin.get(jobs.at(job)).code == 404, "its end")
    (pod,) = jobs.pods(job)
    assert not pod["metadata"].get("ownerReferences")
    admin.delete(f"{jobs.pods_root}/{pod['metadata']['name']}").ok()


def test_a_delete_that_insists_on_another_job(admin: Client, jobs: Jobs) -> None:
    job = jobs.make(suspend=True)
    body = {"preconditions": {"uid": str(uuid.uuid4())}, "propagationPolicy": "Foreground"}
    admin.delete(jobs.at(job), body).refused(409, "Conflict")
    assert not admin.get(jobs.at(job)).ok()["metadata"].get("finalizers")
