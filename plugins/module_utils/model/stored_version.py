# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decides which of two versions of a stored secret a place should hold. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["StoredVersion", "must_stay"]

_BETWEEN = "/versions/"
_NUMBER = re.compile(r"[1-9][0-9]{0,17}\Z")


@dataclass(frozen=True)
class StoredVersion:
    """A version by its number, in a store with ordered versions.

    :param secret: its address, such as ``projects/P/secrets/S``, in the user's spelling. The id and the
        number of a project count as different: if a version is deleted, no response names the other spelling.
    """

    secret: str
    number: int

    def __str__(self) -> str:
        return f"{self.secret}{_BETWEEN}{self.number}"

    @classmethod
    def parse(cls, text: str | None) -> StoredVersion | None:
        """Parse the name of a version; None for an absent name, an alias, or an invalid one."""
        secret, _between, number = (text or "").rpartition(_BETWEEN)
        if _BETWEEN in secret or not all(secret.split("/")) or not _NUMBER.match(number):
            return None
        return cls(secret, int(number))


def must_stay(held: StoredVersion | None, wanted: StoredVersion | None) -> bool:
    """Return whether a place must keep its version, because the other is an older one of the same secret.

    Without this rule, a run that is overtaken by another replaces the newer version by the older one. The
    rule does not know whether the newer one is still readable: a disabled, destroyed or deleted version does
    not stay.

    :param held: the version that the place names; None without one.
    :param wanted: the version that the run would place; None if it is not from a store.
    """
    if held is None or wanted is None or held.secret != wanted.secret:
        return False
    return held.number > wanted.number
