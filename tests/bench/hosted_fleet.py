# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosted clusters for measurements: namespaces of one API server, which is also the management cluster."""

from __future__ import annotations

import base64
import http.client
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.bench.fleet import Fleet, docker_config
from tests.bench.lab import BenchLab, connect
from tests.stand_ins.kubernetes.hypershift import BASE

THREADS = 8
_IMAGE = "registry.example.com/hyperfleet/syncer:1"
_ADDITIONAL = {"auths": {"registry.tenant.example.com": {"auth": "dGVuYW50OmV4YW1wbGUtcGFzc3dvcmQ="}}}


class Client:
    """The API server as its admin, with one connection per thread."""

    def __init__(self, lab: BenchLab) -> None:
        self._cluster = lab.cluster
        self._local = threading.local()

    def call(self, method: str, path: str, body: Any = None, content: str = "application/json") -> Any:
        connection: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = connect(self._cluster)
        headers = {"Authorization": f"Bearer {self._cluster.token}", "Content-Type": content}
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        data = answer.read()
        # The API server answers in plain text for a kind that it does not serve yet.
        is_json = "json" in (answer.getheader("Content-Type") or "")
        return answer.status, json.loads(data) if data and is_json else None

    def make(self, path: str, body: Any) -> None:
        status, answer = self.call("POST", path, body)
        if status not in (201, 409):
            raise RuntimeError(f"{path}: HTTP {status} {answer}")

    def kubeconfig(self) -> str:
        """Return a hosted cluster's kubeconfig, as its control plane stores it."""
        cluster: dict[str, Any] = {"server": self._cluster.url}
        if self._cluster.ca is not None:
            cluster["certificate-authority-data"] = base64.b64encode(self._cluster.ca).decode()
        return json.dumps(
            {
                "current-context": "hosted",
                "clusters": [{"name": "hosted", "cluster": cluster}],
                "users": [{"name": "admin", "user": {"token": self._cluster.token}}],
                "contexts": [{"name": "hosted", "context": {"cluster": "hosted", "user": "admin"}}],
            }
        )


class HostedFleet(Fleet):
    """Hosted clusters of one kind, named by ``prefix``.

    :param additional: whether they have an additional secret.
    """

    def __init__(self, directory: Path, client: Client, size: int, prefix: str, *, additional: bool) -> None:
        super().__init__(directory, size, prefix=prefix)
        self._client = client
        self._additional = additional

    @property
    def variables(self) -> Path:
        return self.directory / f"{self._prefix}.json"

    def write(self) -> None:
        """Create the clusters, and write the list."""
        clusters = [
            {
                "cluster_id": self.identity(index),
                "control_plane_namespace": self.namespace(index),
                "hosted_namespace": f"hosted-{self.identity(index)}",
            }
            for index in range(self.size)
        ]
        self.variables.write_text(json.dumps({"clusters": clusters, "syncer_image": _IMAGE}))
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(self._make, range(self.size)))

    def change_originals(self, count: int) -> int:
        """Change the original of about ``count`` clusters that are spread over the fleet; return their number."""
        indices = range(0, self.size, max(1, self.size // count))
        for index in indices:
            data = {".dockerconfigjson": _encoded(docker_config(index, "second"))}
            path = f"/api/v1/namespaces/{self.namespace(index)}/secrets/pull-secret"
            self._client.call("PATCH", path, {"data": data}, "application/merge-patch+json")
        return len(indices)

    def _make(self, index: int) -> None:
        name = self.identity(index)
        plane = self.namespace(index)
        for namespace in (plane, f"hosted-{name}"):
            self._client.make("/api/v1/namespaces", {"metadata": {"name": namespace}})
        self._secret(plane, "pull-secret", ".dockerconfigjson", docker_config(index, "first"))
        self._secret(plane, "admin-kubeconfig", "kubeconfig", self._client.kubeconfig())
        if self._additional:
            self._secret(
                f"hosted-{name}", "additional-pull-secret", ".dockerconfigjson", json.dumps(_ADDITIONAL)
            )
        body = {
            "apiVersion": "hypershift.openshift.io/v1beta1",
            "kind": "HostedControlPlane",
            "metadata": {"name": name},
            "spec": {"pullSecret": {"name": "pull-secret"}},
            "status": {"kubeConfig": {"name": "admin-kubeconfig", "key": "kubeconfig"}},
        }
        self._client.make(f"{BASE}/namespaces/{plane}/hostedcontrolplanes", body)

    def _secret(self, namespace: str, name: str, key: str, value: str) -> None:
        body = {"metadata": {"name": name}, "type": "Opaque", "data": {key: _encoded(value)}}
        self._client.make(f"/api/v1/namespaces/{namespace}/secrets", body)


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
