# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether other nodes failed with the Secret while the API server does not answer that."""

from __future__ import annotations

from typing import Any

import pytest

from tests.node.syncer.unit.fleet import HOUR, MINUTE, Fleet
from tests.node.syncer.world import document


def unanswered(fleet: Fleet, fault: dict[str, Any]) -> None:
    fleet.cluster.lab.faults.add(method="GET", path="*/configmaps/*", times=None, **fault)


def others_failed(fleet: Fleet, version: str, state: str = "failed") -> None:
    fleet.cluster.say("node-9", {"resourceVersion": version, "state": state, "message": "x"})


FAULTS: list[dict[str, Any]] = [{"status": 503}, {"status": 404}, {"drop": True}]


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_held_node_stays_held_until_it_can_read_the_status(fleet: Fleet, fault: dict[str, Any]) -> None:
    node = fleet.node()
    others_failed(fleet, "1")
    fleet.settle(node, "held", fleet.put(document("example-bad")))
    unanswered(fleet, fault)
    fleet.run(12 * HOUR)
    # Neither another version with the same content nor a foreign edit of the file changes that.
    fleet.put(document("example-bad") + b"\n")
    fleet.run(HOUR)
    node.path.write_bytes(b'{"auths": {}}')
    fleet.run(HOUR)
    assert node.password == "example-bad"
    assert node.kubelet.restarts == 0
    assert fleet.cluster.holder() == ""
    others_failed(fleet, "2", "in-sync")
    fleet.cluster.lab.faults.clear()
    fleet.settle(node, "in-sync", "2")


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_node_that_cannot_read_the_status_waits_a_little(fleet: Fleet, fault: dict[str, Any]) -> None:
    node = fleet.node()
    unanswered(fleet, fault)
    began, version = fleet.now, fleet.put(document("example-good"))
    fleet.settle(node, "pending", version)
    assert "state of the other nodes" in node.status["message"]
    fleet.run(20)
    assert (node.kubelet.restarts, fleet.cluster.holder()) == (0, ""), "it must leave the slot to others"
    fleet.settle(node, "in-sync", version)
    assert node.runs[0][0] - began < 1.5 * MINUTE


def test_a_node_that_reads_the_status_while_it_waits_is_held(fleet: Fleet) -> None:
    node = fleet.node()
    unanswered(fleet, FAULTS[0])
    version = fleet.put(document("example-bad"))
    fleet.run(20)
    others_failed(fleet, version)
    fleet.cluster.lab.faults.clear()
    fleet.settle(node, "held", version)
    assert node.kubelet.restarts == 0
