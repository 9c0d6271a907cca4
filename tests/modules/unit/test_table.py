# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table at the end of a run."""

from __future__ import annotations

from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.table import table


def row(name: str, **more: Any) -> dict[str, Any]:
    return {
        "cluster": name,
        "changed": False,
        "failed": False,
        "version": "1",
        "secret_manager": "unchanged",
        "management_secret": "unchanged",
        "reason": None,
        "actions": [],
        "warnings": [],
        **more,
    }


def failed(name: str) -> dict[str, Any]:
    return row(name, failed=True, version=None, secret_manager="failed", reason="it is so")


def test_a_small_fleet_is_shown_whole() -> None:
    lines = table([row("cls-1"), row("cls-22", changed=True, secret_manager="version added"), failed("c")])
    assert lines == [
        "CLUSTER  VERSION  SECRET MANAGER  MANAGEMENT SECRET  RESULT",
        "cls-1    1        unchanged       unchanged          ok",
        "cls-22   1        version added   unchanged          changed",
        "c        -        failed          unchanged          FAILED",
        "",
        "c failed: it is so",
        "",
        "3 clusters: 1 changed, 1 failed",
    ]


def test_warnings_follow() -> None:
    lines = table([row("cls-1", warnings=["quay.io: repaired"])])
    assert lines[-3:] == ["cls-1 warning: quay.io: repaired", "", "1 cluster: 0 changed, 0 failed"]


def test_check_mode_would_change() -> None:
    assert table([row("a", changed=True)], check_mode=True)[-1] == "1 cluster: 1 would change, 0 would fail"


def test_what_failed_has_not_changed_and_what_it_left_is_told() -> None:
    rows = [row("a", changed=True), failed("b"), {**failed("c"), "actions": ["created", "version added"]}]
    assert table(rows)[-1] == "3 clusters: 1 changed, 2 failed (1 after a change in Secret Manager)"


def test_a_failure_is_counted_where_something_was_done_before_it() -> None:
    placed = {**failed("a"), "actions": ["management: created"]}
    both = {**failed("b"), "actions": ["version added", "management: created"]}
    assert (
        table([placed])[-1] == "1 cluster: 0 changed, 1 failed (1 after a change in the management cluster)"
    )
    assert table([placed, both, failed("c")])[-1] == (
        "3 clusters: 0 changed, 3 failed "
        "(1 after a change in Secret Manager, 2 after a change in the management cluster)"
    )


def test_check_mode_says_what_would_fail() -> None:
    rows = [{**failed("a"), "actions": ["version added"]}]
    assert table(rows, check_mode=True)[-1] == (
        "1 cluster: 0 would change, 1 would fail (1 after a change in Secret Manager)"
    )


def test_of_a_large_fleet_only_what_happened() -> None:
    fleet = [row(f"cls-{number}") for number in range(1000)]
    fleet[7], fleet[500] = row("cls-7", changed=True), failed("cls-500")
    lines = table(fleet)
    assert [line.split()[0] for line in lines[1:3]] == ["cls-7", "cls-500"]
    assert lines[-1] == "1000 clusters: 1 changed, 1 failed"
    assert len(lines) == 7


def test_a_large_fleet_where_nothing_happened_is_one_line() -> None:
    assert table([row(f"cls-{number}") for number in range(1000)]) == ["1000 clusters: 0 changed, 0 failed"]


def test_what_does_not_fit_is_counted() -> None:
    lines = table([row(f"cls-{number}", changed=True) for number in range(100)])
    assert "... and 60 more that changed or failed" in lines
    assert lines[-1] == "100 clusters: 100 changed, 0 failed"


def test_no_cluster_at_all() -> None:
    assert table([]) == ["0 clusters: 0 changed, 0 failed"]
