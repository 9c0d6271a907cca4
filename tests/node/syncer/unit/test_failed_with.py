# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The field ``failedWith`` of a node's status, and which nodes hold a version because of it."""

from __future__ import annotations

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.watch import SecretState
from tests.node.syncer.unit.fleet import (
    HOUR,
    MINUTE,
    Fleet,
    SyncedNode,
    full,
    full_at_the_end,
    picky,
)
from tests.node.syncer.world import document

GOOD, BAD, FINE = document("example-good"), document("example-bad"), document("example-fine")


def failed(fleet: Fleet) -> SyncedNode:
    (node,) = [node for node in fleet.nodes if node.status["state"] == "failed"]
    return node


@pytest.mark.parametrize("between", ["same", "replaced"])
def test_what_the_ledger_says_has_failed_is_said_of_later_versions(fleet: Fleet, between: str) -> None:
    """Either a later version with the same meaning, or the same version and a new syncer."""
    fleet.held_nodes()
    node, version = failed(fleet), "2"
    if between == "same":
        version = fleet.put(BAD + b"\n")
    else:
        node.start()
        node.deliver(SecretState(version, BAD))
    fleet.run(MINUTE)
    fleet.put(b"no JSON")
    fleet.run(MINUTE)
    assert node.status["failedWith"] == version


def test_what_was_never_judged_is_not_what_failed(fleet: Fleet) -> None:
    """A later version is written while the previous one is tried. The same run then tries and judges the
    later one.
    """
    node = fleet.node()
    fleet.settle(node, "in-sync", fleet.put(GOOD))
    later = SecretState("3", BAD)

    def restart(number: int) -> str:
        if node.password == "example-fine":
            node.deliver(later)
        return picky(node)(number)

    node.kubelet.on_restart = restart
    fleet.put(FINE)
    fleet.settle(node, "failed", later.resource_version)
    fleet.put(b"no JSON")
    node.deliver(SecretState("4", b"no JSON"))
    fleet.run(MINUTE)
    assert node.status["failedWith"] == later.resource_version


def test_trouble_of_the_failed_node_releases_no_node(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = fleet.held_nodes()
    node, before = failed(fleet), [node.kubelet.restarts for node in nodes]
    full(monkeypatch, node)
    fleet.run(2 * HOUR)
    assert node.status["by"] == "node"
    assert [node.kubelet.restarts for node in nodes] == before


def test_a_held_node_that_cannot_write_the_next_version_stays_held(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failed node is in sync with its rolled-back version and clears ``failedWith``."""
    node = fleet.held_nodes()[0]
    other, before = failed(fleet), node.kubelet.restarts
    with monkeypatch.context() as meanwhile:
        full(meanwhile, node)
        version = fleet.put(GOOD)
        fleet.run(2 * HOUR)
        assert other.status["state"] == "in-sync"
        assert (node.kubelet.restarts, node.password) == (before, "example-bad")
    fleet.settle(node, "in-sync", version, within=HOUR)


@pytest.mark.parametrize("content", [b"no JSON", None])
def test_a_held_node_stays_held_when_the_failed_node_has_a_new_syncer(
    fleet: Fleet, content: bytes | None
) -> None:
    nodes = fleet.held_nodes()
    node, before = failed(fleet), [node.kubelet.restarts for node in nodes]
    secret = SecretState("3", content) if content is not None else None
    for one in fleet.nodes:
        one.deliver(secret)
    fleet.run(MINUTE)
    node.start()
    node.deliver(secret)
    fleet.run(6 * HOUR)
    assert "failedWith" not in node.status
    assert [node.kubelet.restarts for node in nodes] == before
    for one in fleet.nodes:
        one.deliver(SecretState("4", FINE))
    for one in fleet.nodes:
        fleet.settle(one, "in-sync", "4", within=HOUR)


def test_a_restart_with_something_else_is_no_reason_not_to_be_held(fleet: Fleet) -> None:
    """The syncer is replaced while it watches a healthy kubelet. The new content has failed on another node."""
    first, second = fleet.node(), fleet.node()
    version = fleet.put(GOOD)
    for node in (first, second):
        fleet.settle(node, "in-sync", version, within=HOUR)

    def stop(_number: int) -> str:
        second._loop._stopping = True
        return "done"

    second.kubelet.on_restart = stop
    second.deliver(SecretState("2", FINE))
    fleet.run(MINUTE, lambda: second.kubelet.restarts == 2)
    fleet.nodes.remove(second)
    fleet.run(2 * MINUTE)
    first.kubelet.on_restart, second.kubelet.on_restart = picky(first), picky(second)
    first.deliver(SecretState("3", BAD))
    fleet.settle(first, "failed", "3", within=HOUR)
    fleet.nodes.append(second)
    second.start()
    second.deliver(SecretState("3", BAD))
    fleet.run(HOUR)
    assert (second.status["state"], second.kubelet.restarts) == ("held", 2)


def test_a_version_that_is_not_in_the_file_has_not_failed(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was noted, but the file could not be replaced. Kubelet does not come up with the previous file."""
    node = fleet.node()
    node.kubelet.on_restart = picky(node)
    fleet.settle(node, "in-sync", fleet.put(GOOD))
    node.bus_is_away = True
    fleet.put(BAD)
    fleet.run(20)

    with monkeypatch.context() as meanwhile:
        full_at_the_end(meanwhile)
        fleet.put(FINE)
        fleet.run(MINUTE)
    node.bus_is_away = False
    fleet.put(b"no JSON")
    fleet.run(HOUR)
    assert (node.password, node.status["failedWith"]) == ("example-good", "2")
    fleet.settle(node, "in-sync", fleet.put(FINE))
