# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Changes that arrive faster than a node or its API server handles them: only the newest counts."""

from __future__ import annotations

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.watch import SecretState
from tests.node.syncer.unit.fleet import Fleet
from tests.node.syncer.world import document


def secrets(*passwords: str, start: int = 1) -> list[SecretState]:
    return [SecretState(str(start + number), document(text)) for number, text in enumerate(passwords)]


def test_what_is_passed_over_is_neither_written_nor_said(fleet: Fleet) -> None:
    """Otherwise the status would be late by as many writes as there were changes."""
    node = fleet.node()
    fleet.settle(node, "in-sync", fleet.put(document("example-good")))
    fleet.api.said.clear()
    node.deliver(*secrets(*["example-good"] * 20, start=2))
    assert fleet.api.said == [("node-1", "21", "in-sync")]
    assert node.kubelet.restarts == 1
    node.deliver(*secrets("example-one", "example-two", start=22))
    fleet.settle(node, "in-sync", "23")
    assert (node.password, node.kubelet.restarts) == ("example-two", 2)
    assert "22" not in {version for _node, version, _state in fleet.api.said}


def test_what_was_there_last_stays_when_the_secret_goes(fleet: Fleet) -> None:
    """The last Secret before the deletion is what the nodes keep."""
    node = fleet.node()
    fleet.settle(node, "in-sync", fleet.put(document("example-good")))
    node.deliver(None, *secrets("example-new", "example-original", start=2), None, None)
    fleet.settle(node, "in-sync", "3")
    assert node.password == "example-original"


def test_a_recreated_secret_counts(fleet: Fleet) -> None:
    node = fleet.node()
    node.deliver(None, *secrets("example-one"), None, *secrets("example-two", start=2))
    fleet.settle(node, "in-sync", "2")
    assert node.password == "example-two"
