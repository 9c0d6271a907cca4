# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The versions that retention removes, decided from numbers, states and times."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.retention import (
    Retention,
    VersionState,
    plan_retention,
)

_STATES = {"e": "ENABLED", "d": "DISABLED", "x": "DESTROYED"}


def _versions(states: str, step: float = 10.0) -> list[VersionState]:
    """Version n (from 1) was created at n * step."""
    return [VersionState(number, _STATES[state], number * step) for number, state in enumerate(states, 1)]


@pytest.mark.parametrize(
    ("states", "rule", "plan"),
    [
        ("", Retention(1), []),
        ("e", Retention(1), []),
        ("eee", Retention(3), []),
        ("eee", Retention(1), [(2, "disable"), (1, "disable")]),
        ("eee", Retention(1, disable=False), []),
        # Disabled versions do not count as kept; versions newer than the kept ones are left alone.
        ("eded", Retention(1), [(1, "disable")]),
        ("eded", Retention(2, destroy_after=0), []),
        ("deed", Retention(2, destroy_after=0), [(1, "destroy")]),
        ("xxe", Retention(1, destroy_after=0), []),
        # Without an enabled version no version is known to be unused.
        ("ddd", Retention(1, destroy_after=0), []),
        # 1 was superseded at 20 and 2 at 30. At 100 the 75 seconds have passed only for 1.
        ("dde", Retention(1, destroy_after=75), [(1, "destroy")]),
        ("dde", Retention(1, destroy_after=81), []),
        ("dde", Retention(1), []),
    ],
)
def test_plan(states: str, rule: Retention, plan: list[tuple[int, str]]) -> None:
    assert plan_retention(_versions(states), rule, now=100.0) == plan
    assert plan_retention(_versions(states)[::-1], rule, now=100.0) == plan


@given(
    st.text("edx", max_size=12),
    st.integers(1, 5),
    st.booleans(),
    st.one_of(st.none(), st.floats(0, 200)),
    st.floats(0, 500),
)
def test_the_newest_enabled_ones_are_never_touched_and_a_second_plan_only_goes_on(
    states: str, keep: int, disable: bool, destroy_after: float | None, now: float
) -> None:
    versions = _versions(states)
    rule = Retention(keep, disable, destroy_after)
    plan = dict(plan_retention(versions, rule, now))
    newest = [version.number for version in reversed(versions) if version.state == "ENABLED"][:keep]
    assert not set(plan) & set(newest)
    for version in versions:
        if plan.get(version.number) == "destroy":
            assert version.state == "DISABLED"
        if plan.get(version.number) == "disable":
            assert version.state == "ENABLED"

    after = {"disable": "DISABLED", "destroy": "DESTROYED"}
    changed = [
        VersionState(v.number, after[plan[v.number]] if v.number in plan else v.state, v.created)
        for v in versions
    ]
    assert all(verb == "destroy" for _number, verb in plan_retention(changed, rule, now))
