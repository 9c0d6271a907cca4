# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The adapter's surroundings: RabbitMQ, an API server, and stand-ins for the rest, each in its own process.

The API server is a real one without controllers, so Jobs have no pods. ``finish`` writes the end of a Job, as the
controllers and kubelet would.
"""

from __future__ import annotations

import base64
import http.client
import json
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import aio_pika

from tests.bench.lab import connect, start_stand_in
from tests.lab.control_plane.cluster import ControlPlane
from tests.lab.rabbitmq import RabbitMQ, rabbitmq
from tests.lab.supervisor import Supervisor
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.support.adapter_events.source import cloud_event

NAMESPACE = "hyperfleet-system"
PROJECT = "customer-prod-12345"
ADAPTERS = ("validation", "dns", "placement")
TOPIC, SUBSCRIPTION = "hyperfleet-clusters", "pullsecret"
_THREADS = 8
_MOMENT = "2026-08-20T12:00:00Z"
_DOCUMENT = {
    f"{host}.example.com": {"auth": "cm9ib3Q6ZXhhbXBsZS1wYXNzd29yZA=="}
    for host in ("quay", "registry", "cloud", "mirror")
}
_MESSAGE = json.dumps({"result": "success", "version": "1", "changed": True, "versions_created": 1})


class AdapterLab:
    """A context manager. ``real`` selects a real API server instead of the stand-in."""

    def __init__(self, directory: Path, *, real: bool = True) -> None:
        self._directory = directory
        self._real = real
        self._supervisor = Supervisor(directory / "processes")
        self._stack = ExitStack()
        self._local = threading.local()
        self.hyperfleet = self.secret_manager = self.kubeconfig = ""
        self.cluster = Cluster("", "", "")
        self.broker: RabbitMQ

    def __enter__(self) -> AdapterLab:
        with ExitStack() as stack:
            stack.callback(self._end)
            self.hyperfleet = start_stand_in(self._supervisor, "hyperfleet")["url"]
            self.secret_manager = start_stand_in(self._supervisor, "secret_manager")["grpc"]
            self.cluster = self._api_server(stack)
            self.kubeconfig = str(write_kubeconfig(self._directory / "kubeconfig", [self.cluster]))
            self.broker = stack.enter_context(rabbitmq())
            self.kubernetes("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
            if self._real:
                # The controller that would create it does not run.
                account = {"metadata": {"name": "default"}}
                self.kubernetes("POST", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", account)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._stack.close()

    def _api_server(self, stack: ExitStack) -> Cluster:
        if not self._real:
            found = start_stand_in(self._supervisor, "kubernetes")
            return Cluster("mgmt-1", found["url"], found["token"])
        plane = ControlPlane(self._directory / "control-plane")
        stack.callback(plane.down)
        state = plane.up()
        # It would create pods that no node runs.
        plane.supervisor.stop("kube-controller-manager")
        return Cluster("mgmt-1", state.url, state.token, state.ca)

    def _end(self) -> None:
        for name in self._supervisor.names():
            self._supervisor.stop(name)

    # -- the world ----------------------------------------------------------------------------

    def config(self, path: Path, *, port: int, execution: str) -> Path:
        """Write the AdapterConfig, with the adapter contract's preconditions and a real adapter's defaults."""
        spec = {
            "adapterType": "pullsecret",
            "hyperfleetAPI": {"url": self.hyperfleet, "timeout": "30s"},
            "broker": {
                "type": "rabbitmq",
                "urlFile": str(self._directory / "broker"),
                "topic": TOPIC,
                "subscription": SUBSCRIPTION,
            },
            "jobTemplate": {"image": "registry.example.com/pullsecret-job:1"},
            "execution": execution,
            "kubernetes": {"kubeconfig": self.kubeconfig},
            "gcp": {"endpoint": f"http://{self.secret_manager}"},
            "metrics": {"port": port, "address": "127.0.0.1"},
        }
        (self._directory / "broker").write_text(self.broker.url)
        document = {
            "apiVersion": "hyperfleet.redhat.com/v1alpha1",
            "kind": "AdapterConfig",
            "metadata": {"name": "pullsecret-adapter", "namespace": NAMESPACE},
            "spec": spec,
        }
        path.write_text(json.dumps(document))
        return path

    def clusters(self, prefix: str, count: int, *, ready: bool = True) -> list[str]:
        """Create clusters in the API; ``ready`` ones have the statuses of the adapters that they depend on."""
        data = {"data": json.dumps({"auths": _DOCUMENT})}
        spec = {"provider": "gcp", "gcp": {"projectId": PROJECT}, "pullSecret": data}
        found = [{"id": f"{prefix}-{number:06d}", "spec": spec} for number in range(count)]
        names = [str(one["id"]) for one in found]
        self.api("POST", "/_lab/seed", found)
        if ready:
            self._each(self._depend, names)
        return names

    def namespaces(self, clusters: Iterable[str]) -> None:
        """Create the namespaces in which placement puts the clusters' Secrets."""
        path = "/api/v1/namespaces"
        self._each(lambda name: self.kubernetes("POST", path, {"metadata": {"name": _place(name)}}), clusters)

    def finish(self) -> int:
        """Let each unfinished Job succeed, with a pod that reports success; return the number of these Jobs."""
        listed = self.kubernetes("GET", f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs")["items"]
        left = [job for job in listed if not (job.get("status") or {}).get("conditions")]
        self._each(self._finish, left)
        return len(left)

    async def publish(self, clusters: Sequence[str]) -> None:
        """Publish events as the sentinel does: no content type, an empty routing key."""
        connection = await aio_pika.connect(self.broker.url)
        async with connection:
            channel = await connection.channel(publisher_confirms=False)
            exchange = await channel.get_exchange(TOPIC, ensure=False)
            for one in clusters:
                await exchange.publish(aio_pika.Message(cloud_event(one), delivery_mode=2), routing_key="")

    def reports(self) -> int:
        """Return the number of statuses that were reported since ``forget``."""
        return int(self.api("GET", "/_lab/reports")["count"])

    def forget(self) -> None:
        """Forget the recorded calls; return the number of calls to the API."""
        self.api("DELETE", "/_lab/calls")

    def statuses(self, cluster: str) -> dict[str, Any]:
        """Return the adapter's last report on a cluster."""
        items = self.api("GET", f"/api/hyperfleet/v1/clusters/{cluster}/statuses?size=100")["items"]
        return next(dict(item) for item in items if item["adapter"] == "pullsecret")

    # -- requests -----------------------------------------------------------------------------

    def api(self, method: str, path: str, body: Any = None) -> Any:
        return self._ask("api", Cluster("", self.hyperfleet, ""), method, path, body)

    def kubernetes(self, method: str, path: str, body: Any = None) -> Any:
        return self._ask("kubernetes", self.cluster, method, path, body)

    def _ask(self, name: str, server: Cluster, method: str, path: str, body: Any) -> Any:
        connection: http.client.HTTPConnection | None = getattr(self._local, name, None)
        if connection is None:
            connection = connect(server)
            setattr(self._local, name, connection)
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        headers = {"Authorization": f"Bearer {server.token}", "Content-Type": kind}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        data = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: HTTP {answer.status} {data[:300]!r}")
        return json.loads(data) if data else None

    @staticmethod
    def _each(work: Callable[[Any], Any], targets: Iterable[Any]) -> None:
        with ThreadPoolExecutor(_THREADS) as pool:
            list(pool.map(work, targets))

    def _depend(self, name: str) -> None:
        """Report that the other adapters have finished."""
        conditions = [
            {"type": kind, "status": "True", "reason": "R", "message": "m"}
            for kind in ("Available", "Applied", "Health")
        ]
        for adapter in ADAPTERS:
            data = (
                {"namespace": _place(name), "managementCluster": "mgmt-1"} if adapter == "placement" else {}
            )
            body = {"adapter": adapter, "observed_generation": 1, "conditions": conditions, "data": data}
            self.api("PUT", f"/api/hyperfleet/v1/clusters/{name}/statuses", body)

    def _finish(self, job: dict[str, Any]) -> None:
        meta, template = job["metadata"], job["spec"]["template"]
        self._store(meta["labels"]["cluster-id"])
        pods = f"/api/v1/namespaces/{NAMESPACE}/pods"
        owner = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "name": meta["name"],
            "uid": meta["uid"],
            "controller": True,
        }
        # The API server has neither the Job's service account nor its token volume.
        spec = {key: value for key, value in template["spec"].items() if key != "serviceAccountName"}
        pod = {
            "metadata": {
                "name": f"{meta['name']}-x",
                "labels": {**template["metadata"]["labels"], "job-name": meta["name"]},
                "ownerReferences": [owner],
            },
            "spec": {**spec, "serviceAccountName": "default", "automountServiceAccountToken": False},
        }
        self.kubernetes("POST", pods, pod)
        ended = {"exitCode": 0, "reason": "Completed", "message": _MESSAGE, "startedAt": _MOMENT}
        container = {
            "name": template["spec"]["containers"][0]["name"],
            "image": "i",
            "imageID": "i",
            "ready": False,
            "restartCount": 0,
            "state": {"terminated": {**ended, "finishedAt": _MOMENT}},
        }
        status: dict[str, Any] = {"phase": "Succeeded", "containerStatuses": [container]}
        self.kubernetes("PATCH", f"{pods}/{pod['metadata']['name']}/status", {"status": status})
        conditions = [
            {"type": kind, "status": "True", "reason": "CompletionsReached", "lastTransitionTime": _MOMENT}
            for kind in ("SuccessCriteriaMet", "Complete")
        ]
        started = meta["creationTimestamp"]
        status = {"startTime": started, "completionTime": started, "succeeded": 1, "conditions": conditions}
        path = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/{meta['name']}/status"
        self.kubernetes("PATCH", path, {"status": {**status, "uncountedTerminatedPods": {}}})

    def _store(self, name: str) -> None:
        """Create the Secret that the Job's program would create, because the adapter checks it."""
        self.kubernetes("POST", "/api/v1/namespaces", {"metadata": {"name": _place(name)}})
        labels = {"managed-by": "hyperfleet", "adapter": "pullsecret", "cluster-id": name}
        data = base64.b64encode(json.dumps({"auths": _DOCUMENT}).encode()).decode()
        body = {
            "metadata": {"name": f"{name}-pull-secret", "labels": labels},
            "type": "kubernetes.io/dockerconfigjson",
            "data": {".dockerconfigjson": data},
        }
        self.kubernetes("POST", f"/api/v1/namespaces/{_place(name)}/secrets", body)


def _place(name: str) -> str:
    return f"clusters-{name}"
