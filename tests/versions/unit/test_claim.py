# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Claims: when to wait for another run's claim."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager import claim
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.claim import (
    MARGIN,
    Claim,
    ClaimLifetime,
)


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


def test_others_do_not_think_it_over_before_its_holder_does(clock: SimpleNamespace) -> None:
    clock.now += 0.3
    written = Claim.new(3, "us", 40)
    read = Claim.parse(str(written))
    assert read is not None
    assert written.expires <= read.expires < written.expires + 1


def test_the_margin_is_no_time_for_an_add(clock: SimpleNamespace) -> None:
    held = Claim.new(3, "us", 20)
    assert held.time_to_add() == 20 - MARGIN
    clock.now += 20 - MARGIN
    assert held.time_to_add() == 0
    assert held.blocks("them", 3)


def test_with_the_usual_time_limit_it_holds_for_twenty_seconds() -> None:
    assert ClaimLifetime(30).seconds == 20


def test_it_is_no_longer_than_calls_can_take() -> None:
    assert ClaimLifetime(2).seconds == 2 * 2 + MARGIN


def test_only_a_slow_service_makes_it_longer_up_to_what_two_calls_can_take() -> None:
    lifetime = ClaimLifetime(30)
    seconds = []
    for _time in range(3):
        lifetime.lengthen()
        seconds.append(lifetime.seconds)
    assert seconds == [40, 70, 70]


def test_a_claim_that_took_half_of_its_time_to_write_does_not_suffice(clock: SimpleNamespace) -> None:
    lifetime = ClaimLifetime(30)
    held = Claim.new(3, "us", lifetime.seconds)
    clock.now += 5
    assert lifetime.suffices(held)
    clock.now += 0.5
    assert not lifetime.suffices(held)
    lifetime.lengthen()
    assert lifetime.suffices(Claim.new(3, "us", lifetime.seconds))


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("0.a.5", 1),
        ("6.a.5", 7),
        (None, 0),
        ("", 0),
        ("never", 0),
        ("-1.a.5", 0),
        ("-7.a.5", 0),
        (f"{10**9}.a.5", 0),
    ],
)
def test_the_version_of_a_claim(text: str | None, version: int) -> None:
    assert Claim.version_of(text) == version
