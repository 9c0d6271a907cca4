# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A syncer for a real node: its systemd over D-Bus, its directory as the node sees it, its healthz."""

from __future__ import annotations

import ctypes
import os
import socket
from pathlib import Path

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.systemd.manager import (
    open_systemd,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.node import Node
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.settings import (
    SyncerSettings,
)
from tests.lab.nodes import Node as LabNode
from tests.node.fake_systemd import QuickClock
from tests.node.syncer.world import Cluster, NodeUnderTest
from tests.stand_ins.tcp_server import Server

_NEW_NET = 0x40000000


class Healthz(Server):
    """The node's healthz at a port of this machine: a pod of the DaemonSet is in the node's network."""

    def __init__(self, node: LabNode) -> None:
        self._node = node
        super().__init__(self._forward)
        self.url += "/healthz"

    def _forward(self, near: socket.socket) -> None:
        with open(f"/proc/{self._node.leader}/ns/net", "rb") as network:
            # Of this connection's thread only.
            if ctypes.CDLL(None, use_errno=True).setns(network.fileno(), _NEW_NET):
                raise OSError(ctypes.get_errno(), "setns")
        with socket.create_connection(("127.0.0.1", 10248), timeout=1) as far:
            far.sendall(near.recv(4096))
            near.sendall(far.recv(4096))


class RealNode(NodeUnderTest):
    """The syncer runs in a thread of this process, and ten times as fast; its systemd does not."""

    def __init__(self, cluster: Cluster, node: LabNode, directory: Path, **environ: str) -> None:
        # Three seconds: longer than a kubelet that crashes after two.
        environ = {"SYNCER_HEALTH_WINDOW": "30", "SYNCER_RECHECK": "0.3", **environ}
        super().__init__(cluster, directory, "node-1", **environ)
        # With what is mounted there.
        self.directory = Path(f"/proc/{node.leader}/root/var/lib/kubelet")
        self.path = self.directory / "config.json"
        self.healthz = Healthz(node)
        self.environ["SYNCER_HEALTHZ"] = self.healthz.url
        os.environ["DBUS_SYSTEM_BUS_ADDRESS"] = f"unix:path={node.bus_dir}/system_bus_socket"

    def _node(self, settings: SyncerSettings) -> Node:
        # A pod's limits are for real kubelets.
        clock = QuickClock(speed=10)
        return Node(settings, lambda: open_systemd("dbus", clock), clock)

    def close(self) -> None:
        self.stop()
        self.healthz.close()
        del os.environ["DBUS_SYSTEM_BUS_ADDRESS"]
