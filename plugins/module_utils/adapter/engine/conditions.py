# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is said of a cluster: each outcome as a report with its four conditions.  Pure.

Running and waiting are ``Available=False``: an ``Unknown`` makes the API discard a whole report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.engine.deciding import (
    Refuse,
    Wait,
    gcp_secret,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.model import (
    CREATED,
    FAILED,
    PENDING,
    RUNNING,
    STUCK,
    SUCCEEDED,
    Observed,
    Order,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import PullSecretError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.hyperfleet.statuses import (
    AdapterStatus,
    Condition,
    Report,
)

__all__ = [
    "DELETED",
    "DELETING",
    "REFUSED",
    "UNMET",
    "Subject",
    "Told",
    "again_after",
    "broken",
    "deleted",
    "deleting",
    "is_retryable",
    "reason_of",
    "refused",
    "seen",
    "waiting",
]

# States beside those of work.
UNMET = "unmet"
REFUSED = "refused"
DELETING = "deleting"
DELETED = "deleted"

_LONGEST = 1000
# Seconds until a look is worth it; the source doubles what it is told twice.
_SOON = 2.0
_LATER = 15.0
_STUCK = 30.0
_RARELY = 60.0
# What the next report must not forget: a removal needs it when spec and placement say something else.
_PLACES = ("gcp_secret", "management_secret")
_REMEMBERED = (*_PLACES, "secret_version", "content_digest")
# Places before these; more moves of one cluster nobody has seen.
_MOST_EARLIER = 10
_RETRYABLE = frozenset({"unavailable", "quota", "timeout", "conflict", "stopped", "dependency"})
_REASONS = {
    "conflict": "Conflict",
    "configuration": "ConfigurationError",
    "dependency": "DependencyMissing",
    "internal": "InternalError",
    "invalid_document": "InvalidPullSecret",
    "not_found": "NotFound",
    "ownership": "OwnershipConflict",
    "permission_denied": "PermissionDenied",
    "quota": "QuotaExceeded",
    "stopped": "RunEnded",
    "timeout": "TimedOut",
    "unavailable": "Unavailable",
    "verification": "VerificationFailed",
}
_ADAPTER_WELL = ("True", "Healthy", "The adapter works")


@dataclass(frozen=True)
class Subject:
    """Of which cluster something is said, and what was said last.

    :param adapter: our name.
    :param generation: of the cluster as it was read.
    """

    cluster_id: str
    adapter: str
    generation: int
    own: Optional[AdapterStatus] = None
    traceparent: Optional[str] = None


@dataclass(frozen=True)
class Told:
    """A report, and what the run itself says of it.

    :param state: a word of the model or of this module.
    :param reason: why it is, or is not, available.
    :param again: seconds until a look is worth it, or None where only an event is.
    """

    report: Report
    state: str
    reason: str
    message: str
    again: Optional[float] = None


def waiting(subject: Subject, wait: Wait) -> Told:
    """Preconditions are not met."""
    message = _short(f"Preconditions not met: {'; '.join(wait.reasons)}")
    said = ("False", "PreconditionsNotMet", message)
    return _told(subject, UNMET, applied=said, available=said)


def refused(subject: Subject, refusal: Refuse) -> Told:
    """The cluster's description is wrong."""
    said = ("False", refusal.reason, _short(refusal.message))
    return _told(subject, REFUSED, applied=said, available=said)


def seen(subject: Subject, order: Order, found: Observed) -> Told:
    """What was seen of the work for an order."""
    message = _short(found.message)
    applied = (
        ("True", "JobApplied", f"Job {found.job} is there")
        if found.job
        else ("True", "Applied", message)
        if found.state == SUCCEEDED
        else ("False", found.reason, message)
    )
    available = ("True" if found.state == SUCCEEDED else "False", found.reason, message)
    if found.state in (CREATED, PENDING, RUNNING) and _is_stored(subject.own, found.content):
        # The earlier Job is gone, by its TTL or by hand: what it stored is not.
        available = (
            "True",
            "PullSecretStored",
            _short(f"It was stored before, and is looked at again: {message}"),
        )
    again = {CREATED: _SOON, PENDING: _SOON, RUNNING: _SOON, STUCK: _STUCK}.get(found.state)
    if found.state == FAILED and found.retry:
        again = _LATER
    return _told(
        subject,
        found.state,
        applied=applied,
        available=available,
        data=_made(order, found),
        metadata=_metadata(found),
        again=again,
    )


def broken(subject: Subject, place: str, error: PullSecretError, order: Optional[Order] = None) -> Told:
    """The adapter could not do its part, since a place does not answer or refuses it.

    :param place: as a reason begins: ``Kubernetes``, ``Statuses``.
    """
    reason = f"{place}{reason_of(error.kind)}"
    said = ("False", reason, _short(str(error)))
    return _told(
        subject,
        FAILED,
        applied=said,
        available=said,
        health=said,
        data=_places(order) if order is not None else {},
        again=again_after(error.kind),
    )


def deleting(subject: Subject, left: Sequence[str], failures: Sequence[tuple[str, str]] = ()) -> Told:
    """Something of a cluster that goes is still there.

    :param left: names of it.
    :param failures: what could not be removed, as (kind, words of the place).
    """
    if failures:
        message = _short("; ".join(text for _kind, text in failures))
        reason = f"Removal{reason_of(failures[0][0])}"
        retry = any(is_retryable(kind) for kind, _text in failures)
        again: float = _LATER if retry else _RARELY
    else:
        message, reason, again = _short(f"Waiting for {', '.join(left)} to be gone"), "Deleting", _SOON
    said = ("False", reason, message)
    return _told(
        subject,
        DELETING,
        applied=("True", reason, message),
        available=said,
        finalized=said,
        again=again,
    )


def deleted(subject: Subject, kept: Sequence[str] = ()) -> Told:
    """All that was made for a cluster is confirmed to be gone.

    :param kept: what the deletion policy leaves, by name.
    """
    message = "All that was made for this cluster is gone"
    if kept:
        message += f"; kept by policy: {', '.join(kept)}"
    said = _short(message)
    return _told(
        subject,
        DELETED,
        applied=("False", "Deleted", said),
        available=("False", "Deleted", said),
        finalized=("True", "Deleted", said),
    )


def reason_of(kind: str) -> str:
    """A condition's reason for a kind of error."""
    return _REASONS.get(kind, "Failed")


def is_retryable(kind: str) -> bool:
    """Whether doing the same once more may help against a kind of error."""
    return kind in _RETRYABLE


def again_after(kind: str) -> float:
    """Seconds until a failure of that kind is worth another look."""
    if kind == "stopped":
        return _SOON
    return _LATER if is_retryable(kind) else _RARELY


def _told(
    subject: Subject,
    state: str,
    *,
    applied: tuple[str, str, str],
    available: tuple[str, str, str],
    health: tuple[str, str, str] = _ADAPTER_WELL,
    finalized: tuple[str, str, str] = ("False", "NotDeleting", "The cluster is not being deleted"),
    data: Optional[Mapping[str, Any]] = None,
    metadata: Optional[Mapping[str, Any]] = None,
    again: Optional[float] = None,
) -> Told:
    remembered = subject.own.data if subject.own is not None else {}
    kept = {name: remembered[name] for name in _REMEMBERED if remembered.get(name)}
    traced = {"traceparent": subject.traceparent} if subject.traceparent else {}
    said = {name: value for name, value in {**kept, **(data or {})}.items() if value}
    earlier = _earlier(remembered, said)
    report = Report(
        adapter=subject.adapter,
        generation=subject.generation,
        conditions=(
            Condition("Applied", *applied),
            Condition("Available", *available),
            Condition("Health", *health),
            Condition("Finalized", *finalized),
        ),
        data={**said, "earlier": earlier} if earlier else said,
        metadata={**(metadata or {}), **traced},
    )
    _status, reason, message = available
    return Told(report, state, reason, message, again)


def _earlier(remembered: Mapping[str, Any], said: Mapping[str, Any]) -> list[Any]:
    """Where things were made before spec or placement pointed elsewhere: a removal has to look there, too."""
    before = remembered.get("earlier")
    places = [
        *(before if isinstance(before, list) else ()),
        *(remembered[name] for name in _PLACES if remembered.get(name)),
    ]
    now = [said.get(name) for name in _PLACES]
    found = [one for index, one in enumerate(places) if one not in now and one not in places[:index]]
    return found[-_MOST_EARLIER:]


def _places(order: Order) -> dict[str, Any]:
    return {
        "gcp_secret": gcp_secret(order),
        "management_secret": {
            "namespace": order.namespace,
            "name": order.placed_as,
        },
    }


def _made(order: Order, found: Observed) -> dict[str, Any]:
    data = _places(order)
    if found.job:
        data["job_name"] = found.job
    if found.state == SUCCEEDED:
        # What the earlier content's was is not this one's, where nobody says.
        data["secret_version"] = str((found.result or {}).get("version") or "")
        data["content_digest"] = found.content
    return data


def _is_stored(own: Optional[AdapterStatus], content: Optional[str]) -> bool:
    """Whether we said last that just this is in its places."""
    return (
        own is not None
        and content is not None
        and own.is_true("Available")
        and own.data.get("content_digest") == content
    )


def _metadata(found: Observed) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    if found.job:
        metadata.update(job_name=found.job, attempt=found.attempt)
    if found.namespace:
        metadata["job_namespace"] = found.namespace
    if found.started:
        metadata["started_time"] = found.started
    return metadata


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
