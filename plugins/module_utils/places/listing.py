# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The existing objects of ours at the start of a run, by one LIST for many targets."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from ..model.errors import PullSecretError
from ..runtime.run_settings import RunSettings

__all__ = ["Listing"]

# From this number of objects in a group, a single LIST is cheaper than a GET for each.
_LIST_FROM = 3

T = TypeVar("T")
G = TypeVar("G", bound=Hashable)
N = TypeVar("N", bound=Hashable)
S = TypeVar("S")


class Listing(Generic[T, G, N, S]):
    """For targets ``T``, in groups ``G`` that need one LIST each, objects ``S`` under names ``N``.

    A place defines these (``group``, ``name``) and how to list a group. Thread-safe once prepared.
    """

    def __init__(self, settings: RunSettings) -> None:
        self._settings = settings
        self._known: dict[G, dict[N, S]] = {}

    def group(self, target: T) -> G:
        """Return the group whose LIST shows this target's object."""
        raise NotImplementedError

    def name(self, target: T) -> N:
        """Return the object's name in the group."""
        raise NotImplementedError

    def list_group(self, group: G) -> Iterable[tuple[N, S]]:
        """Return (name, object) for all objects of ours in a group; may raise a ``PullSecretError``."""
        raise NotImplementedError

    def prepare(self, targets: Sequence[T]) -> None:
        """List the groups if that saves requests and is permitted."""
        groups: dict[G, set[N]] = {}
        for target in targets:
            groups.setdefault(self.group(target), set()).add(self.name(target))
        worth = [(group, wanted) for group, wanted in groups.items() if len(wanted) >= _LIST_FROM]
        with ThreadPoolExecutor(max_workers=max(1, self._settings.concurrency)) as pool:
            list(pool.map(lambda item: self._list(*item), worth))

    def _list(self, group: G, wanted: set[N]) -> None:
        try:
            found = {name: item for name, item in self.list_group(group) if name in wanted}
        except PullSecretError:
            # The permission to LIST is optional. Each target's own GET reports any other problem.
            return
        self._known[group] = found

    def secret(self, target: T) -> S | None:
        """Return the object, or None: it does not exist, is not ours, or nothing was listed."""
        return self._known.get(self.group(target), {}).get(self.name(target))

    def covers(self, target: T) -> bool:
        """Return whether an existing object of ours would be known."""
        return self.group(target) in self._known
