# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nodes that stay unhealthy for hours whatever the Secret is: few retries, no blocked node, and recovery."""

from __future__ import annotations

import pytest

from tests.node.syncer.unit.fleet import HOUR, MINUTE, Fleet, SyncedNode
from tests.node.syncer.world import document

# The first restart is for the good Secret, then three for the next one and three for the rollback.
WELL, TRIED = 1, 7


def sick(fleet: Fleet, until: int = 10**6) -> SyncedNode:
    """A node whose kubelet fails after a minute: from the second restart to the one with this number."""

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
        # The same meaning, sometimes with a new syncer.
        fleet.put(document("example-new") + b"\n" * (number + 1))
        if number % 16 == 15:
            node.start()
            fleet.put(document("example-new"))
        fleet.run(10 * MINUTE)
    pauses = node.pauses[1:]
    short = [pause for pause in pauses if pause < 150]
    assert min(pauses[:4]) >= 15, pauses[:4]
    assert len(short) <= 4 * 4, "at most four short pauses for each syncer"
    assert max(pauses) <= 330, "it must keep retrying, because kubelet may recover"
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
    fleet.run(HOUR, lambda: len(node.runs) > runs and fleet.cluster.holder() == "")
    node.kubelet.on_restart = lambda _number: "done"
    began, version = fleet.now, fleet.put(document("example-better"))
    fleet.settle(node, "in-sync", version)
    assert fleet.now - began < MINUTE
    assert node.password == "example-better"


@pytest.mark.parametrize("content", ["example-good", "example-new"])
def test_kubelet_is_mended(fleet: Fleet, content: str) -> None:
    """The Secret then is the previous content (as after a removal) or content that could not be tried."""
    node = sick(fleet)
    fleet.settle(node, "failed", fleet.put(document("example-new")))
    version = fleet.put(document(content))
    fleet.run(HOUR)
    node.kubelet.on_restart = lambda _number: "done"
    fleet.run(15 * MINUTE, lambda: node.kubelet.now.active == "active" and fleet.cluster.holder() == "")
    assert node.kubelet.now.active == "active"
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


def unlucky(fleet: Fleet, outcome: str = "dependency") -> SyncedNode:
    """A node whose kubelet comes up with the previous file, but not with the new content."""

    def restart(_number: int) -> str:
        return outcome if node.password == "example-new" else "done"

    node = fleet.node(restart)
    fleet.settle(node, "in-sync", fleet.put(document("example-good")))
    fleet.settle(node, "failed", fleet.put(document("example-new")))
    assert node.password == "example-good"
    return node


def test_what_failed_for_the_nodes_own_reasons_is_tried_again(fleet: Fleet) -> None:
    node = unlucky(fleet)
    assert node.status["by"] == "node"
    assert "tried again" in node.status["message"]
    node.kubelet.on_restart = lambda _number: "done"
    began = fleet.now
    fleet.settle(node, "in-sync", node.status["resourceVersion"])
    assert 150 <= fleet.now - began <= 330
    assert node.password == "example-new"


def test_it_is_tried_less_and_less_often(fleet: Fleet) -> None:
    node = unlucky(fleet)
    for number in range(24):
        # The same meaning and a foreign edit of the file are no reason to try it sooner.
        fleet.put(document("example-new") + b"\n" * (number + 1))
        node.path.touch()
        fleet.run(HOUR)
    # It may be trying right now.
    fleet.run(HOUR, lambda: "by" in node.status and fleet.cluster.holder() == "")
    pauses = node.pauses[1:]
    assert min(pauses) >= 150
    assert 24 <= len(pauses) <= 24 * 2 + 6
    assert min(pauses[5:]) >= 1800
    assert max(pauses) <= 3700
    assert node.kubelet.restarts == 1 + 4 * (len(pauses) + 1), "three attempts and the rollback"
    assert (node.password, node.status["by"], fleet.cluster.holder()) == ("example-good", "node", "")


def test_the_file_cannot_be_written_when_it_is_tried_again(fleet: Fleet) -> None:
    node = unlucky(fleet)
    version = node.status["resourceVersion"]
    node.kubelet.on_restart = lambda _number: "done"
    kept = node.path.rename(node.path.with_name("kept"))
    node.path.mkdir()
    fleet.run(HOUR)
    assert "not written" in node.status["message"]
    node.path.rmdir()
    kept.rename(node.path)
    fleet.settle(node, "in-sync", version)


def test_it_is_tried_no_sooner_for_a_secret_that_was_refused_meanwhile(fleet: Fleet) -> None:
    node = unlucky(fleet)
    fleet.put(b"no JSON")
    fleet.run(HOUR)
    tried = len(node.runs)
    version = fleet.put(document("example-new"))
    fleet.run(2 * MINUTE)
    assert len(node.runs) == tried
    node.kubelet.on_restart = lambda _number: "done"
    fleet.settle(node, "in-sync", version)


def test_it_is_tried_however_often_a_secret_is_refused_meanwhile(fleet: Fleet) -> None:
    node = unlucky(fleet)
    for _number in range(12 * 6):
        fleet.put(b"no JSON")
        fleet.put(document("example-new"))
        fleet.run(10 * MINUTE)
    pauses = node.pauses[1:]
    assert len(pauses) >= 12
    assert min(pauses) >= 150
    assert max(pauses) <= 3700


def test_what_failed_for_what_it_is_stays_held(fleet: Fleet) -> None:
    node = unlucky(fleet, "failed")
    assert "by" not in node.status
    restarts = node.kubelet.restarts
    fleet.run(12 * HOUR)
    fleet.settle(node, "failed", fleet.put(document("example-new") + b"\n"))
    assert "not tried again until it changes" in node.status["message"]
    assert node.kubelet.restarts == restarts


def test_it_is_not_tried_while_others_fail_with_it(fleet: Fleet) -> None:
    node = unlucky(fleet)
    restarts, version = node.kubelet.restarts, node.status["resourceVersion"]
    fleet.cluster.say("node-9", {"resourceVersion": version, "state": "failed", "message": "x"})
    fleet.settle(node, "held", version)
    fleet.run(HOUR)
    assert (node.status["state"], node.kubelet.restarts) == ("held", restarts)


def test_a_changed_secret_is_tried_at_once(fleet: Fleet) -> None:
    node = unlucky(fleet)
    began, version = fleet.now, fleet.put(document("example-newer"))
    fleet.settle(node, "in-sync", version)
    assert fleet.now - began < MINUTE


def test_a_new_syncer_tries_again_soon(fleet: Fleet) -> None:
    node = unlucky(fleet)
    fleet.run(12 * HOUR)
    node.kubelet.on_restart = lambda _number: "done"
    node.start()
    began, version = fleet.now, fleet.put(document("example-new"))
    fleet.settle(node, "in-sync", version)
    assert fleet.now - began <= 330


def test_the_next_syncer_ends_a_try_that_has_begun(fleet: Fleet) -> None:
    node = unlucky(fleet)
    node.kubelet.on_restart = lambda _number: "done"
    fleet.cluster.hold("node-9", seconds=600)
    fleet.settle(node, "pending", node.status["resourceVersion"])
    assert node.password == "example-new"
    node.start()
    fleet.settle(node, "in-sync", fleet.put(document("example-new")), within=20 * MINUTE)


@pytest.mark.parametrize("begins_anew", [False, True])
def test_a_secret_that_is_refused_keeps_no_kubelet_down(fleet: Fleet, begins_anew: bool) -> None:
    """Nothing can be written then, but the previous kubelet must still be started."""
    node = sick(fleet)
    fleet.settle(node, "failed", fleet.put(document("example-new")))
    if begins_anew:
        node.start()
    version = fleet.put(b"no JSON")
    fleet.run(HOUR)
    assert node.kubelet.now.active != "active"
    node.kubelet.on_restart = lambda _number: "done"
    fleet.run(HOUR, lambda: node.kubelet.now.active == "active")
    assert node.kubelet.now.active == "active"
    assert node.password == "example-good"
    fleet.run(MINUTE)
    assert (node.status["state"], node.status["resourceVersion"]) == ("failed", version)


def test_a_restart_that_could_not_be_made_is_made_though_the_next_secret_is_refused(fleet: Fleet) -> None:
    node = fleet.waiting_node()
    before = node.kubelet.restarts
    fleet.put(b"no JSON")
    node.bus_is_away = False
    fleet.run(HOUR)
    assert (node.kubelet.restarts, node.password) == (before + 1, "example-new")


def test_a_bus_that_was_away_makes_no_pause_of_a_sick_kubelet_longer(fleet: Fleet) -> None:
    node = fleet.waiting_node(HOUR)
    node.bus_is_away, tried = False, len(node.runs)
    node.kubelet.on_restart = lambda _number: "failed"
    fleet.run(HOUR, lambda: len(node.runs) > tried + 1)
    assert node.pauses[-1] <= 45


def test_an_error_before_there_is_a_secret_keeps_nothing_busy(fleet: Fleet) -> None:
    node = fleet.node()
    node.fails(MemoryError())
    fleet.run(HOUR)
    assert node.kubelet.restarts == 0


def test_a_unit_that_cannot_be_restarted_is_tried_less_and_less(fleet: Fleet) -> None:
    node = fleet.node()
    fleet.settle(node, "in-sync", fleet.put(document("example-good")))
    node.kubelet.now = node.kubelet.now._replace(load="masked")
    fleet.put(document("example-new"))
    fleet.run(24 * HOUR)
    assert min(node.pauses[8:]) >= 1800


@pytest.mark.parametrize("end", ["done", "failed"])
def test_how_a_restart_ended_is_not_said_of_what_was_written_meanwhile(fleet: Fleet, end: str) -> None:
    """The newer version arrives after the restart's last check and before its result is reported."""
    node = fleet.node(lambda _number: end if node.password == "example-older" else "done")
    fleet.settle(node, "in-sync", fleet.put(document("example-good")))
    fleet.put(document("example-older"))
    runs = len(node.runs)
    fleet.run(HOUR, lambda: len(node.runs) > runs)
    restarts = node.kubelet.restarts
    version = fleet.put(document("example-newer"))
    fleet.settle(node, "in-sync", version)
    assert node.kubelet.restarts == restarts + 1
    states = [state for _node, about, state in fleet.api.said if about == version]
    assert "failed" not in states
    assert states.count("in-sync") == 1
