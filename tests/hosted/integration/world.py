# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A management cluster with one hosted control plane, and the hosted cluster, for tests."""

from __future__ import annotations

import base64
import json
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import hosted_cluster_pull_secret
from tests.stand_ins.kubeconfig import kubeconfig_of
from tests.stand_ins.kubernetes.hypershift import hosted_control_plane, serve_hosted_control_planes
from tests.support.docker_configs import KEY, TYPE, docker_config, encoded, held
from tests.support.kubernetes.running import run_task
from tests.support.kubernetes.world import Api, path

ADDITIONAL, GLOBAL = "additional-pull-secret", "global-pull-secret"
SYNCER, STATUS = "global-pull-secret-syncer", "global-pull-secret-status"
IMAGE = "registry.example.com/hyperfleet/syncer:1"
# Kind -> name of what a deployed syncer consists of, besides its Leases.
OURS = {
    "serviceaccounts": SYNCER,
    "roles": SYNCER,
    "rolebindings": SYNCER,
    "configmaps": STATUS,
    "secrets": GLOBAL,
    "daemonsets": SYNCER,
}


class World:
    """Two API servers; on a real one both are the same, and ``select`` names the nodes of this world."""

    def __init__(self, management: Api, hosted: Api) -> None:
        self.management, self.hosted = management, hosted
        self.id = management.new_name("cls")
        self.control_plane = management.namespace()
        self.namespace = hosted.namespace()
        self.select = {"world": self.id}
        self.nodes: list[str] = []
        serve_hosted_control_planes(management.request)
        self.kubeconfig = kubeconfig_of(hosted.cluster("hosted"))
        self.put_kubeconfig(self.kubeconfig)
        self.plane = path(self.control_plane, "hostedcontrolplanes", self.id)
        management.create(self.control_plane, "hostedcontrolplanes", hosted_control_plane(self.id))
        self.original(docker_config(cloud_openshift_com="cloud", quay_io="original"))

    def close(self) -> None:
        for node in self.nodes:
            self.hosted.request("DELETE", f"/api/v1/nodes/{node}")
        self.hosted.request("DELETE", f"/api/v1/namespaces/{self.namespace}")
        self.management.request("DELETE", self.plane)
        self.management.request("DELETE", f"/api/v1/namespaces/{self.control_plane}")

    def put_kubeconfig(self, document: Any) -> None:
        text = document if isinstance(document, str) else json.dumps(document)
        self.management.put_secret(self.control_plane, "admin-kubeconfig", {"kubeconfig": encoded(text)})

    def original(self, document: Any) -> None:
        """Write the original pull secret."""
        self.management.put_secret(self.control_plane, "pull-secret", {KEY: _encoded(document)}, TYPE)

    def additional(self, document: Any) -> None:
        """Write the tenant's; None deletes it."""
        if document is None:
            self.hosted.delete(self.namespace, "secrets", ADDITIONAL)
        else:
            self.hosted.put_secret(self.namespace, ADDITIONAL, {KEY: _encoded(document)})

    def options(self, **more: Any) -> dict[str, Any]:
        """The options of this cluster's target."""
        return {
            "cluster_id": self.id,
            "control_plane_namespace": self.control_plane,
            "hosted_namespace": self.namespace,
            "syncer_image": IMAGE,
            "syncer_node_selector": self.select,
            **more,
        }

    def connection(self) -> dict[str, Any]:
        return {"kubernetes": {"host": self.management.url, "api_key": self.management.token}}

    def run(self, *, check_mode: bool = False, diff: bool = False, **more: Any) -> dict[str, Any]:
        """Run the task for this cluster; its target's result."""
        params = {**self.connection(), **self.options(**more)}
        result = run_task(hosted_cluster_pull_secret, params, check_mode=check_mode, diff=diff)
        target: dict[str, Any] = result["targets"][0]
        if "diff" in result:
            target["diff"] = result["diff"][0]
        return target

    def get(self, kind: str, name: str) -> Any:
        return self.hosted.get(self.namespace, kind, name)

    def merge(self, kind: str, name: str, patch: Any) -> Any:
        return self.hosted.merge(self.namespace, kind, name, patch)

    def delete(self, kind: str, name: str) -> None:
        self.hosted.delete(self.namespace, kind, name)

    def there(self) -> set[str]:
        """Which of ours are there, by kind."""
        found = {kind for kind, name in OURS.items() if self.get(kind, name) is not None}
        return found | ({"leases"} if self.leases() else set())

    def leases(self) -> list[str]:
        return self.hosted.names(self.namespace, "leases")

    def held(self) -> dict[str, str]:
        """Registry -> password of what the global secret holds."""
        auths = held(self.get("secrets", GLOBAL))["auths"]
        return {
            name: base64.b64decode(entry["auth"]).decode().rpartition("-")[2] for name, entry in auths.items()
        }

    def add_nodes(self, count: int, **fields: Any) -> list[str]:
        """Nodes that a syncer would run on."""
        made = [self.hosted.new_name("node") for dummy in range(count)]
        for name in made:
            self.hosted.post("/api/v1/nodes", {"metadata": {"name": name, "labels": self.select}, **fields})
        self.nodes += made
        return made

    def report(
        self, node: str, state: str = "in-sync", message: str = "", version: str | None = None
    ) -> None:
        """What the node's syncer would write."""
        version = version or self.get("secrets", GLOBAL)["metadata"]["resourceVersion"]
        entry = {"resourceVersion": version, "state": state, "message": message}
        self.merge("configmaps", STATUS, {"data": {node: json.dumps(entry)}})

    def writes(self) -> list[str]:
        return [*self.management.writes(), *self.hosted.writes()]

    def reset(self) -> None:
        """No faults and no counts."""
        self.management.reset()
        self.hosted.reset()


def _encoded(document: Any) -> str:
    return encoded(document if isinstance(document, str) else json.dumps(document))
