# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Claims: when another run's is to be waited for."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager import claim
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.claim import Claim


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    found = SimpleNamespace(now=1_000_000.0)
    monkeypatch.setattr(claim, "time", SimpleNamespace(time=lambda: found.now))
    return found


def test_it_is_read_back_as_it_was_written(clock: SimpleNamespace) -> None:
    written = Claim.new(3, Claim.new_owner(), 40)
    assert Claim.parse(str(written)) == written
    assert written.remaining() == 40


def test_names_differ() -> None:
    assert len({Claim.new_owner() for _number in range(100)}) == 100


@pytest.mark.parametrize("text", [None, "", "1", "1.a", "1.a.x", "x.a.1", "1.a.1.1"])
def test_anything_else_is_no_claim(text: str | None) -> None:
    assert Claim.parse(text) is None


def test_it_blocks_others_until_its_version_is_there_or_it_expires(clock: SimpleNamespace) -> None:
    held = Claim.new(3, "us", 40)
    assert held.blocks("them", 3)
    assert not held.blocks("us", 3)
    assert not held.blocks("them", 4)
    clock.now += 40
    assert not held.blocks("them", 3)
