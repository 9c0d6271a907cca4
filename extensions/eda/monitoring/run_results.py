# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Extracts the counts from a run's result. Pure, and never raises, because others wrote it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring import label_values
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model import job_vocabulary

__all__ = [
    "OUTCOMES",
    "REPORTS",
    "RESULTS",
    "ClusterRow",
    "JobEnd",
    "RequestCount",
    "cluster_rows",
    "run_requests",
]

# The outcomes of a cluster in a run.
OUTCOMES = ("reported", "discarded", "gone", "failed")
# The label's value for each outcome of a report.
REPORTS = {"accepted": "success", "discarded": "discarded", "failed": "failure"}
RESULTS = ("success", "failure")
# Status codes that the Job retries.
_RETRIED = frozenset({"408", "429", "500", "502", "503", "504", "none"})
# Upper limits for a Job: a day, and more requests than it ever sends.
_SECONDS = 86400.0
_CALLS = 100_000
# Maximum number of counts in one Job's end, and of its pods.
_ENTRIES = 64
# Maximum number of ends of Jobs for one cluster in one run.
_ENDS = 16


@dataclass(frozen=True)
class RequestCount:
    """Requests of one operation with one status; ``seconds`` of all of them together."""

    operation: str
    status: str
    count: int
    seconds: float


@dataclass(frozen=True)
class JobEnd:
    """What is counted of a Job's end.

    :param seconds: from its start to its end; None if it never started.
    :param program_seconds: of each pod's program.
    :param kind: of the failure; None without one.
    :param retries: requests without a response, or with one that the Job retries.
    """

    result: str
    seconds: float | None
    program_seconds: tuple[float, ...]
    kind: str | None
    phase: str
    versions: int
    gcp: tuple[RequestCount, ...]
    k8s: tuple[RequestCount, ...]
    retries: int


@dataclass(frozen=True)
class ClusterRow:
    """One cluster of a run.

    :param kind: of the failure; None without one.
    :param reports: by the label's value.
    :param ended: whether nothing of the cluster is left to count.
    """

    cluster: str
    outcome: str
    kind: str | None
    reports: dict[str, int]
    job_created: bool
    ended: bool
    ends: tuple[JobEnd, ...]


def cluster_rows(result: Any) -> Iterator[ClusterRow]:
    """Return the clusters of a result; invalid ones are left out."""
    clusters = result.get("clusters") if isinstance(result, Mapping) else None
    for one in clusters if isinstance(clusters, list) else ():
        if isinstance(one, Mapping):
            yield _row(one)


def run_requests(result: Any) -> Iterator[tuple[str, tuple[RequestCount, ...]]]:
    """Return by service (``gcp``, ``k8s``) a run's requests besides the Jobs'; invalid counts are left out."""
    if isinstance(result, Mapping):
        yield "gcp", tuple(_calls(result.get("gcp_api_calls"), gcp=True))
        yield "k8s", tuple(_calls(result.get("k8s_api_calls"), gcp=False))


def _row(one: Mapping[str, Any]) -> ClusterRow:
    reports = one.get("reports")
    ends = one.get("ends")
    outcome = one.get("outcome")
    return ClusterRow(
        cluster=label_values.cluster_label(one.get("id")),
        outcome=job_vocabulary.allowed_or_other(outcome, OUTCOMES),
        kind=job_vocabulary.allowed_or_other(one["kind"], job_vocabulary.END_KINDS)
        if one.get("kind")
        else None,
        reports={label: _whole(reports.get(name), _CALLS) for name, label in REPORTS.items()}
        if isinstance(reports, Mapping)
        else {},
        job_created=one.get("job_created") is True,
        ended=outcome == "gone" or one.get("state") == "deleted",
        ends=tuple(_end(end) for end in ends[:_ENDS] if isinstance(end, Mapping))
        if isinstance(ends, list)
        else (),
    )


def _end(said: Mapping[str, Any]) -> JobEnd:
    result = "success" if said.get("result") == "success" else "failure"
    gcp = tuple(_calls(said.get("gcp_api_calls"), gcp=True))
    k8s = tuple(_calls(said.get("k8s_api_calls"), gcp=False))
    return JobEnd(
        result=result,
        seconds=label_values.bounded_number(said.get("duration_seconds"), _SECONDS),
        program_seconds=_all_seconds(said.get("program_seconds")),
        kind=job_vocabulary.allowed_or_other(said.get("kind"), job_vocabulary.END_KINDS)
        if result == "failure"
        else None,
        phase=job_vocabulary.allowed_or_other(said.get("phase"), job_vocabulary.PHASES),
        versions=_whole(said.get("versions_created"), _ENTRIES),
        gcp=gcp,
        k8s=k8s,
        retries=sum(call.count for call in (*gcp, *k8s) if call.status in _RETRIED),
    )


def _calls(entries: Any, *, gcp: bool) -> Iterator[RequestCount]:
    for one in entries[:_ENTRIES] if isinstance(entries, list) else ():
        if not isinstance(one, Mapping):
            continue
        operation = one.get("operation")
        allowed = (
            job_vocabulary.allowed_or_other(operation, job_vocabulary.GCP_OPERATIONS)
            if gcp
            else job_vocabulary.k8s_operation(operation)
        )
        count = _whole(one.get("count"), _CALLS)
        if count:
            seconds = label_values.bounded_number(one.get("seconds"), _SECONDS) or 0.0
            yield RequestCount(allowed, job_vocabulary.status_code(one.get("status_code")), count, seconds)


def _all_seconds(values: Any) -> tuple[float, ...]:
    found = values[:_ENTRIES] if isinstance(values, list) else ()
    numbers = (label_values.bounded_number(value, _SECONDS) for value in found)
    return tuple(number for number in numbers if number is not None)


def _whole(value: Any, most: int) -> int:
    """Return a count, or 0 for anything else."""
    return int(label_values.bounded_number(value, most) or 0)
