# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A claim on a secret: at most one run adds a version at a time.

``AddSecretVersion`` has no precondition, so two runs that both saw the old content would add two versions.
Before an add, a run writes an annotation under the secret's etag. ``UpdateSecret`` refuses a stale etag with
FAILED_PRECONDITION, and ``CreateSecret`` is atomic and carries the creator's claim. The claim names the
newest version number that the run saw. Once a newer version exists it is used up, so nothing has to be
cleaned up. It also expires, so that a killed run blocks nobody for longer than ``LIFETIME``.

Lists and metadata may be stale. A stale etag is refused, so a claim is written only after the previous claim
was seen. The newest number is found by accessing versions by number, which is always current, so a used-up
claim is never taken for a valid one.

The holder uses all of that time but ``MARGIN``: its add is given up when the margin begins. The margin covers
two unknown times together: the difference between two machines' clocks, and the time after our timeout in
which the service may still execute the call (gRPC sends the timeout, without a guarantee; REST does not). If
both together exceed the margin, there may be two versions instead of one. Each is complete, and the next run
compares the newest one with the wanted content.
"""

from __future__ import annotations

import math
import secrets
import time
from dataclasses import dataclass

__all__ = ["ANNOTATION", "KEPT", "LIFETIME", "MARGIN", "RESTORING", "Claim", "ClaimLifetime"]

# Secret Manager's annotation keys have no prefix with a slash.
ANNOTATION = "hyperfleet-adding"
# The mark of a version that is enabled only to be read: ``restoring``.
RESTORING = "hyperfleet-restoring"
# Annotations that only this collection writes.
KEPT = (ANNOTATION, RESTORING)
# Seconds. A claim and an add take less than one; others wait this long for a run that was killed between
# them.
LIFETIME = 20.0
MARGIN = 10.0
# More than a secret ever has.
_MOST_VERSIONS = 10**9


@dataclass(frozen=True)
class Claim:
    """``base``: the newest version number seen; ``expires``: seconds since the epoch."""

    base: int
    owner: str
    expires: float

    @classmethod
    def new(cls, base: int, owner: str, lifetime: float) -> Claim:
        """Return a claim that is valid for ``lifetime`` seconds from now."""
        return cls(base, owner, time.time() + lifetime)

    @staticmethod
    def new_owner() -> str:
        """Return a name that no other run has."""
        return secrets.token_hex(6)

    @classmethod
    def parse(cls, text: str | None) -> Claim | None:
        """Parse the annotation's value; None for an absent or invalid one."""
        try:
            base, owner, expires = (text or "").split(".")
            return cls(int(base), owner, float(int(expires)))
        except ValueError:
            return None

    @classmethod
    def version_of(cls, text: str | None) -> int:
        """Return the number that the add under this annotation's claim gets or got; 0 without a claim."""
        claim = cls.parse(text)
        # Other clients can write the annotation, too.
        return claim.base + 1 if claim is not None and 0 <= claim.base < _MOST_VERSIONS else 0

    def __str__(self) -> str:
        # Rounded up: others must not take it as expired before its holder does.
        return f"{self.base}.{self.owner}.{math.ceil(self.expires)}"

    def remaining(self) -> float:
        """Return the seconds until it expires, below zero afterwards."""
        return self.expires - time.time()

    def time_to_add(self) -> float:
        """Return the seconds in which its holder may begin and finish an add, below zero afterwards."""
        return self.remaining() - MARGIN

    def blocks(self, owner: str, newest: int) -> bool:
        """Return whether another run is between its claim and its add."""
        return self.owner != owner and self.base >= newest and self.remaining() > 0


class ClaimLifetime:
    """How long one target's claims are valid: as short as possible, longer after one was too short.

    :param api_timeout: seconds for one call. The longest lifetime fits a claim and an add that are both
        answered at the last moment.
    """

    def __init__(self, api_timeout: float) -> None:
        self._longest = 2 * api_timeout + MARGIN
        self.seconds = min(LIFETIME, self._longest)

    def suffices(self, claim: Claim) -> bool:
        """Return whether the claim, now that it is written, leaves half of the time for an add."""
        return claim.time_to_add() >= (self.seconds - MARGIN) / 2

    def lengthen(self) -> None:
        """Lengthen later claims, because the service is slow."""
        self.seconds = min(2 * self.seconds, self._longest)
