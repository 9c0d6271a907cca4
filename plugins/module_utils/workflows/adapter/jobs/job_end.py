# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is counted of a Job's end: its result and times by the Job's own status, and the work of all its pods.
Pure.

A Job whose pods left no message (deadline, out of memory, node lost) counts as well. The calls of a pod that
Kubernetes has deleted before the Job's end are not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ....runtime.calls import Calls
from ..model import Observed, Order
from . import job_result, job_state, pods
from .job_outcome import failure_kind
from .job_state import JobState
from .pods import Pod

__all__ = ["job_end", "pod_results"]

_CALLS = {"gcp_api_calls": Calls.GCP, "k8s_api_calls": Calls.KUBERNETES}


def job_end(
    job: JobState, observed: Observed | None = None, results: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Return what is counted of an ended Job: words of ``job_vocabulary`` and numbers.

    :param observed: the outcome; None if only the Job's own status is known.
    :param results: of ``pod_results``.
    """
    counted: dict[str, Any] = {"result": "success" if job.ended == job_state.COMPLETE else "failure"}
    if counted["result"] == "failure":
        fields = (observed.result if observed is not None else None) or {}
        kind = observed.kind if observed is not None else failure_kind(None, job.reason)
        counted.update(kind=kind, phase=fields.get("phase"))
    return {
        **counted,
        "duration_seconds": job.seconds,
        "program_seconds": [fields["duration_seconds"] for fields in results if "duration_seconds" in fields],
        "versions_created": sum(fields.get("versions_created", 0) for fields in results),
        **_requests(results),
    }


def pod_results(own: Iterable[Pod], order: Order) -> list[Mapping[str, Any]]:
    """Return the results that a Job's pods left; a pod that was killed left none."""
    found = (job_result.parse_job_result(pods.container_end(pod).get("message"), order) for pod in own)
    return [said.fields for said in found if said is not None]


def _requests(results: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    calls = Calls()
    for fields in results:
        for name, service in _CALLS.items():
            for call in fields.get(name, ()):
                calls.add(service, call["operation"], call["status_code"], call["count"], call["seconds"])
    return {name: calls.of(service) for name, service in _CALLS.items()}
