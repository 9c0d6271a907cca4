# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster's conditions, worked out from what its required adapters reported.

`Reconciled` looks at the cluster's current generation. Each required adapter that has reported adds
`<Name>Successful`. The real API has `LastKnownReconciled` as well, and three times for each condition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

__all__ = ["Condition", "Report", "aggregate"]

Condition = dict[str, Any]


@dataclass(frozen=True)
class Report:
    """A report of one adapter: as it was sent, or the last that was accepted."""

    adapter: str
    generation: int
    observed: datetime  # when the adapter looked
    created: datetime  # when it first did
    conditions: tuple[Condition, ...]
    data: Mapping[str, Any]
    metadata: Mapping[str, Any] | None = None

    def condition(self, name: str) -> Condition:
        """One of the conditions; an empty one if it is missing."""
        return next((condition for condition in self.conditions if condition["type"] == name), {})

    def is_true(self, name: str) -> bool:
        return self.condition(name).get("status") == "True"


def aggregate(
    generation: int, *, deleting: bool, required: Sequence[str], reports: Mapping[str, Report]
) -> list[Condition]:
    """A report of the future, or one whose Available is Unknown, does not count."""
    heard = {
        name: reports[name]
        for name in required
        if name in reports
        and reports[name].generation <= generation
        and reports[name].condition("Available")["status"] != "Unknown"
    }
    wanted = "Finalized" if deleting else "Available"
    missing = sorted(
        name
        for name in required
        if name not in heard or heard[name].generation != generation or not heard[name].is_true(wanted)
    )
    reconciled = {
        "type": "Reconciled",
        "status": "False" if missing else "True",
        "reason": "ReconciledMissingAdapters" if missing else "ReconciledAll",
        "message": (
            f"Required adapters not reporting {wanted}=True: [{', '.join(missing)}]. "
            f"Currently reporting: [{', '.join(sorted(heard))}]"
            if missing
            else "All required adapters reported Available=True or Finalized=True at the current generation"
        ),
        "observed_generation": generation,
    }
    return [reconciled, *(_of_adapter(report) for report in heard.values())]


def _of_adapter(report: Report) -> Condition:
    name = "".join(part[:1].upper() + part[1:] for part in report.adapter.split("-"))
    available = report.condition("Available")
    said: Condition = {key: available[key] for key in ("status", "reason", "message") if key in available}
    return {"type": f"{name}Successful", **said, "observed_generation": report.generation}
