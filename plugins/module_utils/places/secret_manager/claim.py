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
blocks nobody for long.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass

__all__ = ["ANNOTATION", "Claim"]

# Secret Manager's annotation keys have no prefix with a slash.
ANNOTATION = "hyperfleet-adding"


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

    def __str__(self) -> str:
        return f"{self.base}.{self.owner}.{int(self.expires)}"

    def remaining(self) -> float:
        """Seconds until it expires, below zero once it has."""
        return self.expires - time.time()

    def blocks(self, owner: str, newest: int) -> bool:
        """Whether another run is between its claim and its add."""
        return self.owner != owner and self.base >= newest and self.remaining() > 0
