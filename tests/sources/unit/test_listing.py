# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Listing a group before its targets are handled: which groups are listed, and what is known then."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    PermissionDenied,
    PullSecretError,
    Unavailable,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.listing import Listing
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.run_settings import RunSettings


class Initials(Listing[str, str, str, str]):
    """Words as targets: the first letter is the group, the rest is the name."""

    def __init__(self, there: list[str], error: PullSecretError | None = None, after: int = 0) -> None:
        super().__init__(RunSettings(concurrency=2))
        self.there, self.error, self.after = there, error, after
        self.listed: list[str] = []

    def group(self, target: str) -> str:
        return target[0]

    def name(self, target: str) -> str:
        return target[1:]

    def list_group(self, group: str) -> Iterable[tuple[str, str]]:
        self.listed.append(group)
        for number, word in enumerate(word for word in self.there if word[0] == group):
            if self.error is not None and number >= self.after:
                raise self.error
            yield word[1:], word


def test_a_group_is_listed_from_three_names_on() -> None:
    listing = Initials(["a1", "b1", "b2"])
    listing.prepare(["a1", "a2", "a2", "b1", "b2", "b3"])
    assert listing.listed == ["b"]
    assert [listing.covers(word) for word in ("a1", "b1", "b9")] == [False, True, True]
    assert [listing.secret(word) for word in ("a1", "b1", "b2", "b3")] == [None, "b1", "b2", None]


def test_only_what_was_asked_for_is_kept() -> None:
    listing = Initials(["a1", "a9", "b1"])
    listing.prepare(["a1", "a2", "a3"])
    assert [listing.secret(word) for word in ("a1", "a9", "b1")] == ["a1", None, None]


@pytest.mark.parametrize("after", [0, 1], ids=["at once", "in the middle"])
@pytest.mark.parametrize("error", [PermissionDenied("no"), Unavailable("not now")])
def test_a_list_that_fails_is_as_if_there_were_none(error: PullSecretError, after: int) -> None:
    listing = Initials(["a1", "a2"], error, after)
    listing.prepare(["a1", "a2", "a3"])
    assert listing.listed == ["a"]
    assert not listing.covers("a1")
    assert listing.secret("a1") is None


def test_without_targets_nothing_is_listed() -> None:
    listing = Initials(["a1"])
    listing.prepare([])
    assert listing.listed == []
