# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each secret was at each moment, for answers that are late. Empty until somebody needs it."""

from __future__ import annotations

from collections.abc import Mapping

from .records import Record

__all__ = ["Past"]

# Project number and secret id.
_Key = tuple[str, str]


class Past:
    """False until its beginning. Not safe for concurrent use: the store's lock is held around it."""

    def __init__(self) -> None:
        self._begun = False
        self._moments: list[tuple[int, _Key, Record | None]] = []

    def __bool__(self) -> bool:
        return self._begun

    @classmethod
    def beginning(cls, records: Mapping[_Key, Record]) -> Past:
        """These have always been there."""
        past = cls()
        past._begun = True
        for key, record in records.items():
            past.keep(0, key, record)
        return past

    def keep(self, now: int, key: _Key, record: Record | None) -> None:
        """What a secret is from now on; None where it is gone. Times in nanoseconds since the epoch."""
        self._moments.append((now, key, record.copy() if record is not None else None))

    def at(self, moment: int) -> dict[_Key, Record]:
        """What was there at a moment."""
        found: dict[_Key, Record] = {}
        for time, key, record in self._moments:
            if time > moment:
                break
            found.pop(key, None)
            if record is not None:
                found[key] = record
        return found
