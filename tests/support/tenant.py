# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A hosted cluster of real nodes with its HostedControlPlane, as its owner and its tenant see it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import hosted_cluster_pull_secret
from tests.lab.nodes.cluster import ClusterLab
from tests.lab.nodes.node import Node
from tests.lab.supervisor import LabError, wait_until
from tests.stand_ins.kubeconfig import Cluster, kubeconfig_of
from tests.stand_ins.kubernetes.hypershift import hosted_control_plane, serve_hosted_control_planes
from tests.support.docker_configs import KEY, TYPE, docker_config, encoded
from tests.support.kubernetes.running import run_task
from tests.support.kubernetes.world import Admin, path
from tests.support.rulebook import prepare

CLUSTER, PLANE = "cls-1", "clusters-cls-1"
CONFIG = "/var/lib/kubelet/config.json"
_SECRETS = "/api/v1/namespaces/kube-system/secrets"
_KINDS = ("daemonsets", "secrets", "configmaps", "serviceaccounts", "roles", "rolebindings", "leases")
_PLATFORM = ("platform", "example-platform-password")


def document(**auths: str) -> str:
    """A docker config; registries with underscores for dots, and passwords."""
    return json.dumps(docker_config(**auths))


def forms_of(word: str) -> list[str]:
    """A tenant's password as it stands in documents: each of its lines, or somewhere in an ``auth``."""
    return [*word.splitlines(), *(encoded(f"tenant:{word}"[cut:])[4:-4] for cut in range(3))]


class Tenant:
    """What the two of them do, and what they see."""

    def __init__(self, cluster: ClusterLab, directory: Path) -> None:
        self.cluster = cluster
        self.management, self.hosted = Admin(cluster.management), Admin(cluster.hosted)
        self.directory = directory
        self.images = 0
        self.file = directory / "clusters.json"
        self._stand_up()

    def _stand_up(self) -> None:
        """The platform's part, which HyperShift does: the plane, the original, the kubeconfig, the image."""
        lab = self.cluster
        serve_hosted_control_planes(self.management.request)
        if self.management.request("GET", f"/api/v1/namespaces/{PLANE}")[0] == 404:
            self.management.namespace(PLANE)
        kubeconfig = kubeconfig_of(Cluster("hosted", lab.hosted.url, lab.hosted.token, lab.hosted.ca))
        data = {"kubeconfig": encoded(json.dumps(kubeconfig))}
        self.management.put_secret(PLANE, "admin-kubeconfig", data)
        self.original(document(cloud_openshift_com="cloud", quay_io="original"))
        plane = path(PLANE, "hostedcontrolplanes", CLUSTER)
        lab.management_api.apply(plane, hosted_control_plane(CLUSTER))
        lab.registry.set_account(*_PLATFORM)
        pull = {KEY: encoded(lab.registry.docker_config(*_PLATFORM))}
        self.hosted.put_secret("kube-system", "global-pull-secret-syncer-image", pull, TYPE)
        self.entry = {
            "cluster_id": CLUSTER,
            "control_plane_namespace": PLANE,
            "management_kubeconfig": lab.management.kubeconfig,
            "syncer_image": lab.push_syncer(),
            "syncer_image_pull_secrets": ["global-pull-secret-syncer-image"],
            # No kubelet crashes here, so a short watch of each node is enough.
            "health_window": 2,
        }
        self.file.write_text(json.dumps({"clusters": [self.entry]}))

    def original(self, text: str) -> None:
        """The owner writes, or rotates, the original pull secret."""
        self.management.put_secret(PLANE, "pull-secret", {KEY: encoded(text)}, TYPE)

    def additional(self, password: str | None) -> None:
        """The tenant writes, or rotates, its own; None deletes it."""
        if password is None:
            self.cluster.api.delete(f"{_SECRETS}/additional-pull-secret")
            return
        self.cluster.registry.set_account("tenant", password)
        text = self.cluster.registry.docker_config("tenant", password)
        self.hosted.put_secret("kube-system", "additional-pull-secret", {KEY: encoded(text)}, TYPE)

    def pod(self, *, node: str | None = None) -> str:
        """A pod of a private image that no node has seen; its name."""
        self.images += 1
        name = f"app-{self.images}"
        self.cluster.run_pod(name, self.cluster.push_small_image(f"private/{name}:1"), node=node)
        return name

    def is_refused(self, pod: str) -> bool:
        """Whether the registry answered 401 to the pod's node."""
        reason = self.cluster.waiting_reason(pod)
        return reason is not None and "401" in reason[1]

    def runs(self, pod: str) -> bool:
        return self.cluster.phase(pod) == "Running"

    def until(self, probe: Any, what: str, seconds: float = 120) -> float:
        """Wait for it; the seconds that it took."""
        begun = time.monotonic()
        try:
            wait_until(probe, what, seconds)
        except LabError as error:
            error.add_note(self.scene())
            raise
        return time.monotonic() - begun

    def scene(self) -> str:
        """The syncers' state and logs, for the message of a failed test."""
        pods = self.cluster.api.items("/api/v1/namespaces/kube-system/pods")
        lines = self.objects()
        for pod in pods:
            name = pod["metadata"]["name"]
            lines.append(f"{name}: {json.dumps(pod['status'].get('containerStatuses'))}")
            with suppress(LabError):
                lines.append(self.cluster.api.log("kube-system", name)[-2000:])
        return "\n".join(lines)

    def on_node(self, node: Node) -> Any:
        """The node's config.json, None where there is none."""
        done = node.run(["cat", CONFIG])
        return json.loads(done.stdout) if done.returncode == 0 else None

    def begins_with(self, node: Node, text: str) -> None:
        """The node's config.json before any of ours."""
        (node.root / CONFIG.lstrip("/")).write_text(text)

    def traces(self, word: str) -> list[str]:
        """Files of any node's /var/lib/kubelet, pods' mounts apart, that have this password in them."""
        patterns = [part for form in forms_of(word) for part in ("-e", form)]
        found = []
        for node in self.cluster.nodes:
            files = node.run(["find", "/var/lib/kubelet", "-xdev", "-type", "f", "-print0"]).stdout
            assert CONFIG in files
            names = [name for name in files.split("\0") if name]
            # Of pods that are ending some files are gone by now, and nothing else may be wrong.
            done = node.run(["grep", "-lF", *patterns, *names])
            errors = [line for line in done.stderr.splitlines() if "No such file" not in line]
            assert done.returncode in (0, 1) or (done.stderr and not errors), errors
            found += [f"{node.name}:{name}" for name in done.stdout.splitlines()]
        return found

    def everywhere(self, text: str) -> bool:
        """Whether each node has all entries of this docker config."""
        wanted = json.loads(text)["auths"]
        held = [(self.on_node(node) or {}).get("auths", {}) for node in self.cluster.nodes]
        return all({key: auths.get(key) for key in wanted} == wanted for auths in held)

    def run(self, **options: Any) -> dict[str, Any]:
        """What the playbook does for this cluster; its target's result."""
        result = run_task(hosted_cluster_pull_secret, {**self.entry, **options})
        target: dict[str, Any] = result["targets"][0]
        if target.get("failed"):
            raise LabError(str(target["msg"]))
        return target

    def reported(self, version: str) -> bool:
        """Whether each node reports that it has this version of the global secret."""
        status = self.cluster.api.find("/api/v1/namespaces/kube-system/configmaps/global-pull-secret-status")
        said = {name: json.loads(text) for name, text in ((status or {}).get("data") or {}).items()}
        reports = [said.get(node.name, {}) for node in self.cluster.nodes]
        return all((one.get("state"), one.get("resourceVersion")) == ("in-sync", version) for one in reports)

    def objects(self) -> list[str]:
        """What there is of the global pull secret in the hosted cluster."""
        return sorted(
            f"{kind}/{name}"
            for kind in _KINDS
            for name in self.hosted.names("kube-system", kind)
            if name.startswith("global-pull-secret") and not name.endswith("-image")
        )


@contextmanager
def rulebook(directory: Path, clusters: Path) -> Iterator[Path]:
    """ansible-rulebook with the collection's rulebook, as a user starts it; its output's file."""
    started = prepare(directory, "hosted_cluster", print_events=True, hosted_clusters_file=str(clusters))
    with started.running() as running:
        yield started.output
        assert running.process.poll() is None, "it has to go on for ever"
