# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What each kind of error means: its condition reason, whether a retry helps, whether it tells what is
stored. Pure.
"""

from __future__ import annotations

from ....model.errors import DependencyMissing

__all__ = [
    "LATER_SECONDS",
    "RARELY_SECONDS",
    "SOON_SECONDS",
    "STUCK_SECONDS",
    "is_permanent",
    "is_retryable",
    "reason_of",
    "requeue_after_failure",
    "says_what_is_stored",
]

# Seconds until the next look. The event source doubles a number that it gets twice in a row.
SOON_SECONDS = 2.0
LATER_SECONDS = 15.0
STUCK_SECONDS = 30.0
RARELY_SECONDS = 60.0

_RETRYABLE = frozenset({"unavailable", "quota", "timeout", "conflict", "stopped", "dependency"})
# Kinds of errors that mean: the secret was read, and holds something else than it should.
_SEEN_OTHERWISE = frozenset(
    {
        "configuration",
        "conflict",
        "dependency",
        "input_refused",
        "invalid_document",
        "not_found",
        "ownership",
        "verification",
    }
)
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


def reason_of(kind: str) -> str:
    """Return the condition reason for a kind of error."""
    return _REASONS.get(kind, "Failed")


def is_retryable(kind: str) -> bool:
    """Return whether a retry may help against a kind of error."""
    return kind in _RETRYABLE


def is_permanent(kind: str | None) -> bool:
    """Return whether a failure lasts until a person has mended something (the job contract's level ``error``).

    A missing namespace is retried, but nothing here creates it.
    """
    return kind is not None and (kind == DependencyMissing.kind or not is_retryable(kind))


def requeue_after_failure(kind: str) -> float:
    """Return the seconds until the next look after a failure of that kind."""
    if kind == "stopped":
        return SOON_SECONDS
    return LATER_SECONDS if is_retryable(kind) else RARELY_SECONDS


def says_what_is_stored(kind: str | None) -> bool:
    """Return whether a failure tells what is stored. An outage, or a Job that died, does not.

    :param kind: None if it is unknown.
    """
    return kind in _SEEN_OTHERWISE
