# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a kind of error means: a condition's reason, whether it passes, what it tells of the places.  Pure."""

from __future__ import annotations

__all__ = [
    "LATER_SECONDS",
    "RARELY_SECONDS",
    "SOON_SECONDS",
    "STUCK_SECONDS",
    "is_retryable",
    "reason_of",
    "requeue_after_failure",
    "says_what_is_stored",
]

# Seconds until a look is worth it; the event source doubles a number that it gets twice.
SOON_SECONDS = 2.0
LATER_SECONDS = 15.0
STUCK_SECONDS = 30.0
RARELY_SECONDS = 60.0

_RETRYABLE = frozenset({"unavailable", "quota", "timeout", "conflict", "stopped", "dependency"})
# An error of such a kind means: the place was read, and holds something else than it should.
_SEEN_OTHERWISE = frozenset(
    {
        "configuration",
        "conflict",
        "dependency",
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
    """A condition's reason for a kind of error."""
    return _REASONS.get(kind, "Failed")


def is_retryable(kind: str) -> bool:
    """Whether doing the same once more may help against a kind of error."""
    return kind in _RETRYABLE


def requeue_after_failure(kind: str) -> float:
    """Seconds until a failure of that kind is worth another look."""
    if kind == "stopped":
        return SOON_SECONDS
    return LATER_SECONDS if is_retryable(kind) else RARELY_SECONDS


def says_what_is_stored(kind: str | None) -> bool:
    """Whether a failure of work says what is in the places; an outage, or a Job that died, does not.

    :param kind: None where nothing was said.
    """
    return kind in _SEEN_OTHERWISE
