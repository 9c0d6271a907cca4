# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lists all clusters of the API, skipping pages and clusters that cannot be read.

Pages are by number, so a deletion meanwhile moves later clusters to a page that was already read. The list is
then read again, and only new clusters are returned.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable

from ...model.errors import ConfigurationError, PermissionDenied, PullSecretError, Unavailable
from ...runtime.pages import MOST_PAGES, endless
from ...runtime.retry import Deadline
from .api import PAGE, is_last
from .client import HyperFleetClient, check_api_cluster_id

__all__ = ["AllClusters"]

_PASSES = 3
# After this number of pages in a row that cannot be read, or have nothing new, the list ends.
_IN_A_ROW = 3


class AllClusters:
    """Iterates once: each readable cluster, once.

    ``problems`` lists afterwards what could not be read; if there is anything, a cluster that was not listed
    may still exist.

    :param deadline: returns the deadline of one page.
    :param search: in the API's language; without it, all clusters are listed.
    """

    def __init__(
        self, client: HyperFleetClient, deadline: Callable[[], Deadline], search: str | None = None
    ) -> None:
        self._client = client
        self._deadline = deadline
        self._search = search
        self._seen: set[str] = set()
        self.problems: list[PullSecretError] = []

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for left in reversed(range(_PASSES)):
            self.problems.clear()
            one = _Pass()
            yield from self._pages(one)
            known = len(self._seen) + one.malformed
            short = one.total is not None and known < one.total
            if self.problems or not (short or one.shrunk):
                return
            if short and not left:
                self._problem(f"the API reports {one.total} clusters but listed {known}")

    def _pages(self, one: _Pass) -> Iterator[dict[str, Any]]:
        number = fruitless = 0
        while fruitless < _IN_A_ROW:
            number += 1
            # An unreadable page may be full.
            found = PAGE
            try:
                items, total = self._client.page_of_clusters(number, self._deadline(), self._search)
            except PullSecretError as error:
                error.message = f"page {number} of the clusters was not read: {error.message}"
                self.problems.append(error)
                if isinstance(error, (ConfigurationError, PermissionDenied)):
                    return
                fruitless += 1
            else:
                one.count(total)
                found = len(items)
                before = len(one.met)
                yield from self._clusters(items, number, one)
                fruitless = 0 if len(one.met) > before else fruitless + 1
            if not found or is_last(number, found, one.total):
                return
            if number >= MOST_PAGES:
                self.problems.append(endless(self._client.place, f"there are more than {MOST_PAGES} pages"))
                return
        if one.total is None and not self.problems:
            self.problems.append(endless(self._client.place, f"the last {_IN_A_ROW} pages have nothing new"))

    def _clusters(self, items: list[Any], page: int, one: _Pass) -> Iterator[dict[str, Any]]:
        for position, item in enumerate(items, start=1):
            cluster_id = _id_of(item)
            if cluster_id is None:
                one.malformed += 1
                self._problem(f"item {position} on page {page} of the clusters has no id")
                continue
            one.met.add(cluster_id)
            if cluster_id not in self._seen:
                self._seen.add(cluster_id)
                yield item

    def _problem(self, message: str) -> None:
        self.problems.append(Unavailable(f"{message} ({self._client.place})"))


class _Pass:
    """One pass over all pages."""

    def __init__(self) -> None:
        self.met: set[str] = set()
        self.malformed = 0
        self.total: int | None = None
        self.shrunk = False

    def count(self, total: int | None) -> None:
        """The total, as the newest page has it."""
        if total is not None:
            self.shrunk = self.shrunk or (self.total is not None and total < self.total)
            self.total = total


def _id_of(item: Any) -> str | None:
    found = item.get("id") if isinstance(item, dict) else None
    try:
        return check_api_cluster_id(found) if isinstance(found, str) else None
    except ConfigurationError:
        return None
