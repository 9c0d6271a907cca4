# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From a Job and its pods to what is said of a cluster's work.  Pure.

Whatever a kubelet, a scheduler or a pod wrote is quoted in one line and cut; only states and reasons that
are known here become reasons of conditions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter import model
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs import result, seen
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.manifests import (
    CONTAINER,
    INPUT_IS_WRONG,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.seen import Job, Pod
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.model import Observed

__all__ = ["GRACE", "observe", "record"]

# Seconds that a scheduler, or the Job controller, may take before it counts as stuck.
GRACE = 60.0
# What no second try changes: another document, or another configuration, makes another Job.
_PERMANENT = frozenset({"configuration", "invalid_document"})
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
_ENDS = {
    "BackoffLimitExceeded": "its pods failed more often than backoffLimit allows",
    "DeadlineExceeded": "it was not done within its deadline",
    "PodFailurePolicy": "its program refused what it was given",
}
_REASON = re.compile(r"[A-Z][A-Za-z]{0,63}\Z")
_STATES = (model.SUCCEEDED, model.FAILED)


def observe(job: Job, pods: Iterable[Pod], namespace: str, now: float) -> Observed:
    """What is seen of a Job.

    :param pods: of any Jobs; not needed of one whose end is recorded.
    :param namespace: the Job's.
    :param now: seconds since 1970.
    """
    if job.ended is not None:
        recorded = _recorded(job, namespace)
        return recorded if recorded is not None else _ended(job, seen.pods_of(job, pods), namespace)
    return _going_on(job, seen.pods_of(job, pods), namespace, now)


def record(observed: Observed) -> str:
    """The annotation that keeps what was seen of an end, for when the pods are gone."""
    kept: dict[str, Any] = {
        "state": observed.state,
        "reason": observed.reason,
        "message": observed.message,
        "retry": observed.retry,
    }
    if observed.result is not None:
        kept["result"] = dict(observed.result)
    return json.dumps(kept, separators=(",", ":"))


def _recorded(job: Job, namespace: str) -> Optional[Observed]:
    kept = job.recorded
    wanted = model.SUCCEEDED if job.ended == seen.COMPLETE else model.FAILED
    if not isinstance(kept, Mapping) or kept.get("state") not in _STATES:
        return None
    if kept["state"] == model.SUCCEEDED and wanted != model.SUCCEEDED:
        return None
    reason = kept.get("reason")
    if not isinstance(reason, str) or not _REASON.match(reason):
        return None
    return _of(
        job,
        namespace,
        kept["state"],
        reason,
        result.clean(kept.get("message")),
        result=result.checked(kept.get("result")),
        retry=kept.get("retry") is not False,
    )


def _ended(job: Job, pods: Sequence[Pod], namespace: str) -> Observed:
    complete = job.ended == seen.COMPLETE
    chosen = [pod for pod in pods if _phase(pod) == "Succeeded"] if complete else list(pods)
    pod = chosen[0] if chosen else None
    end = _terminated(pod)
    said = result.parse(end.get("message"))
    if complete:
        return _complete(job, said, namespace)
    if said is not None and said["result"] != "failure":
        said = None
    permanent = (
        job.reason == "PodFailurePolicy"
        or end.get("exitCode") == INPUT_IS_WRONG
        or (said or {}).get("kind") in _PERMANENT
    )
    reason, why = _why(job, pod, end, said)
    return _of(
        job,
        namespace,
        model.FAILED,
        reason,
        f"job {job.name} failed: {why}",
        result=said,
        retry=not permanent,
    )


def _complete(job: Job, said: Optional[dict[str, Any]], namespace: str) -> Observed:
    if said is not None and said["result"] != "success":
        return _of(
            job,
            namespace,
            model.FAILED,
            "ResultContradicts",
            f"job {job.name} is complete, but says that it failed: {said.get('message', '')}".strip(" :"),
            result=said,
        )
    # Nobody needs a text of others here; whatever else is in a result has a shape that holds no secret.
    held = {name: value for name, value in (said or {}).items() if name != "message"}
    where = [f"version {held['version']}"] if "version" in held else []
    where += [f"in {held['secret']}"] if "secret" in held else []
    managed = held.get("management_secret")
    if managed:
        where.append(f"and in namespaces/{managed['namespace']}/secrets/{managed['name']}")
    stored = f"the pull secret is stored: {' '.join(where)}" if where else f"job {job.name} is complete"
    return _of(job, namespace, model.SUCCEEDED, "PullSecretStored", stored, result=held or None)


def _why(
    job: Job, pod: Optional[Pod], end: Mapping[str, Any], said: Optional[dict[str, Any]]
) -> tuple[str, str]:
    """A condition's reason and its sentence: of what is nearest to the cause."""
    if said is not None and "kind" in said:
        return _camel(said["kind"]), said.get("message") or said["kind"]
    if pod is not None and (pod.get("status") or {}).get("reason") == "Evicted":
        return "PodEvicted", result.clean((pod["status"]).get("message")) or "its pod was evicted"
    if end.get("reason") == "OOMKilled":
        return "OutOfMemory", "it needed more memory than its limit"
    if end.get("exitCode") == INPUT_IS_WRONG or job.reason == "PodFailurePolicy":
        return "InputRefused", _ENDS["PodFailurePolicy"]
    known = _ENDS.get(job.reason)
    return (job.reason if known else "JobFailed"), known or "Kubernetes gave no reason that is known"


def _going_on(job: Job, pods: Sequence[Pod], namespace: str, now: float) -> Observed:
    if job.suspended:
        return _of(job, namespace, model.PENDING, "JobSuspended", f"job {job.name} is suspended")
    active = [pod for pod in pods if _phase(pod) not in ("Succeeded", "Failed")]
    if any("running" in _state(pod) or "terminated" in _state(pod) for pod in active):
        return _running(job, namespace)
    for pod in active:
        stuck = _stuck(pod, now)
        if stuck is not None:
            reason, why = stuck
            return _of(job, namespace, model.STUCK, reason, f"job {job.name} cannot begin: {why}")
    if any(_phase(pod) == "Succeeded" for pod in pods):
        return _running(job, namespace)
    failed = next((pod for pod in pods if _phase(pod) == "Failed"), None)
    if job.failed or failed is not None:
        return _again(job, failed, namespace)
    if not pods and job.created and now - job.created > GRACE:
        return _of(
            job,
            namespace,
            model.STUCK,
            "PodNotCreated",
            f"job {job.name} has had no pod for {now - job.created:.0f} s: "
            "its events say why (is there its service account, and room in the quota?)",
        )
    return _of(job, namespace, model.PENDING, "JobPending", f"job {job.name} waits for its pod to begin")


def _running(job: Job, namespace: str) -> Observed:
    return _of(job, namespace, model.RUNNING, "JobRunning", f"job {job.name} is running")


def _again(job: Job, failed: Optional[Pod], namespace: str) -> Observed:
    if failed is not None and (failed.get("status") or {}).get("reason") == "Evicted":
        why = "its pod was evicted, and another is made"
        return _of(job, namespace, model.RUNNING, "PodEvicted", f"job {job.name}: {why}")
    said = result.parse(_terminated(failed).get("message")) or {}
    why = said.get("message") or said.get("kind") or "Kubernetes makes another pod"
    return _of(job, namespace, model.RUNNING, "JobRetrying", f"job {job.name}: a pod failed: {why}")


def _stuck(pod: Pod, now: float) -> Optional[tuple[str, str]]:
    waiting = _state(pod).get("waiting") or {}
    reason = _WAITING.get(str(waiting.get("reason")))
    if reason is not None:
        return reason, f"{waiting['reason']}: {result.clean(waiting.get('message'), 500)}".rstrip(": ")
    for condition in (pod.get("status") or {}).get("conditions") or ():
        since = seen.seconds_of(condition.get("lastTransitionTime"))
        if (
            condition.get("type") == "PodScheduled"
            and condition.get("status") == "False"
            and condition.get("reason") in ("Unschedulable", "SchedulingGated")
            and (not since or now - since > GRACE)
        ):
            return "PodUnschedulable", result.clean(condition.get("message"), 500) or "no node takes its pod"
    return None


def _of(
    job: Job,
    namespace: str,
    state: str,
    reason: str,
    message: str,
    *,
    result: Optional[Mapping[str, Any]] = None,
    retry: bool = True,
) -> Observed:
    return Observed(
        state,
        reason,
        message,
        job=job.name,
        namespace=namespace,
        attempt=job.tries,
        started=job.started,
        result=result,
        retry=retry,
        kind=_kind(result, retry) if state == model.FAILED else None,
    )


def _kind(result: Optional[Mapping[str, Any]], retry: bool) -> Optional[str]:
    """What its program said, or its exit code: one that no other try changes is that of a wrong input."""
    found: Optional[str] = (result or {}).get("kind")
    return found or (None if retry else "configuration")


def _phase(pod: Pod) -> str:
    return str((pod.get("status") or {}).get("phase") or "")


def _state(pod: Pod) -> Mapping[str, Any]:
    """Of the container that does the work."""
    for status in (pod.get("status") or {}).get("containerStatuses") or ():
        if status.get("name") == CONTAINER:
            return dict(status.get("state") or {})
    return {}


def _terminated(pod: Optional[Pod]) -> Mapping[str, Any]:
    return dict((_state(pod).get("terminated") if pod is not None else None) or {})


def _camel(kind: str) -> str:
    return "".join(part.capitalize() for part in kind.split("_")) or "JobFailed"
