# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A hosted cluster with real nodes, its management cluster's control plane, and a private registry."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.lab.control_plane.build import build
from tests.lab.control_plane.cluster import ControlPlane, Serving, State
from tests.lab.images import (
    ENVIRONMENT_IMAGE,
    build_execution_environment,
    build_job,
    build_syncer,
    environment_packages,
    pause_archive,
    python_base,
    small_image,
)
from tests.lab.images.programs import COMMANDS as IMAGE_COMMANDS
from tests.lab.nodes import needs
from tests.lab.nodes.api import Api, Object
from tests.lab.nodes.kubelet import PAUSE, Kubelet
from tests.lab.nodes.lab import NodeLab, claim, end, sweep
from tests.lab.nodes.network import Network
from tests.lab.nodes.node import Node
from tests.lab.nodes.rootfs import rootfs
from tests.lab.registry import COMMANDS, Registry
from tests.lab.supervisor import LabError, wait_until
from tests.tools import apt, env

# What a test of the global pull secret makes in kube-system, as ``api/version/plural``.
PULL_SECRET_KINDS = (
    *(f"api/v1/{kind}" for kind in ("secrets", "configmaps", "serviceaccounts")),
    *(f"apis/rbac.authorization.k8s.io/v1/{kind}" for kind in ("rolebindings", "roles")),
    "apis/coordination.k8s.io/v1/leases",
)


@dataclass(frozen=True)
class ClusterLab:
    """``hosted`` and ``management`` are control planes as ``State``; ``api`` asks the hosted one as admin."""

    lab: NodeLab
    network: Network
    hosted: State
    management: State
    registry: Registry
    api: Api
    management_api: Api

    @property
    def nodes(self) -> list[Node]:
        return self.lab.nodes

    def wait_ready(self, seconds: float = 120) -> None:
        """Return when all nodes are Ready; what one told before it was reset does not count."""
        machines = {node.name: node.read("/etc/machine-id").strip() for node in self.nodes}

        def probe() -> bool:
            rows = [row for row in self.api.items("/api/v1/nodes") if _is_ready(row)]
            return machines == {
                row["metadata"]["name"]: row["status"]["nodeInfo"]["machineID"] for row in rows
            }

        wait_until(probe, "all nodes Ready", seconds)

    def ready(self) -> set[str]:
        """The names of the nodes that are Ready."""
        return {row["metadata"]["name"] for row in self.api.items("/api/v1/nodes") if _is_ready(row)}

    def push_small_image(self, name: str) -> str:
        """Push an image that no node has seen yet (``private/app:1``); return what pods call it."""
        file = re.sub(r"[/:]", "-", name)  # skopeo takes what follows a colon for the image's name
        source = small_image(self.registry.directory / f"{file}.tar", name)
        try:
            return self.registry.push(f"docker-archive:{source}", name)
        finally:
            source.unlink()

    def push_syncer(self) -> str:
        """Push the syncer's image, built from this checkout; return what pods call it."""
        return self.registry.push(f"docker-archive:{build_syncer()}", "hyperfleet/syncer:lab")

    def push_job(self) -> str:
        """Push the job's image, built from this checkout; return what pods call it."""
        return self.registry.push(f"docker-archive:{build_job()}", "hyperfleet/pullsecret-job:lab")

    def import_execution_environment(self, node: Node) -> str:
        """Give a node the execution environment with this checkout's collection; return what pods call it.

        The image is too large for the registry: to compress, pull and unpack it takes longer than two jobs.
        """
        archive = node.directory / "containerd" / "image.tar"
        build_execution_environment(archive)
        images = ("ctr", "--namespace=k8s.io", "images")
        node.run([*images, "import", f"/var/lib/containerd/{archive.name}"], check=True)
        archive.unlink()
        node.run([*images, "label", ENVIRONMENT_IMAGE, "io.cri-containerd.image=managed"], check=True)
        return ENVIRONMENT_IMAGE

    def run_pod(self, name: str, image: str, *, node: str | None = None, **spec: Any) -> Object:
        """Create a pod of one container in the namespace default, on this node if one is named."""
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name},
            "spec": {
                "containers": [{"name": "main", "image": image}],
                "terminationGracePeriodSeconds": 0,
                "automountServiceAccountToken": False,
                **({"nodeName": node} if node else {}),
                **spec,
            },
        }
        return self.api.create("/api/v1/namespaces/default/pods", body)

    def waiting_reason(self, pod: str) -> tuple[str, str] | None:
        """Why the pod's container does not run (ErrImagePull and so on) and the message; None if it does."""
        status = self.api.get(f"/api/v1/namespaces/default/pods/{pod}")["status"]
        states = [row["state"].get("waiting") for row in status.get("containerStatuses", [])]
        return (states[0]["reason"], states[0].get("message", "")) if states and states[0] else None

    def tidy(self) -> None:
        """Take back what a test did: its pods, the global pull secret's objects, the nodes' config.json."""
        self.api.delete("/apis/apps/v1/namespaces/kube-system/daemonsets")
        for namespace in ("default", "kube-system"):
            self.api.delete(f"/api/v1/namespaces/{namespace}/pods", gracePeriodSeconds="0")
        for kind in PULL_SECRET_KINDS:
            version, _sep, plural = kind.rpartition("/")
            path = f"/{version}/namespaces/kube-system/{plural}"
            for name in [row["metadata"]["name"] for row in self.api.items(path)]:
                if re.match(r"(global|additional)-pull-secret", name):
                    self.api.delete(f"{path}/{name}")
        for node in self.nodes:
            if not node.is_up() or node.show("kubelet", "ActiveState") != {"ActiveState": "active"}:
                node.reset()
            elif node.run(["sh", "-ec", "ls -d /var/lib/kubelet/config.json*"]).returncode == 0:
                node.run(["sh", "-ec", "rm -rf /var/lib/kubelet/config.json*"], check=True)
                node.run(["systemctl", "restart", "kubelet"], check=True)
        for user in self.registry.users():
            self.registry.set_account(user, None)
        wait_until(lambda: not self.api.items("/api/v1/pods"), "all pods gone")
        self.wait_ready()

    def phase(self, pod: str) -> str:
        return str(self.api.get(f"/api/v1/namespaces/default/pods/{pod}")["status"].get("phase"))


def provide() -> None:
    """Install, download and build all that such a lab needs, once a machine."""
    needs.provide(*COMMANDS)
    build()
    pause_archive(PAUSE)
    rootfs()


def provide_images() -> None:
    """The same for the images that tests build."""
    try:
        apt.provide(IMAGE_COMMANDS)
    except env.ToolError as error:
        raise LabError(str(error)) from None
    python_base()
    environment_packages()


@contextlib.contextmanager
def cluster_lab(count: int = 3) -> Iterator[ClusterLab]:
    """Give a hosted cluster with Ready nodes for the time of a with block."""
    provide()
    sweep()
    lab = claim(owner=os.getpid())
    try:
        yield start(lab, count)
    finally:
        end(lab)


def start(lab: NodeLab, count: int) -> ClusterLab:
    """Start all parts of a cluster in a lab that has been claimed."""
    network = Network(lab.number)
    network.up()
    registry = Registry(lab.directory / "registry", network.host)
    added = lab.add(count)
    with ThreadPoolExecutor() as pool:
        management = pool.submit(_management(lab.directory).up)
        hosted = pool.submit(_hosted(lab.directory, network, added).up)
        registry.up()
        state = hosted.result()
        kubelet = Kubelet(network, state, build() / "kubelet", pause_archive(PAUSE))
        for place, node in enumerate(added, 1):
            kubelet.equip(node, place)
        lab.start()
        home = management.result()
    cluster = ClusterLab(lab, network, state, home, registry, Api(state), Api(home))
    cluster.wait_ready()
    return cluster


def _management(directory: Path) -> ControlPlane:
    return ControlPlane(directory / "management", serving=Serving(name="management"))


def _hosted(directory: Path, network: Network, nodes: list[Node]) -> ControlPlane:
    serving = Serving(
        name="hosted",
        address=network.service,
        port=443,
        service_range=network.service_range,
        nodes=tuple(node.name for node in nodes),
    )
    return ControlPlane(directory / "hosted", serving=serving)


def _is_ready(node: Object) -> bool:
    conditions = node["status"].get("conditions", [])
    return any(row["type"] == "Ready" and row["status"] == "True" for row in conditions)
