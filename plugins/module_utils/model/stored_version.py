# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which version of a stored secret a place holds, and which of two it should hold.  Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["StoredVersion", "must_stay"]

_BETWEEN = "/versions/"
_NUMBER = re.compile(r"[1-9][0-9]{0,17}\Z")


@dataclass(frozen=True)
class StoredVersion:
    """A version by its number, of a store whose versions have an order.

    :param secret: its address, such as ``projects/P/secrets/S``, as the user names it. The id and the number
        of a project count as two: where a version is gone, no answer names the other spelling.
    """

    secret: str
    number: int

    def __str__(self) -> str:
        return f"{self.secret}{_BETWEEN}{self.number}"

    @classmethod
    def parse(cls, text: str | None) -> StoredVersion | None:
        """The name of a version read back; None for none, for an alias, and for what is no such name."""
        secret, _between, number = (text or "").rpartition(_BETWEEN)
        if _BETWEEN in secret or not all(secret.split("/")) or not _NUMBER.match(number):
            return None
        return cls(secret, int(number))


def must_stay(held: StoredVersion | None, wanted: StoredVersion | None) -> bool:
    """Whether a place must keep the version that it holds: the other is an older one of the same secret.

    Without this rule a run that is overtaken by another puts the older version in the place of the newer one.
    The rule does not know whether the newer one can still be read: one that is disabled, destroyed or gone
    does not stay.

    :param held: what the place says that it holds; None where it says nothing.
    :param wanted: what the run would place; None where that is no version of a store.
    """
    if held is None or wanted is None or held.secret != wanted.secret:
        return False
    return held.number > wanted.number
