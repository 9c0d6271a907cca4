# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Unexpected errors anywhere are reported without their text, and the syncer continues."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.leases import (
    RestartSlots,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.node import Node
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.status import NodeStatus
from tests.node.syncer.conftest import NewNode
from tests.node.syncer.world import Cluster, document, eventually
from tests.support.nightly import some

TEXT = "example-password"


class Broken:
    """Replaces a function by one that raises an error, until it is restored."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self._is_broken = True
        self._patch = monkeypatch

    def put(self, owner: Any, name: str, error: type[Exception]) -> None:
        real = getattr(owner, name)

        def called(*args: Any, **kwargs: Any) -> Any:
            if self._is_broken:
                self.count += 1
                raise error(TEXT)
            return real(*args, **kwargs)

        self._patch.setattr(owner, name, called)

    def mend(self) -> None:
        self._is_broken = False


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Broken:
    return Broken(monkeypatch)


@pytest.mark.parametrize(
    ("owner", "name", "states", "error"),
    some(
        [
            (Node, "write", {"failed"}, MemoryError),
            (Node, "write", {"failed"}, RecursionError),
            (Node, "write", {"failed"}, UnicodeError),
            (Node, "stamp", {"failed"}, KeyError),
            (Node, "restart", {"pending"}, MemoryError),
            (RestartSlots, "take", {"failed", "pending"}, KeyError),
            (NodeStatus, "failed_elsewhere", {"failed", "pending"}, TypeError),
        ],
        (RestartSlots, "take", {"failed", "pending"}, KeyError),
    ),
)
def test_it_is_said_and_outlived(
    cluster: Cluster,
    new_node: NewNode,
    broken: Broken,
    owner: Any,
    name: str,
    states: set[str],
    error: type[Exception],
) -> None:
    broken.put(owner, name, error)
    node = new_node().start()
    version = cluster.put(document())
    eventually(
        lambda: broken.count >= 2 and error.__name__ in cluster.status().get("message", ""), "it is said"
    )
    status = cluster.status()
    assert status["state"] in states
    assert status["by"] == "node"
    broken.mend()
    cluster.wait("in-sync", version)
    assert node.kubelet.restarts == 1
    eventually(lambda: cluster.holder() == "", "the slot is given back")
    assert node.stop() == 0
    assert TEXT not in json.dumps(node.log) + json.dumps(cluster.statuses())
    assert any(error.__name__ in str(line.get("why")) for line in node.log)


@pytest.mark.nightly
def test_what_cannot_be_said_is_said_later(cluster: Cluster, new_node: NewNode, broken: Broken) -> None:
    broken.put(NodeStatus, "flush", MemoryError)
    node = new_node().start()
    version = cluster.put(document())
    eventually(lambda: node.kubelet.restarts and broken.count >= 3, "it goes on meanwhile")
    broken.mend()
    cluster.wait("in-sync", version)
    assert node.kubelet.restarts == 1


@pytest.mark.nightly
def test_a_node_without_room_for_a_thread(
    cluster: Cluster, new_node: NewNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, full = threading.Thread.start, True

    def started(thread: threading.Thread) -> None:
        if full and thread.name == "restart":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", started)
    node = new_node().start()
    version = cluster.put(document())
    eventually(lambda: "RuntimeError" in cluster.status().get("message", ""), "it is said")
    assert cluster.wait("pending", version)
    assert node.kubelet.restarts == 0
    full = False
    cluster.wait("in-sync", version)
    assert node.kubelet.restarts == 1


@pytest.mark.nightly
def test_what_goes_wrong_again_and_again_is_no_busy_loop(
    cluster: Cluster, new_node: NewNode, broken: Broken
) -> None:
    broken.put(NodeStatus, "flush", KeyError)
    node = new_node().start()
    cluster.put(document())
    eventually(lambda: node.logged("unexpected"), "it is said")
    waits = [line["again_in"] for line in node.logged("unexpected")]
    assert min(waits) >= 0.5, "the first wait; each further one is twice as long"
    assert len(waits) <= 3
    broken.mend()
