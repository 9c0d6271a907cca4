# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which of two versions a place keeps."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.stored_version import (
    StoredVersion,
    must_stay,
)

SECRET = "projects/p-1/secrets/s"


@pytest.mark.parametrize(
    ("held", "wanted", "stays"),
    [
        (StoredVersion(SECRET, 7), StoredVersion(SECRET, 6), True),
        (StoredVersion(SECRET, 10), StoredVersion(SECRET, 9), True),
        (StoredVersion(SECRET, 6), StoredVersion(SECRET, 7), False),
        (StoredVersion(SECRET, 7), StoredVersion(SECRET, 7), False),
        (StoredVersion(SECRET, 7), StoredVersion("projects/p-2/secrets/s", 6), False),
        (StoredVersion(SECRET, 7), StoredVersion("projects/p-1/secrets/t", 6), False),
        # Documented: all runs must name the project in the same way.
        (StoredVersion("projects/123456789012/secrets/s", 7), StoredVersion(SECRET, 6), False),
        (None, StoredVersion(SECRET, 6), False),
        (StoredVersion(SECRET, 7), None, False),
        (None, None, False),
    ],
)
def test_a_newer_version_of_the_same_secret_stays(
    held: StoredVersion | None, wanted: StoredVersion | None, stays: bool
) -> None:
    assert must_stay(held, wanted) is stays


@settings(deadline=None)
@given(st.integers(1, 10**18 - 1))
def test_a_name_is_read_back(number: int) -> None:
    version = StoredVersion(SECRET, number)
    assert StoredVersion.parse(str(version)) == version


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        SECRET,
        f"{SECRET}/versions/latest",
        f"{SECRET}/versions/0",
        f"{SECRET}/versions/07",
        f"{SECRET}/versions/-1",
        f"{SECRET}/versions/7\n",
        f"{SECRET}/versions/7/versions/8",
        f"{SECRET}/versions/{10**18}",
        "projects//secrets/s/versions/7",
    ],
)
def test_what_names_no_version_is_none(text: str | None) -> None:
    assert StoredVersion.parse(text) is None
