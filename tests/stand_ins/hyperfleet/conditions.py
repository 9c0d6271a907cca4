# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster's conditions, worked out from what its required adapters reported.

Reconciled looks at the cluster's current generation, LastKnownReconciled at the last one that all
adapters agreed on; each required adapter that has reported adds `<Name>Successful`.
All times are nanoseconds; a condition is a dict as the API shows it, except for its times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Condition", "Report", "aggregate", "is_true"]

Condition = dict[str, Any]


@dataclass(frozen=True)
class Report:
    """The last accepted report of one adapter."""

    adapter: str
    generation: int
    observed: int  # when the adapter looked
    created: int  # when it first did
    conditions: tuple[Condition, ...]
    data: Mapping[str, Any]
    metadata: Mapping[str, Any] | None = None

    def condition(self, name: str) -> Condition | None:
        return next((condition for condition in self.conditions if condition["type"] == name), None)


def is_true(report: Report, name: str) -> bool:
    condition = report.condition(name)
    return condition is not None and condition["status"] == "True"


def aggregate(
    *,
    generation: int,
    updated: int,
    deleting: bool,
    required: Sequence[str],
    reports: Mapping[str, Report],
    previous: Iterable[Condition],
) -> list[Condition]:
    """The conditions that replace `previous`; `updated` is when the cluster itself last changed."""
    before = {condition["type"]: condition for condition in previous}
    heard = {
        name: reports[name] for name in required if name in reports and _counts(reports[name], generation)
    }
    result = [
        _reconciled(generation, updated, deleting, required, heard, before.get("Reconciled")),
        _last_known(updated, required, heard, before.get("LastKnownReconciled")),
    ]
    for name in required:
        if name in heard:
            result.append(_adapter(heard[name], updated, before))
    return result


def _counts(report: Report, generation: int) -> bool:
    """A report of the future, or one whose Available is Unknown, says nothing."""
    available = report.condition("Available")
    return available is not None and available["status"] != "Unknown" and report.generation <= generation


def _make(
    kind: str,
    good: bool,
    reason: str | None,
    message: str | None,
    generation: int,
    *,
    created: int,
    updated: int,
) -> Condition:
    condition: Condition = {"type": kind, "status": "True" if good else "False"}
    if reason is not None:
        condition["reason"] = reason
    if message is not None:
        condition["message"] = message
    condition.update(
        observed_generation=generation,
        created_time=created,
        last_updated_time=updated,
        last_transition_time=updated,
    )
    return condition


def _keep_transition(condition: Condition, before: Condition | None) -> Condition:
    if before is not None and before["status"] == condition["status"]:
        condition["last_transition_time"] = before["last_transition_time"]
    return condition


def _created(before: Condition | None, updated: int) -> int:
    return updated if before is None else int(before["created_time"])


def _reconciled(
    generation: int,
    updated: int,
    deleting: bool,
    required: Sequence[str],
    heard: Mapping[str, Report],
    before: Condition | None,
) -> Condition:
    wanted = "Finalized" if deleting else "Available"
    missing = sorted(
        name
        for name in required
        if name not in heard or heard[name].generation != generation or not is_true(heard[name], wanted)
    )
    good = bool(required) and not missing
    if good:
        reason = "ReconciledAll"
        message = "All required adapters reported Available=True or Finalized=True at the current generation"
    else:
        reason = "ReconciledMissingAdapters"
        message = (
            f"Required adapters not reporting {wanted}=True: [{', '.join(missing)}]. "
            f"Currently reporting: [{', '.join(sorted(heard))}]"
        )
    current = [report.observed for report in heard.values() if report.generation == generation]
    condition = _make(
        "Reconciled",
        good,
        reason,
        message,
        generation,
        created=_created(before, updated),
        updated=min(current, default=updated),
    )
    falls = before is not None and before["status"] == "True" and not good
    if falls and before is not None and generation > before["observed_generation"]:
        condition["last_transition_time"] = updated  # the edit ended it, not a report
    return _keep_transition(condition, before)


def _last_known(
    updated: int, required: Sequence[str], heard: Mapping[str, Report], before: Condition | None
) -> Condition:
    complete = bool(required) and len(heard) == len(required)
    bad = [report for report in heard.values() if not is_true(report, "Available")]
    generations = {report.generation for report in heard.values()}
    was_good = before is not None and before["status"] == "True"
    tracked = int(before["observed_generation"]) if before is not None else 1
    if complete and not bad:
        good = len(generations) == 1 or was_good
    else:  # stays True until a failure is seen at the generation it speaks of
        good = complete and was_good and all(report.generation != tracked for report in bad)

    agreed = complete and not bad and len(generations) == 1
    observed = max(generations, default=tracked) if not good or agreed else tracked
    when = int(before["last_updated_time"]) if before is not None else updated
    at_observed = [report.observed for report in heard.values() if report.generation == observed]
    if agreed or (not good and any(report.generation == observed for report in bad)):
        when = min(at_observed)

    if good:
        reason, message = (
            "AllAdaptersReconciled",
            "All required adapters report Available=True for the tracked generation",
        )
    elif not complete:
        reason, message = "AdaptersMissingReports", "Required adapters have not yet reported status"
    elif bad:
        reason, message = (
            "AdapterReportedNotAvailable",
            "One or more required adapters report Available=False",
        )
    else:
        reason, message = (
            "AdaptersNotAtSameGeneration",
            "The adapters speak of different generations",
        )
    created = _created(before, updated)
    condition = _make("LastKnownReconciled", good, reason, message, observed, created=created, updated=when)
    return _keep_transition(condition, before)


def _adapter(report: Report, updated: int, before: Mapping[str, Condition]) -> Condition:
    kind = "".join(part[:1].upper() + part[1:] for part in report.adapter.split("-")) + "Successful"
    available = report.condition("Available") or {}
    condition = _make(
        kind,
        is_true(report, "Available"),
        available.get("reason"),
        available.get("message"),
        report.generation,
        created=_created(before.get(kind), updated),
        updated=report.observed,
    )
    return _keep_transition(condition, before.get(kind))
