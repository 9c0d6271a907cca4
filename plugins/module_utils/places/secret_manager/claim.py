# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A claim on a secret: at most one run adds a version at a time.

``AddSecretVersion`` takes no precondition, so two runs that both saw the old
content would add two versions.  Before an add, a run writes an annotation under the
secret's etag (``UpdateSecret`` refuses with FAILED_PRECONDITION if somebody was
faster; ``CreateSecret`` is atomic and carries the creator's claim).  The claim
names the newest version number that the run saw: once a newer version exists it is
spent, so nothing has to be cleaned up, and it expires, so that a run that was killed
blocks nobody for longer than ``LIFETIME``.

Lists and metadata may be old.  An old etag is refused, so a claim is written only where
the claim before it was seen; and the newest number is found by accessing versions by
their numbers, which is always fresh, so a claim that is spent is never taken for one
that is not.

The holder uses all of that time but ``MARGIN``: its add is given up when the margin
begins.  The margin is for two things together, since neither can be known: how far the
clocks of two machines differ, and how long after our time for the call the service may
still carry it out (gRPC tells it of that time, which is no promise; REST does not).  If
both together are longer than the margin, there may be two versions where one was meant:
each is whole, and the newest of them is compared with what is wanted by the next run.
"""

from __future__ import annotations

import math
import secrets
import time
from dataclasses import dataclass

__all__ = ["ANNOTATION", "KEPT", "LIFETIME", "MARGIN", "RESTORING", "Claim", "ClaimLifetime"]

# Secret Manager's annotation keys have no prefix with a slash.
ANNOTATION = "hyperfleet-adding"
# Of a version that is enabled only to be read: ``restoring``.
RESTORING = "hyperfleet-restoring"
# What only this collection writes.
KEPT = (ANNOTATION, RESTORING)
# Seconds.  A claim and an add take less than one; others wait so long for a run that was killed between.
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
        """A claim that holds for ``lifetime`` seconds from now."""
        return cls(base, owner, time.time() + lifetime)

    @staticmethod
    def new_owner() -> str:
        """A name that no other run has."""
        return secrets.token_hex(6)

    @classmethod
    def parse(cls, text: str | None) -> Claim | None:
        """The annotation's value read back; None for none and for what is not a claim."""
        try:
            base, owner, expires = (text or "").split(".")
            return cls(int(base), owner, float(int(expires)))
        except ValueError:
            return None

    @classmethod
    def version_of(cls, text: str | None) -> int:
        """The number that the add under the claim of this annotation gets or got; 0 where there is none."""
        claim = cls.parse(text)
        # Other clients can write the annotation, too.
        return claim.base + 1 if claim is not None and 0 <= claim.base < _MOST_VERSIONS else 0

    def __str__(self) -> str:
        # Up: others must not think it over before its holder does.
        return f"{self.base}.{self.owner}.{math.ceil(self.expires)}"

    def remaining(self) -> float:
        """Seconds until it expires, below zero once it has."""
        return self.expires - time.time()

    def time_to_add(self) -> float:
        """Seconds in which its holder may begin and end an add; below zero once there are none."""
        return self.remaining() - MARGIN

    def blocks(self, owner: str, newest: int) -> bool:
        """Whether another run is between its claim and its add."""
        return self.owner != owner and self.base >= newest and self.remaining() > 0


class ClaimLifetime:
    """How long one target's claims hold: as short as will do, longer once that did not.

    :param api_timeout: seconds for one call.  A claim that is written and an add that is answered at the
        last moment would both fit the longest one.
    """

    def __init__(self, api_timeout: float) -> None:
        self._longest = 2 * api_timeout + MARGIN
        self.seconds = min(LIFETIME, self._longest)

    def suffices(self, claim: Claim) -> bool:
        """Whether the claim, now that it is written, leaves an add its half of the time."""
        return claim.time_to_add() >= (self.seconds - MARGIN) / 2

    def lengthen(self) -> None:
        """The service is slower than was thought."""
        self.seconds = min(2 * self.seconds, self._longest)
