# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A node whose kubelet is not well whatever the file is, for hours: no storm, and nobody is kept up."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.syncer.fleet import HOUR, MINUTE, Fleet, SyncedNode, document

# The first restart is for the good one, then three for the next and three for the roll-back.
WELL, TRIED = 1, 7


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fleet:
    return Fleet(tmp_path, monkeypatch)


def sick(fleet: Fleet, until: int = 10**6) -> SyncedNode:
    """A node whose kubelet takes a minute to fail: from the second restart on, to the one of that number."""

    def restart(number: int) -> str:
        if not WELL < number <= until:
            return "done"
        node.clock.sleep(MINUTE)
        return "failed"

    node = fleet.node(restart)
    fleet.settle(node, "in-sync", fleet.put(document("example-good")))
    return node


def test_its_restarts_get_rarer_whatever_is_new(fleet: Fleet) -> None:
    node = sick(fleet)
    fleet.settle(node, "failed", fleet.put(document("example-new")))
    assert node.kubelet.restarts == TRIED
    for number in range(8 * 6):
        # The same meaning, and a new syncer now and then.
        fleet.put(document("example-new") + b"\n" * (number + 1))
        if number % 16 == 15:
            node.start()
            fleet.put(document("example-new"))
        fleet.run(10 * MINUTE)
    pauses = node.pauses[1:]
    short = [pause for pause in pauses if pause < 150]
    assert min(pauses[:4]) >= 15, pauses[:4]
    assert len(short) <= 4 * 4, "four until they are long, for each syncer that begins"
    assert max(pauses) <= 330, "and it is tried for ever, since kubelet may be mended"
    assert node.password == "example-good"
    assert node.status["by"] == "node"


def test_others_get_the_slot_meanwhile(fleet: Fleet) -> None:
    node = sick(fleet)
    fleet.settle(node, "failed", fleet.put(document("example-new")))
    others = [fleet.node() for _number in range(10)]
    began, version = fleet.now, fleet.put(document("example-new") + b"\n")
    for other in others:
        fleet.settle(other, "in-sync", version, within=HOUR)
    assert fleet.now - began < 20 * MINUTE
    assert [other.kubelet.restarts for other in others] == [1] * 10


def test_it_goes_on_at_once_once_there_is_something_else_to_try(fleet: Fleet) -> None:
    node = sick(fleet)
    fleet.settle(node, "failed", fleet.put(document("example-new")))
    fleet.run(HOUR)
    runs = len(node.runs)
    fleet.run(HOUR, lambda: len(node.runs) > runs and fleet.server.holder == "")
    node.kubelet.on_restart = lambda _number: "done"
    began, version = fleet.now, fleet.put(document("example-better"))
    fleet.settle(node, "in-sync", version)
    assert fleet.now - began < MINUTE
    assert node.password == "example-better"


@pytest.mark.parametrize("content", ["example-good", "example-new"])
def test_kubelet_is_mended(fleet: Fleet, content: str) -> None:
    """What the Secret says then is the file of before, as for a removal, or what could not be tried."""
    node = sick(fleet)
    fleet.settle(node, "failed", fleet.put(document("example-new")))
    version = fleet.put(document(content))
    fleet.run(HOUR)
    node.kubelet.on_restart = lambda _number: "done"
    fleet.run(15 * MINUTE, lambda: node.kubelet.state[0] == "active" and fleet.server.holder == "")
    assert node.kubelet.state[0] == "active"
    assert node.password == "example-good"
    assert node.status["resourceVersion"] == version
    assert node.status["state"] == ("in-sync" if content == "example-good" else "failed")


def test_a_restart_that_went_well_makes_the_next_pause_short_again(fleet: Fleet) -> None:
    node = sick(fleet, until=TRIED + 30)
    fleet.settle(node, "failed", fleet.put(document("example-new")))
    fleet.settle(node, "in-sync", fleet.put(document("example-good")), within=2 * HOUR)
    assert node.pauses[-1] >= 150
    seen = len(node.runs)
    node.kubelet.on_restart = lambda _number: "failed"
    fleet.settle(node, "failed", fleet.put(document("example-newer")))
    fleet.run(HOUR, lambda: len(node.runs) == seen + 2)
    assert 15 <= node.pauses[-1] <= 45
