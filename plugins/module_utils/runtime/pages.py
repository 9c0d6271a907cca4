# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads lists in pages, with an end whatever the server answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Callable, TypeVar

from ..model.errors import PullSecretError
from ..model.shown import shown

__all__ = ["MOST_PAGES", "all_pages", "endless"]

T = TypeVar("T")

MOST_PAGES = 10_000
"""Of one list: a million clusters at 100 a page, five million Kubernetes objects at 500."""
# Characters. Kubernetes' tokens have some hundred, and go into the next request's URL.
_LONGEST_TOKEN = 8192


def all_pages(page: Callable[[str], tuple[Iterable[T], Any]], where: str) -> Iterator[T]:
    """Yield everything on all pages of a list that names each page's successor.

    :param page: called with a page's token, "" for the first; returns the page's content and the token of the
        next page, which is empty on the last one.
    :param where: the list, for messages.
    :raises PullSecretError: after the pages' content, if a token is repeated or the pages do not end.
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
    """Return the error for a list that its server does not end.

    :param answer: what the server returned.
    """
    return PullSecretError(
        f"{where}: the list does not end: {answer}",
        "check the server, and any proxy in front of it that answers from a cache",
    )
