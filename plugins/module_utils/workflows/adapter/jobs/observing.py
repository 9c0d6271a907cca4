# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Derives the state of a cluster's work from a Job and its pods. Pure.

Texts of a kubelet, a scheduler or a pod are quoted in one line and cut. Only states and reasons that are
known here become condition reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .. import model
from ..model import Observed, Order
from . import job_outcome, job_result, job_state, pods
from .job_state import JobState
from .pods import Pod

__all__ = ["observe"]

# Seconds after which a scheduler, or the Job controller, counts as stuck.
_GRACE_SECONDS = 60.0
_WAITING = {
    "ErrImagePull": "ImagePullFailed",
    "ImagePullBackOff": "ImagePullFailed",
    "ErrImageNeverPull": "ImagePullFailed",
    "ImageInspectError": "ImagePullFailed",
    "RegistryUnavailable": "ImagePullFailed",
    "SignatureValidationFailed": "ImagePullFailed",
    "InvalidImageName": "InvalidImageName",
    "CreateContainerConfigError": "ContainerConfigError",
    "CreateContainerError": "ContainerCreateFailed",
    "RunContainerError": "ContainerCreateFailed",
}


def observe(job: JobState, found: Iterable[Pod], namespace: str, order: Order, now: float) -> Observed:
    """Return the observation of a Job.

    :param found: pods of any Jobs; not needed if the Job's end is recorded.
    :param namespace: the Job's.
    :param order: what it was created for.
    :param now: seconds since 1970.
    """
    if job.ended is not None:
        recorded = job_outcome.recorded_outcome(job, namespace, order)
        return recorded or job_outcome.outcome_from_pods(job, pods.pods_of(job, found), namespace, order)
    return _going_on(job, pods.pods_of(job, found), namespace, order, now)


def _going_on(job: JobState, own: Sequence[Pod], namespace: str, order: Order, now: float) -> Observed:
    if job.suspended:
        return job_outcome.job_observation(
            job, namespace, model.PENDING, "JobSuspended", f"job {job.name} is suspended"
        )
    active = [pod for pod in own if pods.pod_phase(pod) not in ("Succeeded", "Failed")]
    if any(
        "running" in pods.container_state(pod) or "terminated" in pods.container_state(pod) for pod in active
    ):
        return _running(job, namespace)
    for pod in active:
        stuck = _stuck(pod, now)
        if stuck is not None:
            reason, why = stuck
            return job_outcome.job_observation(
                job, namespace, model.STUCK, reason, f"job {job.name} cannot begin: {why}"
            )
    if any(pods.pod_phase(pod) == "Succeeded" for pod in own):
        return _running(job, namespace)
    failed = next((pod for pod in own if pods.pod_phase(pod) == "Failed"), None)
    if job.failed or failed is not None:
        return _again(job, failed, namespace, order)
    if not own and job.created and now - job.created > _GRACE_SECONDS:
        return job_outcome.job_observation(
            job,
            namespace,
            model.STUCK,
            "PodNotCreated",
            f"job {job.name} has had no pod for {now - job.created:.0f} s: "
            "see its events (is its service account missing, or a quota exceeded?)",
        )
    return job_outcome.job_observation(
        job, namespace, model.PENDING, "JobPending", f"job {job.name} waits for its pod to begin"
    )


def _running(job: JobState, namespace: str) -> Observed:
    return job_outcome.job_observation(
        job, namespace, model.RUNNING, "JobRunning", f"job {job.name} is running"
    )


def _again(job: JobState, failed: Pod | None, namespace: str, order: Order) -> Observed:
    if failed is not None and pods.is_evicted(failed):
        why = "its pod was evicted, and another is made"
        return job_outcome.job_observation(
            job, namespace, model.RUNNING, "PodEvicted", f"job {job.name}: {why}"
        )
    said = job_result.parse_job_result(pods.container_end(failed).get("message"), order)
    fields = said.fields if said is not None else {}
    why = fields.get("message") or fields.get("kind") or "Kubernetes makes another pod"
    return job_outcome.job_observation(
        job, namespace, model.RUNNING, "JobRetrying", f"job {job.name}: a pod failed: {why}"
    )


def _stuck(pod: Pod, now: float) -> tuple[str, str] | None:
    waiting = pods.container_state(pod).get("waiting") or {}
    reason = _WAITING.get(str(waiting.get("reason")))
    if reason is not None:
        return reason, f"{waiting['reason']}: {job_result.cleaned_text(waiting.get('message'), 500)}".rstrip(
            ": "
        )
    for condition in (pod.get("status") or {}).get("conditions") or ():
        since = job_state.seconds_of(condition.get("lastTransitionTime"))
        if (
            condition.get("type") == "PodScheduled"
            and condition.get("status") == "False"
            and condition.get("reason") in ("Unschedulable", "SchedulingGated")
            and (not since or now - since > _GRACE_SECONDS)
        ):
            return "PodUnschedulable", job_result.cleaned_text(
                condition.get("message"), 500
            ) or "no node takes its pod"
    return None
