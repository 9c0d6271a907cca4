# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The separate tasks of the role ``node``: write, restart, watch and rollback.

A run may end between any two of them.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.result import SyncResult
from tests.node.unit.support import Place, config, document, refusal

OLD = document(ecr_example="x")
WANTED = config(quay_io="new")


def write(place: Place) -> SyncResult:
    return place.sync(restart="deferred").apply(WANTED)


def restart(place: Place) -> SyncResult:
    """What the first handler does."""
    return place.sync(rollback=False, window=0.0).settle()


def end(place: Place) -> None:
    """Kubelet ends, and systemd will start it again."""
    up = place.systemd.now
    place.systemd.now = up._replace(active="activating", sub="auto-restart", result="exit-code")


@pytest.fixture
def written(place: Place) -> Place:
    place.put(OLD)
    assert write(place).state == "pending"
    return place


def test_all_is_well(written: Place) -> None:
    restarted = restart(written)
    assert (restarted.state, restarted.healthy, restarted.actions) == ("pending", True, ["restarted"])
    assert restarted.effective == "now"
    assert written.sync().verify().healthy
    assert written.ledger()["pending"] is None
    assert not write(written).needed


def test_a_kubelet_that_ends_between_the_handlers_is_not_called_well_by_the_next_run(written: Place) -> None:
    restart(written)
    end(written)
    again = write(written)
    assert (again.state, again.needed, again.actions) == ("pending", True, [])
    # It comes up and ends again.
    assert restart(written).actions == ["restarted"]
    end(written)
    assert "auto-restart" in written.sync().verify().message
    assert written.sync().roll_back().state == "in-sync"
    assert written.auths() == OLD["auths"]
    assert write(written).state == "held"


def test_a_kubelet_that_is_up_with_the_file_is_watched_by_the_next_run(written: Place) -> None:
    """The previous run restarted it; this run must still watch it."""
    restart(written)
    assert write(written).needed
    found = restart(written)
    assert (found.state, found.actions, found.attempts) == ("pending", [], 0)
    end(written)
    assert not written.sync().verify().healthy
    assert written.ledger()["pending"] is not None


def test_the_module_takes_up_what_the_role_has_left(written: Place) -> None:
    restart(written)
    end(written)
    written.systemd.script = ["failed"] * 3
    result = written.sync().apply(WANTED)
    assert (result.state, result.rolled_back) == ("failed", True)
    assert written.auths() == OLD["auths"]


def test_a_kubelet_that_was_stopped_is_not_waited_for(written: Place) -> None:
    written.systemd.now = written.systemd.now._replace(active="inactive", sub="dead")
    assert restart(written).state == "in-sync"
    assert written.ledger()["pending"] is None


def test_check_mode_says_that_it_is_still_to_be_watched(written: Place) -> None:
    restart(written)
    planned = written.sync(rollback=False, window=0.0).plan_settle()
    assert (planned.state, planned.actions) == ("pending", [])


def test_at_once_and_without_a_roll_back_kubelet_has_been_watched(place: Place) -> None:
    assert place.sync(rollback=False).apply(WANTED).state == "in-sync"
    assert place.ledger()["pending"] is None


@pytest.mark.parametrize("ends", ["at once", "later"])
def test_the_reason_is_kept_for_the_roll_back(written: Place, ends: str) -> None:
    if ends == "at once":
        written.systemd.script = ["failed"] * 3
        reason = restart(written).message
        assert "the unit's result is 'exit-code' (3 attempts)" in reason
    else:
        restart(written)
        end(written)
        reason = written.sync().verify().message
        assert "auto-restart" in reason
    assert written.sync().roll_back().state == "in-sync"
    held = write(written)
    assert (held.state, held.by_node) == ("held", False)
    assert reason in held.message


@pytest.mark.parametrize(
    ("script", "says"),
    [
        (["dependency"] * 3, "the result 'dependency' for the restart"),
        ([refusal("UnitMasked")], "the unit is masked"),
    ],
    ids=["dependency", "masked"],
)
def test_what_is_the_nodes_fault_stays_so(written: Place, script: list[Any], says: str) -> None:
    written.systemd.script = list(script)
    assert restart(written).by_node
    assert written.sync().roll_back().state == "in-sync"
    held = write(written)
    assert (held.by_node, says in held.message) == (True, True)


def test_a_reason_that_no_longer_holds_is_forgotten(written: Place) -> None:
    written.systemd.script = ["dependency"] * 3
    restart(written)
    assert restart(written).healthy
    written.sync().roll_back()
    failed = written.ledger()["failed"]
    assert (failed["reason"], failed["by_node"]) == ("rolled back on request", False)


def test_a_ledger_of_before_reasons_were_noted_is_read(written: Place) -> None:
    path = written.path.parent / "config.json.hyperfleet"
    ledger: dict[str, Any] = written.ledger()
    for name in ("reason", "by_node"):
        del ledger["pending"][name]
    path.write_text(json.dumps(ledger))
    assert write(written).warnings == []
    assert restart(written).healthy
    assert written.sync().verify().healthy
    assert written.ledger()["pending"] is None
