# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The number of nodes whose kubelet may be down at the same time."""

from __future__ import annotations

import threading

import pytest

from tests.node.syncer.conftest import NewNode
from tests.node.syncer.world import Cluster, NodeUnderTest, blocked, document, eventually
from tests.support.nightly import some

NODES, LOOKS = 5, 10


class Down:
    """Counts the kubelets that are down: now, and the maximum."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.now = self.most = self.begun = 0
        self._lock = threading.Lock()

    def watch(self, node: NodeUnderTest) -> None:
        before = node.kubelet.on_restart

        def counted(number: int) -> str | None:
            with self._lock:
                self.now += 1
                self.begun += 1
                self.most = max(self.most, self.now)
            calls = self.cluster.lab.calls
            looks = calls.count("*", "*/leases*") + LOOKS
            eventually(
                lambda: self.begun == NODES or calls.count("*", "*/leases*") >= looks,
                "others look for a slot several times",
            )
            result = before(number)
            with self._lock:
                self.now -= 1
            return result

        node.kubelet.on_restart = counted


@pytest.mark.parametrize("slots", some([1, 2], 2))
def test_never_more_than_the_budget(new_node: NewNode, cluster: Cluster, slots: int) -> None:
    if slots == 2:
        cluster.add_slot()
    down = Down(cluster)
    nodes = [new_node(f"node-{number}") for number in range(NODES)]
    for node in nodes:
        down.watch(node)
        node.start()
    version = cluster.put(document())
    for node in nodes:
        # Writing does not wait for a slot: all nodes have the file before the first two restarts have
        # finished.
        eventually(node.auths, "the file is written")
    for node in nodes:
        cluster.wait("in-sync", version, node.name)
    assert [node.kubelet.restarts for node in nodes] == [1] * NODES
    assert down.most == slots
    eventually(lambda: not any(cluster.holder(number) for number in range(slots)), "all slots are given back")


@pytest.mark.nightly
def test_a_bad_secret_takes_down_at_most_the_budget(new_node: NewNode, cluster: Cluster) -> None:
    """The bad secret breaks every kubelet. One node tries it; the others hold it, and all keep working."""
    nodes = [new_node(f"node-{number}") for number in range(4)]
    for node in nodes:
        # The first restart is for the good secret, three are for the bad one, and the last is the rollback's.
        node.kubelet.on_restart = lambda number: "failed" if 2 <= number <= 4 else "done"
        node.start()
    good = cluster.put(document("example-good"))
    for node in nodes:
        cluster.wait("in-sync", good, node.name)
    bad = cluster.put(document("example-bad"))

    def settled() -> bool:
        states = [cluster.status(node.name) for node in nodes]
        return all(s["resourceVersion"] == bad and s["state"] in ("failed", "held") for s in states)

    eventually(settled, "one has failed, the others hold")
    failed = [node for node in nodes if cluster.status(node.name)["state"] == "failed"]
    held = [node for node in nodes if cluster.status(node.name)["state"] == "held"]
    assert (len(failed), len(held)) == (1, 3)
    assert failed[0].kubelet.restarts == 5
    assert [node.kubelet.restarts for node in held] == [1, 1, 1]
    assert all(failed[0].name in cluster.status(node.name)["message"] for node in held)
    better = cluster.put(document("example-better"))
    for node in held:
        node.kubelet.on_restart = lambda _number: "done"
    for node in nodes:
        cluster.wait("in-sync", better, node.name)


def test_held_until_the_other_is_well(new_node: NewNode, cluster: Cluster) -> None:
    version = cluster.put(document())
    cluster.say("node-9", {"resourceVersion": version, "state": "failed", "message": "x"})
    node = new_node().start()
    assert "node-9" in cluster.wait("held", version)
    assert "quay.io" in node.auths(), "kubelet reads the file later"
    assert node.kubelet.restarts == 0
    assert cluster.holder() == "", "a held node keeps no slot"
    cluster.say("node-9", None)
    cluster.wait("in-sync", version)
    assert node.kubelet.restarts == 1


@pytest.mark.parametrize(
    "other",
    [
        {"state": "failed", "by": "node"},
        {"state": "pending"},
        {"state": "failed", "resourceVersion": "1"},
    ],
)
@pytest.mark.nightly
def test_these_nodes_are_not_held(new_node: NewNode, cluster: Cluster, other: dict[str, str]) -> None:
    version = cluster.put(document())
    cluster.say("node-9", {"resourceVersion": version, "message": "x", **other})
    new_node().start()
    cluster.wait("in-sync", version)


def test_a_dead_holder_loses_its_slot(new_node: NewNode, cluster: Cluster) -> None:
    cluster.hold("node-9", seconds=1)
    node = new_node().start()
    version = cluster.put(document())
    assert "other nodes are restarting" in cluster.wait("pending", version)
    cluster.wait("in-sync", version)
    assert node.kubelet.restarts == 1


@pytest.mark.nightly
def test_the_slot_is_renewed_while_kubelet_is_being_restarted(new_node: NewNode, cluster: Cluster) -> None:
    node = new_node(SYNCER_LEASE_SECONDS="2")
    go_on = blocked(node)
    node.start()
    version = cluster.put(document())
    first = eventually(lambda: cluster.holder() and cluster.renewed(), "the slot is taken")
    eventually(lambda: cluster.renewed() != first, "it is renewed")
    assert cluster.holder() == "node-1"
    go_on.set()
    cluster.wait("in-sync", version)


@pytest.mark.parametrize("code", [429, 503])
@pytest.mark.nightly
def test_a_slot_that_the_server_does_not_take_back(new_node: NewNode, cluster: Cluster, code: int) -> None:
    node = new_node(SYNCER_LEASE_SECONDS="12")
    go_on = blocked(node)
    node.start()
    version = cluster.put(document())
    eventually(cluster.holder, "the slot is taken")
    cluster.lab.faults.add(verb="update", path="*/leases/*", status=code, times=2)
    go_on.set()
    cluster.wait("in-sync", version)
    eventually(lambda: cluster.holder() == "", "it is given back")
    eventually(lambda: node.is_at_rest, "and then it rests")
