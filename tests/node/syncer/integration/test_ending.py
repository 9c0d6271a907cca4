# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The syncer is stopped in each of its phases, and the next one continues there."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.node.syncer.conftest import NewNode
from tests.node.syncer.world import Cluster, NodeUnderTest, blocked, document, eventually


def end(node: NodeUnderTest) -> None:
    """Stop the syncer. ``stop`` waits a minute; what the syncer must not wait for takes ten or more."""
    assert node.stop() == 0


def ends_only_after(node: NodeUnderTest, go_on: threading.Event) -> None:
    """Stop the syncer; it must not end before ``go_on`` is set."""
    with ThreadPoolExecutor(1) as pool:
        ending = pool.submit(end, node)
        eventually(lambda: node.is_stopping, "it was asked to end")
        assert not ending.done()
        go_on.set()
        ending.result()


@pytest.mark.nightly
def test_while_nothing_is_to_be_done(new_node: NewNode, cluster: Cluster) -> None:
    node = new_node().start()
    cluster.wait("in-sync", cluster.put(document()))
    end(node)


@pytest.mark.nightly
def test_while_it_waits_for_a_slot(new_node: NewNode, cluster: Cluster) -> None:
    cluster.hold("node-9", seconds=600)
    node = new_node().start()
    version = cluster.put(document())
    cluster.wait("pending", version)
    end(node)
    assert node.kubelet.restarts == 0
    cluster.hold("", seconds=1)
    node.start()
    cluster.wait("in-sync", version)
    assert node.kubelet.restarts == 1, "the pending restart must follow"


def test_while_kubelet_is_watched(new_node: NewNode, cluster: Cluster) -> None:
    node = new_node(SYNCER_HEALTH_WINDOW="3000").start()
    version = cluster.put(document())
    eventually(lambda: node.kubelet.restarts, "kubelet is restarted")
    eventually(lambda: cluster.status().get("state") == "pending", "and being watched")
    end(node)
    assert cluster.holder() == "node-1", "kubelet's health is unknown, so no other node may restart"
    assert cluster.status()["state"] == "pending"
    node.environ["SYNCER_HEALTH_WINDOW"] = "1"
    node.start()
    cluster.wait("in-sync", version)
    assert node.kubelet.restarts == 1, "kubelet had already started with the file"
    eventually(lambda: cluster.holder() == "", "the slot is given back")


@pytest.mark.nightly
def test_while_systemd_is_at_work(new_node: NewNode, cluster: Cluster) -> None:
    """The syncer waits for systemd's job, whose result says whether kubelet was restarted. It does not wait
    for kubelet.
    """
    node = new_node(SYNCER_HEALTH_WINDOW="3000")
    go_on = blocked(node)
    node.start()
    version = cluster.put(document())
    eventually(lambda: node.kubelet.restarts, "kubelet is being restarted")
    ends_only_after(node, go_on)
    assert (cluster.holder(), cluster.status()["state"]) == ("node-1", "pending")
    node.environ["SYNCER_HEALTH_WINDOW"] = "1"
    node.start()
    cluster.wait("in-sync", version)
    assert node.kubelet.restarts == 1, "kubelet had already started with the file"
    eventually(lambda: cluster.holder() == "", "the slot is given back")


def test_while_it_rolls_back(new_node: NewNode, cluster: Cluster) -> None:
    """The rollback is completed whatever is requested meanwhile."""
    go_on, rolling_back = threading.Event(), threading.Event()

    def fails(number: int) -> str:
        if number == 1:
            return "done"
        if number < 5:
            return "failed"
        rolling_back.set()
        assert go_on.wait(60)
        return "done"

    node = new_node()
    node.kubelet.on_restart = fails
    node.start()
    cluster.wait("in-sync", cluster.put(document("example-good")))
    before = node.path.read_bytes()
    bad = cluster.put(document("example-bad"))
    assert rolling_back.wait(60)
    ends_only_after(node, go_on)
    assert node.path.read_bytes() == before
    assert node.kubelet.now.is_up
    assert "rolled back" in cluster.wait("failed", bad)
    assert cluster.holder() == ""


@pytest.mark.nightly
def test_while_the_api_server_is_silent(new_node: NewNode, cluster: Cluster) -> None:
    node = new_node().start()
    cluster.wait("in-sync", cluster.put(document()))
    # Otherwise the test would wait for the call that releases the slot.
    eventually(lambda: node.is_at_rest, "nothing is under way any more")
    cluster.lab.faults.add(delay=600, times=None)
    end(node)


def test_a_syncer_that_starts_where_all_is_well_does_nothing(new_node: NewNode, cluster: Cluster) -> None:
    node = new_node().start()
    version = cluster.put(document())
    cluster.wait("in-sync", version)
    node.stop()
    before = node.path.stat().st_mtime_ns
    cluster.say("node-1", None)
    node.start()
    cluster.wait("in-sync", version)
    assert node.kubelet.restarts == 1
    assert node.path.stat().st_mtime_ns == before
