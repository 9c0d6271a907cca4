# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lab's hosted cluster: nodes join, pods run, and the private registry requires a login."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab.mounts import mounts_below
from tests.lab.nodes import cgroups
from tests.lab.nodes.api import Api, ApiError
from tests.lab.nodes.cluster import ClusterLab
from tests.lab.nodes.lab import NodeLab
from tests.lab.nodes.network import Network
from tests.lab.nodes.node import Node
from tests.lab.supervisor import LabError, listing, start_time, wait_until

pytestmark = pytest.mark.real("nodes", "go")

ROOT = Path(__file__).resolve().parents[3]
CONFIG_JSON = "/var/lib/kubelet/config.json"


def refused(cluster: ClusterLab, pod: str) -> str:
    """Wait until kubelet reports that it cannot pull the image; return its message."""

    def probe() -> str | None:
        reason, message = cluster.waiting_reason(pod) or ("", "")
        return message if reason == "ErrImagePull" else None

    return wait_until(probe, f"{pod}: ErrImagePull")


def running(cluster: ClusterLab, pod: str) -> None:
    wait_until(lambda: cluster.phase(pod) == "Running", f"{pod} running")


def machine_id(cluster: ClusterLab, node: Node) -> str:
    """The machine id that kubelet reports; a new one at each first boot."""
    return str(cluster.api.get(f"/api/v1/nodes/{node.name}")["status"]["nodeInfo"]["machineID"])


def write_config(cluster: ClusterLab, node: Node, password: str) -> None:
    node.write(CONFIG_JSON, cluster.registry.docker_config("tenant", password), 0o600)
    node.run(["systemctl", "restart", "kubelet"], check=True)


def test_nodes_join_and_are_apart(cluster: ClusterLab) -> None:
    assert cluster.ready() == {"node-1", "node-2", "node-3"}
    assert Api(cluster.management).items("/api/v1/nodes") == []
    assert cluster.hosted.url != cluster.management.url
    with pytest.raises(ApiError, match=r"^401"):
        Api(cluster.management, cluster.hosted.token).get("/api/v1/nodes")


def test_a_private_image_runs_once_config_json_lets_it(cluster: ClusterLab) -> None:
    image = cluster.push_small_image("private/app:1")
    cluster.registry.set_account("tenant", "example-password")
    cluster.run_pod("app", image, node="node-2")
    assert "401 Unauthorized" in refused(cluster, "app")
    write_config(cluster, cluster.nodes[1], "example-password")
    running(cluster, "app")


def test_a_rotated_password_shuts_the_old_one_out(cluster: ClusterLab) -> None:
    cluster.registry.set_account("tenant", "example-password")
    assert cluster.registry.answer("tenant", "example-password") == 200
    cluster.registry.set_account("tenant", "example-password-rotated")
    assert cluster.registry.answer("tenant", "example-password") == 401
    assert cluster.registry.answer("tenant", "example-password-rotated") == 200
    write_config(cluster, cluster.nodes[0], "example-password")
    cluster.run_pod("late", cluster.push_small_image("private/app:2"), node="node-1")
    assert "401 Unauthorized" in refused(cluster, "late")


def test_the_scheduler_and_the_controllers_work(cluster: ClusterLab) -> None:
    cluster.registry.set_account("tenant", "example-password")
    for node in cluster.nodes:
        write_config(cluster, node, "example-password")
    labels = {"app": "everywhere"}
    image = cluster.push_small_image("private/app:3")
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": image}]}}
    cluster.api.create(
        "/apis/apps/v1/namespaces/kube-system/daemonsets",
        {"metadata": {"name": "everywhere"}, "spec": {"selector": {"matchLabels": labels}, "template": pod}},
    )
    path = "/apis/apps/v1/namespaces/kube-system/daemonsets/everywhere"
    wait_until(lambda: cluster.api.get(path)["status"].get("numberReady") == 3, "a ready pod on each node")


def test_pods_reach_the_api_at_its_service_address(cluster: ClusterLab) -> None:
    """The request comes from the pod's own network namespace."""
    cluster.registry.set_account("tenant", "example-password")
    write_config(cluster, cluster.nodes[0], "example-password")
    cluster.run_pod("caller", cluster.push_small_image("private/app:4"), node="node-1")
    running(cluster, "caller")
    script = (
        "import socket, sys; "
        "s = socket.create_connection((sys.argv[1], 443), 5); "
        "print(s.getsockname()[0], s.getpeername()[0])"
    )
    pid = cluster.nodes[0].run(["pgrep", "-x", "pause"], check=True).stdout.split()[-1]
    command = ["nsenter", f"--target={pid}", "--net", "python3", "-c", script, cluster.network.service]
    mine, peer = cluster.nodes[0].run(command, check=True).stdout.split()
    pod = cluster.api.get("/api/v1/namespaces/default/pods/caller")
    assert (mine, peer) == (pod["status"]["podIP"], cluster.network.service)
    service = cluster.api.get("/api/v1/namespaces/default/services/kubernetes")
    assert service["spec"]["clusterIP"] == cluster.network.service


def test_a_node_that_was_reset_joins_again(cluster: ClusterLab) -> None:
    node = cluster.nodes[2]
    node.write(CONFIG_JSON, "{}")
    before = machine_id(cluster, node)
    node.reset()
    cluster.wait_ready()
    assert machine_id(cluster, node) not in (before, "")
    assert node.show("kubelet", "ActiveState") == {"ActiveState": "active"}
    with pytest.raises(LabError, match="No such file"):
        node.read(CONFIG_JSON)


CRASHING = """
import time
from tests.lab.nodes.cluster import cluster_lab
with cluster_lab(1) as world:
    print(world.lab.number, flush=True)
    time.sleep(600)
"""


@pytest.mark.nightly
def test_what_a_killed_process_left_is_ended() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", CRASHING], stdout=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ}
    )
    assert process.stdout is not None
    lab = NodeLab(int(process.stdout.readline()))
    records = [*listing(lab.directory, "*.pid"), *listing(lab.directory, "*/*.pid")]
    assert {"etcd", "kube-apiserver", "kube-scheduler", "registry", "nspawn"} <= {
        path.stem for path in records
    }
    processes = cgroups.pids(lab.group)
    servers = {int(path.read_text().split('"pid": ')[1].split(",")[0]) for path in records}
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    ended = subprocess.run(
        [sys.executable, "-m", "tests.lab.nodes", "down"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    network = Network(lab.number)
    assert not lab.directory.exists()
    assert not mounts_below(lab.directory)
    assert not network.namespaces()
    assert not network.has_bridge()
    assert not [root for root in cgroups.hierarchies() if (root / lab.group).exists()]
    assert not [pid for pid in processes | servers if start_time(pid)]
