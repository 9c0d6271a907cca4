# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The outcome of a finished Job, from its pods or from the annotation that recorded it.  Pure."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ....model import job_vocabulary
from ....model.naming import kubernetes_secret_address
from ....runtime.calls import snake
from .. import model
from ..model import Observed, Order
from . import job_result, job_state, pods
from .job_result import JobResult
from .job_state import JobState
from .manifests import INPUT_IS_WRONG
from .pods import Pod

__all__ = ["failure_kind", "job_observation", "outcome_annotation", "outcome_from_pods", "recorded_outcome"]

# Failures that no retry changes. Only another document or configuration makes another Job.
_PERMANENT = frozenset({"configuration", "invalid_document"})
_ENDS = {
    "BackoffLimitExceeded": "its pods failed more often than backoffLimit allows",
    "DeadlineExceeded": "it did not finish within its deadline",
    "PodFailurePolicy": "its container ended with exit code 2 (wrong settings, an invalid pull secret, or a "
    "secret of another owner); see the pod's log",
}


def job_observation(
    job: JobState,
    namespace: str,
    state: str,
    reason: str,
    message: str,
    *,
    result: Mapping[str, Any] | None = None,
    retry: bool = True,
) -> Observed:
    """Return an observation of a Job, with the fields that all observations have."""
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
        kind=failure_kind(result, reason) if state == model.FAILED else None,
    )


def failure_kind(result: Mapping[str, Any] | None, reason: str) -> str:
    """Return the kind of a Job's failure: its program's, or without a message of it that of Kubernetes' reason.

    :param reason: of the condition.
    """
    kind = (result or {}).get("kind") or snake(reason)
    return job_vocabulary.allowed_or_other(kind, job_vocabulary.END_KINDS)


def outcome_from_pods(job: JobState, own: Sequence[Pod], namespace: str, order: Order) -> Observed:
    """Return the outcome that its pods show.

    :param own: the Job's pods, the newest first.
    """
    complete = job.ended == job_state.COMPLETE
    chosen = [pod for pod in own if pods.pod_phase(pod) == "Succeeded"] if complete else list(own)
    pod = chosen[0] if chosen else None
    end = pods.container_end(pod)
    said = job_result.parse_job_result(end.get("message"), order)
    if complete:
        return _complete(job, said, namespace, order)
    fields = dict(said.fields) if said is not None and said.fields["result"] == "failure" else None
    permanent = (
        job.reason == "PodFailurePolicy"
        or end.get("exitCode") == INPUT_IS_WRONG
        or (fields or {}).get("kind") in _PERMANENT
    )
    reason, why = _why(job, pod, end, fields)
    message = f"job {job.name} failed: {why}"
    return job_observation(job, namespace, model.FAILED, reason, message, result=fields, retry=not permanent)


def outcome_annotation(observed: Observed) -> str:
    """Return the annotation that records an outcome, for when the pods are gone."""
    kept: dict[str, Any] = {
        "state": observed.state,
        "reason": observed.reason,
        "message": observed.message,
        "retry": observed.retry,
    }
    if observed.result is not None:
        kept["result"] = dict(observed.result)
    if observed.elsewhere:
        kept["elsewhere"] = True
    return json.dumps(kept, separators=(",", ":"))


def recorded_outcome(job: JobState, namespace: str, order: Order) -> Observed | None:
    """Return the recorded outcome, or None if the annotation cannot be ours.

    It passes the same checks again, because anybody who may write annotations may have written it.
    """
    kept = job.recorded
    if not isinstance(kept, Mapping):
        return None
    said = job_result.checked_job_result(kept.get("result"), order)
    if kept.get("state") == model.SUCCEEDED and job.ended == job_state.COMPLETE:
        if said is not None and said.fields["result"] != "success":
            said = None
        if kept.get("elsewhere") is True:
            said = JobResult(said.fields if said is not None else {}, elsewhere=True)
        return _succeeded(job, said, namespace, order)
    reason = kept.get("reason")
    if kept.get("state") != model.FAILED or reason not in _REASONS:
        return None
    return job_observation(
        job,
        namespace,
        model.FAILED,
        str(reason),
        job_result.cleaned_text(kept.get("message")),
        result=said.fields if said is not None else None,
        retry=kept.get("retry") is not False,
    )


def _complete(job: JobState, said: JobResult | None, namespace: str, order: Order) -> Observed:
    if said is None or said.fields["result"] == "success":
        return _succeeded(job, said, namespace, order)
    message = f"job {job.name} is complete, but reports that it failed: {said.fields.get('message', '')}"
    return job_observation(
        job, namespace, model.FAILED, "ResultContradicts", message.strip(" :"), result=dict(said.fields)
    )


def _succeeded(job: JobState, said: JobResult | None, namespace: str, order: Order) -> Observed:
    """A Job that succeeded. The message consists of our own words only, not of the Job's."""
    fields = said.fields if said is not None else {}
    held = {name: value for name, value in fields.items() if name != "message"}
    where = [f"in {held['secret']}"] if "secret" in held else []
    managed = held.get("management_secret")
    where += [f"in {kubernetes_secret_address(managed['namespace'], managed['name'])}"] if managed else []
    what = [f"version {held['version']}"] if "version" in held else []
    stored = " ".join([*what, " and ".join(where)]).strip()
    message = f"the pull secret is stored: {stored}" if stored else f"job {job.name} is complete"
    message += model.other_replication(order, held)
    observed = job_observation(
        job, namespace, model.SUCCEEDED, "PullSecretStored", message, result=held or None
    )
    if said is None or not said.elsewhere:
        return observed
    more = (
        "; the Job reports a secret (not shown) that is not the one the adapter requested: check that "
        "spec.jobTemplate.image is this adapter's image"
    )
    return dataclasses.replace(observed, message=message + more, elsewhere=True)


def _why(
    job: JobState, pod: Pod | None, end: Mapping[str, Any], fields: Mapping[str, Any] | None
) -> tuple[str, str]:
    """Return the condition reason and message that are closest to the cause."""
    if fields is not None and "kind" in fields:
        return _camel(fields["kind"]), fields.get("message") or fields["kind"]
    if pod is not None and pods.is_evicted(pod):
        return "PodEvicted", job_result.cleaned_text(pod["status"].get("message")) or "its pod was evicted"
    if end.get("reason") == "OOMKilled":
        return "OutOfMemory", "it needed more memory than its limit"
    if end.get("exitCode") == INPUT_IS_WRONG or job.reason == "PodFailurePolicy":
        return "InputRefused", _ENDS["PodFailurePolicy"]
    why = _ENDS.get(job.reason)
    return (job.reason if why else "JobFailed"), why or "Kubernetes gave no known reason"


def _camel(kind: str) -> str:
    if kind == job_vocabulary.OTHER:
        return "JobFailed"
    return "".join(part.capitalize() for part in kind.split("_"))


_REASONS = frozenset(
    {
        *_ENDS,
        *map(_camel, job_vocabulary.KINDS),
        "InputRefused",
        "JobFailed",
        "OutOfMemory",
        "PodEvicted",
        "ResultContradicts",
    }
)
