# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A host of guest clusters for tests: namespaces, Clusters, and the source of the pull secret."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.guest_cluster import CLUSTER_NAME
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import guest_cluster_pull_secret
from tests.stand_ins.kubeconfig import Cluster, kubeconfig_of
from tests.support.docker_configs import KEY, TYPE, docker_config, encoded, held
from tests.support.kubernetes.running import run_task
from tests.support.kubernetes.world import Api

SETS, BINDINGS = "clusterresourcesets", "clusterresourcesetbindings"
NAME = "crs-pull-secret"


class World:
    """Its namespaces have a label of their own, by which the task selects them."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.label = api.new_name("guests")
        self.namespaces: list[str] = []
        self.source = api.namespace()
        self.put_source(docker_config(registry_example_com="one"))

    def close(self) -> None:
        for name in [*self.namespaces, self.source]:
            self.api.request("DELETE", f"/api/v1/namespaces/{name}")

    def put_source(self, document: dict[str, Any]) -> None:
        self.api.put_secret(self.source, "source-pull-secret", {KEY: encoded(json.dumps(document))}, TYPE)

    def namespace(self, *, labelled: bool = True) -> str:
        """A namespace of the host."""
        name = self.api.namespace()
        self.namespaces.append(name)
        self.select(name, selected=labelled)
        return name

    def select(self, namespace: str, *, selected: bool) -> None:
        labels = {"delivery": self.label if selected else None}
        self.api.request("PATCH", f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": labels}})

    def guest(self, namespace: str | None = None, name: str | None = None, **cluster: Any) -> tuple[str, str]:
        """A Cluster that the ClusterResourceSet can select; its namespace and its name."""
        namespace = namespace or self.namespace()
        name = name or self.api.new_name("guest")
        labels = cluster.pop("labels", {CLUSTER_NAME: name})
        finalizers = cluster.pop("finalizers", [])
        body = {
            "apiVersion": "cluster.x-k8s.io/v1beta2",
            "kind": "Cluster",
            "metadata": {"name": name, "labels": labels, "finalizers": finalizers},
            "spec": {"controlPlaneEndpoint": {"host": "127.0.0.1", "port": 6443}},
            **cluster,
        }
        self.api.create(namespace, "clusters", body)
        return namespace, name

    def reach(self, namespace: str, name: str, guest: Api) -> tuple[str, str]:
        """Give a Cluster the kubeconfig of an API server, as Cluster API does; its namespace and its name."""
        kubeconfig = json.dumps(kubeconfig_of(Cluster("guest", guest.url, guest.token)))
        self.api.put_secret(namespace, f"{name}-kubeconfig", {"value": encoded(kubeconfig)})
        return namespace, name

    def run(self, *, check_mode: bool = False, diff: bool = False, **more: Any) -> dict[str, Any]:
        """Run the task for this world's guests."""
        return run_task(guest_cluster_pull_secret, self.params(**more), check_mode=check_mode, diff=diff)

    def params(self, **more: Any) -> dict[str, Any]:
        """The task's parameters; None leaves one out."""
        params = {
            "kubernetes": {"host": self.api.url, "api_key": self.api.token},
            "source": {"kubernetes": {"namespace": self.source, "name": "source-pull-secret"}},
            "namespace_selector": f"delivery={self.label}",
            # On a server that other tests share, the record must be this world's own.
            "set_name": self.set_name,
            **more,
        }
        return {name: value for name, value in params.items() if value is not None}

    @property
    def set_name(self) -> str:
        return f"{NAME}-{self.label}"

    def manifests(self, namespace: str, name: str | None = None) -> list[dict[str, Any]]:
        """What the ClusterResourceSet's Secret would create in the guest."""
        secret = self.api.secret(namespace, name or self.set_name)
        text = base64.b64decode(secret["data"]["manifests.yaml"]).decode()
        return [json.loads(part) for part in text.split("---\n") if part]

    def delivered(self, namespace: str, name: str | None = None) -> Any:
        """The docker config that the guest gets."""
        return held(self.manifests(namespace, name)[0])

    def apply(self, namespace: str, cluster: str, name: str | None = None) -> None:
        """Note that Cluster API has applied the Secret, as its controller does."""
        secret = self.api.secret(namespace, name or self.set_name)
        digest = hashlib.sha256(base64.b64decode(secret["data"]["manifests.yaml"])).hexdigest()
        resource = {
            "kind": "Secret",
            "name": name or self.set_name,
            "applied": True,
            "hash": f"sha256:{digest}",
        }
        spec = {
            "clusterName": cluster,
            "bindings": [{"clusterResourceSetName": name or self.set_name, "resources": [resource]}],
        }
        self.api.create(namespace, BINDINGS, {"metadata": {"name": cluster}, "spec": spec})


def rows(result: dict[str, Any]) -> dict[str, str]:
    """Guest -> its state; a failed one's is ``failed``."""
    return {row["id"]: "failed" if row.get("failed") else row["state"] for row in result["targets"]}
