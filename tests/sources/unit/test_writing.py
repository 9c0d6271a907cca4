# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The common code of the places that are written."""

from __future__ import annotations

import json

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import load
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.outcome import Journal, Outcome
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.writing import (
    note,
    parse_held,
    same_meaning,
)

_DOCUMENT = {"auths": {"quay.io": {"auth": "ZXhhbXBsZS11c2VyOmV4YW1wbGUtcGFzc3dvcmQ="}}}
_WANTED = load(json.dumps(_DOCUMENT).encode())


def test_what_is_right_to_the_byte_is_not_parsed_again() -> None:
    assert parse_held(_WANTED.canonical(), _WANTED) is _WANTED


def test_another_layout_means_the_same() -> None:
    held = parse_held(json.dumps(_DOCUMENT, indent=8).encode(), _WANTED)
    assert held is not _WANTED
    assert same_meaning(held, _WANTED)


@pytest.mark.parametrize("data", [None, b"", b"{", b"\xff", b"[]", b'{"auths": {}}'])
def test_nothing_broken_and_empty_ones_differ(data: bytes | None) -> None:
    assert not same_meaning(parse_held(data, _WANTED), _WANTED)


def test_a_note_goes_to_the_journal_where_there_is_one() -> None:
    outcome = Outcome("cls-1", "place")
    note(outcome, "create-secret", "Created")
    outcome.journal = Journal("k8s-secret")
    note(outcome, "create-secret", "Created", namespace="clusters-1")
    (entry,) = outcome.journal.entries
    assert (entry["operation"], entry["message"], entry["namespace"]) == (
        "create-secret",
        "Created",
        "clusters-1",
    )
