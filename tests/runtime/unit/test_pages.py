# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reading a paged list ends, whatever next-page token a server returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import PullSecretError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime import pages
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.pages import all_pages


def server(following: Callable[[str], Any], items: int = 1) -> tuple[Callable[[str], Any], list[str]]:
    """A function that returns pages, each with the token that ``following`` gives, and the list of requested
    tokens.
    """
    asked: list[str] = []

    def page(token: str) -> tuple[list[str], Any]:
        asked.append(token)
        return [token] * items, following(token)

    return page, asked


@pytest.mark.parametrize("end", ["", None])
def test_all_pages(end: str | None) -> None:
    page, asked = server({"": "b", "b": "c", "c": end}.__getitem__, items=2)
    assert list(all_pages(page, "the list")) == ["", "", "b", "b", "c", "c"]
    assert asked == ["", "b", "c"]


def test_pages_are_fetched_as_they_are_needed() -> None:
    page, asked = server(lambda token: token + "a")
    assert next(all_pages(page, "the list")) == ""
    assert asked == [""]


@pytest.mark.parametrize(
    ("following", "requests", "said"),
    [
        (lambda _token: "continue-not-supported", 2, "is continue-not-supported again"),
        ({"": "a", "a": "b", "b": "a"}.__getitem__, 3, "is a again"),
        (lambda _token: "auths: {example-password}", 2, r"is \(not shown\) again"),
        (lambda _token: 7, 1, "is not a string"),
        (lambda _token: ["a"], 1, "is not a string"),
        (lambda _token: "a" * 10_000, 1, "is too long"),
    ],
)
def test_a_token_that_leads_nowhere_ends_the_list(following: Any, requests: int, said: str) -> None:
    page, asked = server(following)
    with pytest.raises(
        PullSecretError, match=f"^the list: the list does not end: the token of the next page.*{said}"
    ):
        list(all_pages(page, "the list"))
    assert len(asked) == requests


@pytest.mark.parametrize("items", [0, 1])
def test_a_new_token_for_each_page_is_not_followed_for_ever(
    items: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MOST_PAGES", 50)
    page, asked = server(lambda token: str(len(token)) + token, items=items)
    with pytest.raises(PullSecretError, match="there are more than 50 pages"):
        list(all_pages(page, "the list"))
    assert len(asked) == 50
