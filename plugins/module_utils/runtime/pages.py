# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lists that come in pages: each ends, whatever the server answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Callable, TypeVar

from ..model.errors import PullSecretError
from ..model.shown import shown

__all__ = ["MOST_PAGES", "all_pages", "endless"]

T = TypeVar("T")

MOST_PAGES = 10_000
"""Of one list: a million clusters at 100 a page, five million objects of Kubernetes at 500."""
# Characters; Kubernetes' tokens have some hundred, and go into the next request's address.
_LONGEST_TOKEN = 8192


def all_pages(page: Callable[[str], tuple[Iterable[T], Any]], where: str) -> Iterator[T]:
    """What is on all pages of a list that names each page's successor.

    :param page: takes a page's token, "" for the first, and gives what is on it and the token of the next
        page, which is empty on the last one.
    :param where: the list, for messages.
    :raises PullSecretError: after what was on the pages, where a token comes again or the pages do not end.
    """
    token = ""
    seen: set[str] = set()
    for _number in range(MOST_PAGES):
        items, following = page(token)
        yield from items
        if not following:
            return
        if not isinstance(following, str) or len(following) > _LONGEST_TOKEN:
            raise endless(where, "the token of the next page is not a string, or is too long")
        if following in seen:
            raise endless(where, f"the token of the next page is {shown(following)} again")
        seen.add(following)
        token = following
    raise endless(where, f"there are more than {MOST_PAGES} pages")


def endless(where: str, answer: str) -> PullSecretError:
    """The error for a list that its server does not end.

    :param answer: what the server says.
    """
    return PullSecretError(
        f"{where}: the list does not end: {answer}",
        "check the server, and any proxy in front of it that answers from a cache",
    )
