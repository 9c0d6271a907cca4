# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a run did for each cluster: entries of the result file, counts, log entries. Pure.

All of it is printed or stored: names, counts and times, never a value.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....model import job_vocabulary
from ....model.errors import PullSecretError
from ....model.summary import failure_text
from ....model.tracing import trace_id
from ....runtime.calls import Calls
from ..model import STUCK
from .failure_reasons import is_permanent, requeue_after_failure
from .report import ClusterReport

__all__ = [
    "OUTCOME_DISCARDED",
    "OUTCOME_FAILED",
    "OUTCOME_GONE",
    "OUTCOME_REPORTED",
    "ClusterResult",
    "log_entries",
    "module_result",
    "request_counts",
    "result_document",
    "sweep_problem_entry",
    "sweep_warning_entry",
    "utc_now",
]

_COMPONENT = "pullsecret-adapter"
_VERSION = 1
# The outcome of a cluster's report.
OUTCOME_REPORTED = "reported"
OUTCOME_DISCARDED = "discarded"
OUTCOME_GONE = "gone"
OUTCOME_FAILED = "failed"

# Maps a run's actions to the operations of the log contract.
_WROTE = re.compile(r"(create|update|delete)d (job|secret|pod) (\S+)\Z")
# Up to this number, each cluster has its own row by default.
_FEW = 50


@dataclass
class ClusterResult:
    """The result of one cluster in one run.

    :param report: what was, or would be, reported; None if nothing could be reported.
    :param kind: of the failure, with its ``message``, if no status could be reported.
    :param ends: what is counted of the ends of Jobs that this run is the first to see, or of work without
        a Job.
    :param duration: milliseconds.
    """

    cluster_id: str
    outcome: str = OUTCOME_FAILED
    generation: int | None = None
    traceparent: str | None = None
    report: ClusterReport | None = None
    kind: str | None = None
    message: str = ""
    actions: Sequence[str] = ()
    ends: Sequence[Mapping[str, Any]] = ()
    job_created: bool = False
    project: str | None = None
    duration: int = 0
    retries: int = 0
    warnings: list[str] = field(default_factory=list)

    @property
    def requeue_after(self) -> float | None:
        """Return the seconds until the next look."""
        if self.outcome == OUTCOME_FAILED:
            return requeue_after_failure(self.kind or "")
        return self.report.requeue_after if self.report is not None and self.outcome != OUTCOME_GONE else None

    @property
    def failure(self) -> str | None:
        """Return the kind of the failure, of the report or of the cluster's work; None without one."""
        if self.outcome == OUTCOME_FAILED:
            return self.kind or job_vocabulary.OTHER
        return self.report.failure if self.report is not None and self.outcome != OUTCOME_GONE else None

    def entry(self) -> dict[str, Any]:
        """Return the cluster's entry of the result file, which the event source reads."""
        return {
            "id": self.cluster_id,
            "generation": self.generation,
            "outcome": self.outcome,
            "state": self.report.state if self.report is not None else None,
            "again": self.requeue_after,
            "reason": self.report.reason if self.report is not None else None,
            "kind": self.failure,
            "job_created": self.job_created,
            "reports": {
                "accepted": int(self.outcome == OUTCOME_REPORTED),
                "discarded": int(self.outcome == OUTCOME_DISCARDED),
                "failed": int(self.outcome == OUTCOME_FAILED),
            },
            "traceparent": self.traceparent,
            "ends": [dict(end) for end in self.ends],
        }

    def detail(self) -> dict[str, Any]:
        """Return the entry with all details for people."""
        report = self.report
        more: dict[str, Any] = {
            "message": _why(self),
            "actions": list(self.actions),
            "retries": self.retries,
        }
        if report is not None:
            more["conditions"] = [
                {"type": one.type, "status": one.status, "reason": one.reason, "message": one.message}
                for one in report.api_report.conditions
            ]
            more["data"] = dict(report.api_report.data)
        return {**self.entry(), **more}


def utc_now() -> str:
    """Return the current time as RFC 3339, UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def result_document(
    results: Iterable[ClusterResult], started: str, ended: str, calls: Calls
) -> dict[str, Any]:
    """Return the document of the result file.

    :param calls: requests that belong to none of the clusters' ``ends``.
    """
    return {
        "version": _VERSION,
        "started": started,
        "ended": ended,
        "clusters": [one.entry() for one in results],
        **request_counts(calls),
    }


def request_counts(calls: Calls) -> dict[str, Any]:
    """Count requests as in a Job's termination message."""
    return {"gcp_api_calls": calls.of(Calls.GCP), "k8s_api_calls": calls.of(Calls.KUBERNETES)}


def _outcome_summary(results: Sequence[ClusterResult]) -> dict[str, Any]:
    """Count clusters by outcome, those that failed, and those with a state by state."""
    outcomes = dict.fromkeys((OUTCOME_REPORTED, OUTCOME_DISCARDED, OUTCOME_GONE, "unreported"), 0)
    states: dict[str, int] = {}
    for one in results:
        outcomes["unreported" if one.outcome == OUTCOME_FAILED else one.outcome] += 1
        if one.report is not None:
            states[one.report.state] = states.get(one.report.state, 0) + 1
    return {
        "total": len(results),
        **outcomes,
        "failed": sum(1 for one in results if one.failure is not None),
        "changed": sum(1 for one in results if one.actions),
        "states": states,
    }


def module_result(results: Sequence[ClusterResult], detail: str | None) -> dict[str, Any]:
    """Return the module's result.

    :param detail: ``all`` lists each cluster, ``brief`` those that failed or need a person, ``log`` none.
        None means ``all`` for a few clusters and ``brief`` for more.
    """
    wanted = detail or ("all" if len(results) <= _FEW else "brief")
    shown: list[ClusterResult] = []
    if wanted == "all":
        shown = list(results)
    elif wanted == "brief":
        shown = [one for one in results if _needs_a_look(one)]
    counted = _outcome_summary(results)
    answer: dict[str, Any] = {
        "changed": counted["changed"] > 0,
        "clusters": [one.detail() for one in shown],
        "summary": counted,
    }
    failed = [(one.cluster_id, _why(one)) for one in results if one.failure is not None]
    if failed:
        answer["msg"] = failure_text(failed, len(results), "clusters")
    return answer


def log_entries(one: ClusterResult) -> Iterator[dict[str, Any]]:
    """Return the structured log of the job contract: what was written and what was reported."""
    known: dict[str, Any] = {
        "component": _COMPONENT,
        "cluster_id": one.cluster_id,
        "gcp_project": one.project,
        "generation": one.generation,
        "trace_id": trace_id(one.traceparent),
    }
    for warning in one.warnings:
        yield {**known, "level": "warn", "phase": "apply", "operation": "retry", "message": warning}
    for action in one.actions:
        yield {**known, "phase": "apply", **_operation(action), "message": action}
    report = one.report
    said: dict[str, Any]
    if one.outcome == OUTCOME_GONE:
        message = one.message or "The cluster is gone: nothing to report"
        said = {"operation": "get-cluster", "message": message}
    elif one.outcome == OUTCOME_FAILED:
        said = {
            "level": "error",
            "operation": "report-status" if report is not None else "get-cluster",
            "message": one.message,
            "error": one.kind,
        }
    else:
        said = {"level": _level(one), "operation": "report-status", "message": _sentence(one)}
    if report is not None:
        said = {**said, "state": report.state, "reason": report.reason, **_places(report.api_report.data)}
    yield {**known, "phase": "report", **said, "outcome": one.outcome, "duration_ms": one.duration}


def sweep_problem_entry(problem: PullSecretError) -> dict[str, Any]:
    """Return the log entry for a part of the list that a sweep could not read."""
    return {
        "level": "error",
        "component": _COMPONENT,
        "phase": "sweep",
        "operation": "list-clusters",
        "error": problem.kind,
        "message": str(problem),
    }


def sweep_warning_entry(warning: str) -> dict[str, Any]:
    """Return the log entry for what a sweep left out."""
    return {
        "level": "warn",
        "component": _COMPONENT,
        "phase": "sweep",
        "operation": "remove-leftovers",
        "message": warning,
    }


def _operation(action: str) -> dict[str, str]:
    """Return the operation, such as ``create-secret``, and its object."""
    found = _WROTE.match(action)
    if found is None:
        return {"operation": "apply"}
    verb, kind, name = found.groups()
    return {"operation": f"{verb}-{kind}", **({"secret_name": name} if kind == "secret" else {})}


def _places(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return where the pull secret is, as far as the report knows, in the log contract's field names."""
    stored, placed = data.get("gcp_secret"), data.get("management_secret")
    return {
        "namespace": placed.get("namespace") if isinstance(placed, Mapping) else None,
        "secret_name": stored.rpartition("/")[2] if isinstance(stored, str) else None,
        "version": data.get("secret_version") or None,
    }


def _why(one: ClusterResult) -> str:
    return one.message or (one.report.message if one.report is not None else "")


def _needs_a_look(one: ClusterResult) -> bool:
    if one.outcome == OUTCOME_GONE:
        return bool(one.message)
    return one.failure is not None or _is_stuck(one)


def _is_stuck(one: ClusterResult) -> bool:
    return one.report is not None and one.report.state == STUCK


def _level(one: ClusterResult) -> str:
    if is_permanent(one.failure) or _is_stuck(one):
        return "error"
    return "warn" if _needs_a_look(one) or one.outcome == OUTCOME_DISCARDED else "info"


def _sentence(one: ClusterResult) -> str:
    text = f"{one.report.reason}: {one.report.message}" if one.report is not None else ""
    return f"The API discarded the report: {text}" if one.outcome == OUTCOME_DISCARDED else text
