# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster's report with its four conditions, and its state in the run's result. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ....clients.hyperfleet.statuses import AdapterStatus, Condition, Report
from ..model import Order
from .last_status import carried_over, is_reported_stored

__all__ = ["ClusterReport", "ConditionValue", "ReportSubject", "make_report", "shortened", "stored_earlier"]

_LONGEST = 1000
ConditionValue = tuple[str, str, str]
"""One condition: status, reason, message."""
_ADAPTER_WELL = ("True", "Healthy", "The adapter works")
_STAYS = ("False", "NotDeleting", "The cluster is not being deleted")


@dataclass(frozen=True)
class ReportSubject:
    """The cluster that is reported on, and its last status.

    :param adapter: our name.
    :param generation: of the cluster as it was read.
    :param is_deleting: whether it is being deleted.
    """

    cluster_id: str
    adapter: str
    generation: int
    last_status: AdapterStatus | None = None
    traceparent: str | None = None
    is_deleting: bool = False

    def is_stored(self, order: Order | None = None, content: str | None = None) -> bool:
        """Return whether its pull secret was stored and placed before, whatever this run observes."""
        return not self.is_deleting and is_reported_stored(self.last_status, self.generation, order, content)


@dataclass(frozen=True)
class ClusterReport:
    """A report for the API, and the state, reason and message for the run's result.

    :param state: a state of the model or of this module.
    :param reason: why it is available or not.
    :param requeue_after: seconds until the next look, or None to wait for an event.
    :param failure: kind of the error if the cluster's work was refused or failed.
    """

    api_report: Report
    state: str
    reason: str
    message: str
    requeue_after: float | None = None
    failure: str | None = None


def make_report(
    subject: ReportSubject,
    state: str,
    *,
    applied: ConditionValue,
    available: ConditionValue,
    health: ConditionValue | None = None,
    finalized: ConditionValue | None = None,
    data: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    requeue_after: float | None = None,
    why: ConditionValue | None = None,
    failure: str | None = None,
) -> ClusterReport:
    """:param why: the run's own reason and message; None uses those of Available."""
    traced = {"traceparent": subject.traceparent} if subject.traceparent else {}
    if finalized is None:
        finalized = ("False", *available[1:]) if subject.is_deleting else _STAYS
    report = Report(
        adapter=subject.adapter,
        generation=subject.generation,
        conditions=(
            Condition("Applied", *applied),
            Condition("Available", *available),
            Condition("Health", *(health or _ADAPTER_WELL)),
            Condition("Finalized", *finalized),
        ),
        data=carried_over(subject.last_status, data or {}),
        metadata={**(metadata or {}), **traced},
    )
    _status, reason, message = why or available
    return ClusterReport(report, state, reason, message, requeue_after, failure)


def stored_earlier(message: str) -> str:
    """Return the message for a pull secret that was stored before.

    :param message: what happens now; not necessarily a check of the secret.
    """
    return shortened(f"The pull secret was stored earlier; now: {message}")


def shortened(text: str) -> str:
    """Return the text, cut to the maximum length of a condition's message."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
