# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Turns each outcome of a cluster into a report with its four conditions. Pure.

Running and waiting are ``Available=False``: an ``Unknown`` makes the API discard the whole report.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....model import job_vocabulary
from ....model.errors import PullSecretError
from ..model import CREATED, FAILED, PENDING, RUNNING, STUCK, SUCCEEDED, Observed, Order
from .decide import Refuse, UnmetPreconditions
from .failure_reasons import (
    LATER_SECONDS,
    RARELY_SECONDS,
    SOON_SECONDS,
    STUCK_SECONDS,
    is_retryable,
    reason_of,
    requeue_after_failure,
    says_what_is_stored,
)
from .last_status import order_places
from .report import (
    ClusterReport,
    ConditionValue,
    ReportSubject,
    make_report,
    shortened,
    stored_earlier,
)

__all__ = ["adapter_failed", "deleted", "deleting", "observed", "preconditions_unmet", "refused"]

# States in addition to those of work.
_UNMET = "unmet"
_REFUSED = "refused"
_DELETING = "deleting"
_DELETED = "deleted"

_STORED = "PullSecretStored"


def preconditions_unmet(subject: ReportSubject, unmet: UnmetPreconditions) -> ClusterReport:
    """Preconditions are not met. What was stored for this generation before still counts as stored, but not
    for a cluster that is placed in another management cluster now.
    """
    message = shortened(f"Preconditions not met: {'; '.join(unmet.reasons)}")
    said = ("False", "PreconditionsNotMet", message)
    if subject.is_stored() and not unmet.is_in_other_management_cluster:
        kept = ("True", _STORED, stored_earlier(message))
        return make_report(subject, _UNMET, applied=kept, available=kept, why=said)
    return make_report(subject, _UNMET, applied=said, available=said)


def refused(subject: ReportSubject, refusal: Refuse) -> ClusterReport:
    """The cluster's document is invalid."""
    said = ("False", refusal.reason, shortened(refusal.message))
    return make_report(subject, _REFUSED, applied=said, available=said, failure=refusal.kind)


def observed(subject: ReportSubject, order: Order, found: Observed) -> ClusterReport:
    """The Job, or inline work, was observed."""
    message = shortened(found.message)
    applied = (
        ("True", "JobApplied", f"Job {found.job} exists")
        if found.job
        else ("True", "Applied", message)
        if found.state == SUCCEEDED
        else ("False", found.reason, message)
    )
    available = ("True" if found.state == SUCCEEDED else "False", found.reason, message)
    health: ConditionValue | None = None
    why = available
    if _says_nothing(found) and subject.is_stored(order, found.content):
        available = ("True", _STORED, stored_earlier(message))
        applied = applied if found.job else available
        if found.state in (STUCK, FAILED):
            health = ("False", found.reason, message)
        else:
            why = available
    requeue_after = {
        CREATED: SOON_SECONDS,
        PENDING: SOON_SECONDS,
        RUNNING: SOON_SECONDS,
        STUCK: STUCK_SECONDS,
    }.get(found.state)
    if found.state == FAILED:
        requeue_after = LATER_SECONDS if found.retry else RARELY_SECONDS
    return make_report(
        subject,
        found.state,
        applied=applied,
        available=available,
        health=health,
        data=_made(order, found),
        metadata=_metadata(found),
        requeue_after=requeue_after,
        why=why,
        failure=(found.kind or job_vocabulary.OTHER) if found.state == FAILED else None,
    )


def adapter_failed(
    subject: ReportSubject, place: str, error: PullSecretError, order: Order | None = None
) -> ClusterReport:
    """The adapter could not work, because an API does not answer or refuses it, or because of a defect.

    What was stored for this generation before still counts as stored: only Health changes.

    :param place: prefix of the reason: ``Kubernetes``, ``Statuses``; empty for the adapter itself.
    """
    reason = f"{place}{reason_of(error.kind)}"
    said = ("False", reason, shortened(str(error)))
    kept = ("True", _STORED, stored_earlier(said[2])) if subject.is_stored(order) else said
    return make_report(
        subject,
        FAILED,
        applied=kept,
        available=kept,
        health=said,
        data=order_places(order) if order is not None else {},
        requeue_after=requeue_after_failure(error.kind),
        why=said,
        failure=error.kind,
    )


def deleting(
    subject: ReportSubject, left: Sequence[str], failures: Sequence[tuple[str, str]] = ()
) -> ClusterReport:
    """Some objects of a cluster that is being deleted still exist.

    :param left: their names.
    :param failures: what could not be removed, as (kind, message).
    """
    if failures:
        message = shortened("; ".join(text for _kind, text in failures))
        reason = f"Removal{reason_of(failures[0][0])}"
        retry = any(is_retryable(kind) for kind, _text in failures)
        requeue_after: float = LATER_SECONDS if retry else RARELY_SECONDS
    else:
        message, reason, requeue_after = (
            shortened(f"Waiting for {', '.join(left)} to be gone"),
            "Deleting",
            SOON_SECONDS,
        )
    said = ("False", reason, message)
    return make_report(
        subject,
        _DELETING,
        applied=("True", reason, message),
        available=said,
        finalized=said,
        requeue_after=requeue_after,
        failure=failures[0][0] if failures else None,
    )


def deleted(subject: ReportSubject, kept: Sequence[str] = ()) -> ClusterReport:
    """All objects of a deleted cluster are confirmed to be gone.

    The cluster is looked at again until the API no longer has it. While it has node pools, the API deletes it
    only when another such report comes, and no event announces that they are gone.

    :param kept: names of what the deletion policy keeps.
    """
    message = "Everything that was created for this cluster is deleted"
    if kept:
        message += f"; kept by policy: {', '.join(kept)}"
    said = shortened(message)
    return make_report(
        subject,
        _DELETED,
        applied=("False", "Deleted", said),
        available=("False", "Deleted", said),
        finalized=("True", "Deleted", said),
        requeue_after=RARELY_SECONDS,
    )


def _says_nothing(found: Observed) -> bool:
    """Return whether an observation leaves open what is stored."""
    if found.drifted or says_what_is_stored(found.kind):
        return False
    return found.state in (CREATED, PENDING, RUNNING, STUCK, FAILED)


def _made(order: Order, found: Observed) -> dict[str, Any]:
    data = order_places(order)
    if found.job:
        data["job_name"] = found.job
    if found.state == SUCCEEDED:
        # An earlier content's version must not be reported for this content.
        data["secret_version"] = str((found.result or {}).get("version") or "")
        data["content_digest"] = found.content
    return data


def _metadata(found: Observed) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    if found.job:
        metadata.update(job_name=found.job, attempt=found.attempt)
    if found.namespace:
        metadata["job_namespace"] = found.namespace
    if found.started:
        metadata["started_time"] = found.started
    return metadata
