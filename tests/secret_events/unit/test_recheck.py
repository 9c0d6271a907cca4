# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The times at which a changed cluster is checked again."""

from __future__ import annotations

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.recheck import Recheck


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def looks(again: Recheck, clock: Clock, seconds: int) -> list[tuple[int, str]]:
    """(second, cluster) of all checks in that time."""
    found = []
    for second in range(1, seconds + 1):
        clock.now += 1
        found += [(second, cluster) for cluster in again.due()]
    return found


def test_who_changed_is_looked_at_again_with_pauses_that_double_until_all_are_looked_at() -> None:
    clock = Clock()
    again = Recheck(300, clock)
    again.changed(["cls-1"])
    assert looks(again, clock, 2000) == [(second, "cls-1") for second in (15, 45, 105, 225, 465)]


def test_a_further_change_begins_anew() -> None:
    clock = Clock()
    again = Recheck(100, clock)
    again.changed(["cls-1", "cls-2"])
    assert looks(again, clock, 14) == []
    again.changed(["cls-1"])
    assert looks(again, clock, 50) == [(1, "cls-2"), (15, "cls-1"), (31, "cls-2"), (45, "cls-1")]


def test_who_went_is_forgotten() -> None:
    clock = Clock()
    again = Recheck(100, clock)
    again.changed(["cls-1", "cls-2"])
    again.keep_only(["cls-2"])
    assert looks(again, clock, 30) == [(15, "cls-2")]


def test_no_cluster_is_checked_again_if_rechecks_are_off() -> None:
    clock = Clock()
    again = Recheck(0, clock)
    again.changed(["cls-1"])
    assert looks(again, clock, 1000) == []
