# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which custom resource keeps a place that several want: the oldest. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from ...model.managed_object import ManagedObject

__all__ = ["Claims"]

_Place = tuple[str, ...]


class Claims:
    """The places of all other custom resources: what they are, and what identifies them."""

    def __init__(self, mine: ManagedObject) -> None:
        self._mine = mine
        self._owners: dict[_Place, ManagedObject] = {}

    def add(self, other: ManagedObject, places: Iterable[_Place]) -> None:
        """Note the places of another custom resource."""
        if other.uid == self._mine.uid or _age(other) > _age(self._mine):
            return
        for place in places:
            owner = self._owners.setdefault(place, other)
            if _age(other) < _age(owner):
                self._owners[place] = other

    def owner_of(self, places: Iterable[_Place]) -> tuple[str, ManagedObject] | None:
        """Return the older custom resource that has one of these places, and what; None if there is none."""
        return next(((place[0], self._owners[place]) for place in places if place in self._owners), None)


def _age(item: ManagedObject) -> tuple[str, str]:
    return item.created, item.uid
