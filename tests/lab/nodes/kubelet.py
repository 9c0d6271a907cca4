# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes a node one of a cluster: containerd, the real kubelet, and what both need to run inside of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.lab.control_plane.cluster import State
from tests.lab.nodes.network import Network
from tests.lab.nodes.node import Node
from tests.lab.registry import REGISTRY
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig

PAUSE = "lab.test/pause:1"

# kubeadm's unit: a crash is seen as activating/auto-restart for ten seconds.
UNIT = """[Unit]
Description=kubelet: The Kubernetes Node Agent
After=containerd.service lab-node.service
Wants=containerd.service

[Service]
ExecStart=/usr/local/bin/kubelet --config=/etc/kubernetes/kubelet.json \
--kubeconfig=/etc/kubernetes/kubeconfig --container-runtime-endpoint=unix:///run/containerd/containerd.sock
Restart=always
StartLimitInterval=0
RestartSec=10

[Install]
WantedBy=multi-user.target
"""

# What nspawn mounts read-only, and the kubelet's containers write to. The image is there before the kubelet.
PREPARATION = f"""[Unit]
Description=the lab's preparation of this node
After=containerd.service
Requires=containerd.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -ec 'for group in blkio cpuacct memory cpu devices cpuset freezer pids; do \
test ! -d /sys/fs/cgroup/$group || mount -o remount,bind,rw /sys/fs/cgroup/$group; done'
ExecStart=/usr/bin/ctr --namespace=k8s.io images import --no-unpack /opt/pause.tar
ExecStart=/usr/bin/ctr --namespace=k8s.io images label {PAUSE} io.cri-containerd.image=managed

[Install]
WantedBy=multi-user.target
"""

CONTAINERD = f"""version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE}"
  restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "overlayfs"
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "/usr/lib/cni"
[plugins."io.containerd.grpc.v1.cri".registry.mirrors."{REGISTRY}"]
  endpoint = ["http://{REGISTRY}"]
"""

KUBELET: dict[str, Any] = {
    "apiVersion": "kubelet.config.k8s.io/v1beta1",
    "kind": "KubeletConfiguration",
    # Only the lab's bridge leads here.
    "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
    "authorization": {"mode": "AlwaysAllow"},
    "cgroupDriver": "cgroupfs",
    "failCgroupV1": False,
    "failSwapOn": False,
    "localStorageCapacityIsolation": False,
    "enforceNodeAllocatable": [],
    "evictionHard": {},
    "makeIPTablesUtilChains": False,
    "oomScoreAdj": 0,
    "resolvConf": "",
    "registerWithTaints": [],
    # Tests wait for pods and for nodes to be seen.
    "syncFrequency": "5s",
    "nodeStatusUpdateFrequency": "2s",
    "nodeLeaseDurationSeconds": 10,
    "registryPullQPS": 0,
    "serializeImagePulls": False,
}


@dataclass(frozen=True)
class Kubelet:
    """What all nodes of a cluster share. ``equip`` makes a node one of them."""

    network: Network
    state: State
    program: Path
    pause: Path

    def equip(self, node: Node, place: int) -> None:
        """Let the node boot as number ``place`` of the cluster, now and after each reset."""

        def prepare(node: Node) -> None:
            path = self.network.add(place)
            storage = node.directory / "containerd"  # an overlay cannot lie on the node's own
            storage.mkdir()
            node.nspawn_arguments = [
                *(f"--network-namespace-path={path}", "--capability=all"),
                *("--system-call-filter=@keyring", "--system-call-filter=bpf", "--bind=/dev/kmsg"),
                f"--bind={storage}:/var/lib/containerd",
                f"--bind-ro={self.program}:/usr/local/bin/kubelet",
                f"--bind-ro={self.pause}:/opt/pause.tar",
            ]
            self._write(node, place)

        node.prepare = prepare
        node.nspawn_environment = {"SYSTEMD_NSPAWN_API_VFS_WRITABLE": "yes"}

    def _write(self, node: Node, place: int) -> None:
        """Nothing on the tree but Debian's own files yet: no link leads out of it."""
        _put(node.root / "usr/local/bin/kubelet", "")
        _put(node.root / "opt/pause.tar", "")
        _put(node.root / "etc/containerd/config.toml", CONTAINERD)
        hosts = {
            "127.0.0.1": "localhost",
            self.network.host: REGISTRY.partition(":")[0],
            self.network.address(place): node.name,  # a kubelet asks for its own, and would ask in vain
        }
        _put(node.root / "etc/hosts", "".join(f"{address} {name}\n" for address, name in hosts.items()))
        _put(node.root / "etc/resolv.conf", "")
        _put(node.root / "etc/cni/net.d/10-lab.conflist", json.dumps(_cni(self.network.pods(place))))
        _put(node.root / "etc/kubernetes/kubelet.json", json.dumps(KUBELET, indent=2))
        cluster = Cluster(node.name, self.state.url, self.state.node_tokens[node.name], self.state.ca)
        write_kubeconfig(node.root / "etc/kubernetes/kubeconfig", [cluster])
        units = node.root / "etc/systemd/system"
        _put(units / "lab-node.service", PREPARATION)
        _put(units / "kubelet.service", UNIT)
        wants = units / "multi-user.target.wants"
        wants.mkdir(exist_ok=True)
        for name in ("lab-node.service", "kubelet.service"):
            (wants / name).symlink_to(f"/etc/systemd/system/{name}")


def _cni(pods: str) -> dict[str, Any]:
    """Pods on a bridge of their node, which routes: the other side knows the way back."""
    bridge = {
        "type": "bridge",
        "bridge": "cni0",
        "isGateway": True,
        "ipam": {"type": "host-local", "ranges": [[{"subnet": pods}]], "routes": [{"dst": "0.0.0.0/0"}]},
    }
    return {"cniVersion": "1.0.0", "name": "lab", "plugins": [bridge]}


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
