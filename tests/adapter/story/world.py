# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One cluster of the HyperFleet API, and all that its pull secret meets: each part real but two stand-ins."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from tests.adapter.story import rights
from tests.lab.nodes.api import Object, wait_until
from tests.lab.nodes.cluster import ClusterLab
from tests.lab.supervisor import free_ports
from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.processes import Ansible
from tests.support.rulebook import prepare

CLUSTER, NAME, PROJECT = "cls-123", "production-cluster", "customer-prod-12345"
SYSTEM, PLACE = "hyperfleet-system", "clusters-cls-123"
OTHERS = ("validation", "dns", "placement")
STORED = f"hyperfleet-{CLUSTER}-pull-secret"
# On a machine that does much else; with the start of ansible-rulebook, or the pull of the image.
LIMIT = 180.0
PASSWORDS = ("example-password-4711", "example-password-4712")
_PULLER = ("job-puller", "example-puller-password")
_DOCKER = "kubernetes.io/dockerconfigjson"


def document(password: str) -> str:
    """A docker config, as Secret Manager gets it."""
    auth = base64.b64encode(f"example-user:{password}".encode()).decode()
    return json.dumps(
        {"auths": {"quay.io": {"auth": auth, "email": "user@example.com"}}}, separators=(",", ":")
    )


class World:
    """:param broker: ``spec.broker`` of the configuration; :param sentinel: the same for ``cloud_event``."""

    def __init__(self, lab: ClusterLab, directory: Path, broker: Object, sentinel: Object) -> None:
        self.lab, self.directory, self.api = lab, directory, lab.api
        self.sentinel = sentinel
        self.ansible = Ansible(directory / "ansible")
        self.port = free_ports(1)[0]
        self.rights = rights.documented()
        self._broker = broker

    @contextmanager
    def stand(self) -> Iterator[World]:
        """The stand-ins, the namespaces, the documented rights and the cluster, for the time of the block."""
        # Placement's report is the last that a deleted cluster waits for: ours can be read until then.
        required = ("pullsecret", "placement")
        with (
            HyperFleetLab(required_adapters=required) as self.hyperfleet,
            SecretManagerLab(rest_address=self.lab.network.host) as self.manager,
        ):
            try:
                self._prepare()
                yield self
            finally:
                self._tidy()

    def _prepare(self) -> None:
        for name in (SYSTEM, PLACE):
            self.api.create("/api/v1/namespaces", {"metadata": {"name": name}})
        rights.give(self.api, self.rights)
        self.lab.registry.set_account(*_PULLER)
        login = base64.b64encode(self.lab.registry.docker_config(*_PULLER).encode()).decode()
        secret = {"metadata": {"name": "registry"}, "type": _DOCKER, "data": {".dockerconfigjson": login}}
        self.api.create(f"/api/v1/namespaces/{SYSTEM}/secrets", secret)
        self.configuration = self._configure(self.lab.push_job())
        spec = {
            "provider": "gcp",
            "gcp": {"projectId": PROJECT},
            "pullSecret": {"data": document(PASSWORDS[0])},
        }
        self.hyperfleet.store.seed([{"id": CLUSTER, "name": NAME, "spec": spec}])
        self.depend()

    def _tidy(self) -> None:
        rights.take(self.api, self.rights)
        for name in (SYSTEM, PLACE):
            self.api.delete(f"/api/v1/namespaces/{name}")
        paths = [f"/api/v1/namespaces/{name}" for name in (SYSTEM, PLACE)]
        wait_until(lambda: not any(map(self.api.find, paths)), "the story's namespaces gone")

    def _configure(self, image: str) -> Path:
        """As the operator writes it; Kubernetes is reached as the documented account."""
        account = f"/api/v1/namespaces/{SYSTEM}/serviceaccounts/pullsecret-adapter/token"
        token = self.api.create(account, {"spec": {"expirationSeconds": 3600}})["status"]["token"]
        state = self.lab.hosted
        kubeconfig = write_kubeconfig(
            self.directory / "kubeconfig", [Cluster("management", state.url, token, state.ca)]
        )
        body = {
            "apiVersion": "hyperfleet.redhat.com/v1alpha1",
            "kind": "AdapterConfig",
            "metadata": {"name": "pullsecret-adapter", "namespace": SYSTEM},
            "spec": {
                "hyperfleetAPI": {"url": self.hyperfleet.url},
                "broker": self._broker,
                "jobTemplate": {
                    "image": image,
                    "imagePullSecrets": [{"name": "registry"}],
                    "env": [{"name": "SECRET_MANAGER_EMULATOR_HOST", "value": self.manager.rest}],
                },
                "kubernetes": {"kubeconfig": str(kubeconfig)},
                "gcp": {"endpoint": f"http://{self.manager.grpc}"},
                "metrics": {"port": self.port, "address": "127.0.0.1"},
            },
        }
        path = self.directory / "config.yaml"
        path.write_text(json.dumps(body))
        return path

    # -- who acts -------------------------------------------------------------------------------

    @contextmanager
    def rulebook(self) -> Iterator[Path]:
        """ansible-rulebook with the adapter's rulebook, as a user starts it, once it is ready; its output."""
        started = prepare(self.directory, "adapter", adapter_config=str(self.configuration))
        with started.running() as process:
            wait_until(lambda: process.poll() is not None or self._is_ready(), "it is ready", LIMIT)
            yield started.output

    def _is_ready(self) -> bool:
        try:
            return requests.get(f"http://127.0.0.1:{self.port}/readyz", timeout=5).status_code == 200
        except (requests.ConnectionError, requests.Timeout):
            return False

    def run(self, playbook: str, **variables: Any) -> str:
        """One of the collection's playbooks, with the same configuration; what it printed."""
        given = {"adapter_config": str(self.configuration), **variables}
        done = self.ansible.playbook(f"hyperfleet.pull_secret.{playbook}", given)
        assert done.code == 0, done.output
        return done.output

    def metrics(self) -> dict[str, float]:
        """The adapter's, by name and labels."""
        text = requests.get(f"http://127.0.0.1:{self.port}/metrics", timeout=30).text
        lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
        return {name: float(value) for name, _space, value in lines}

    def publish(self) -> float:
        """The sentinel's part; when the event was made, as its id has it."""
        done = self.ansible.module("cloud_event", {"broker": self.sentinel, "cluster_ids": [CLUSTER]})
        assert done.code == 0, done.output
        (target,) = done.result["targets"]
        return int(target["event"].replace("-", "")[:12], 16) / 1000

    def depend(self) -> None:
        """The other adapters are done with the cluster's generation."""
        for adapter in OTHERS:
            data = {"namespace": PLACE, "managementCluster": "mgmt-1"} if adapter == "placement" else {}
            self.say(adapter, {"Available": "True", "Applied": "True", "Health": "True"}, data)

    def say(self, adapter: str, said: dict[str, str], data: Object | None = None) -> None:
        """Another adapter's report."""
        body = {
            "adapter": adapter,
            "observed_generation": self.read()["generation"],
            "conditions": [
                {"type": kind, "status": status, "reason": "R", "message": "m"}
                for kind, status in said.items()
            ],
            "data": data or {},
        }
        assert self.ask("PUT", f"/clusters/{CLUSTER}/statuses", body)[0] in (200, 201)

    def edit(self, *, password: str | None = None, **labels: str) -> None:
        """A new generation, which the others are done with at once."""
        changes: Object = {"labels": labels} if labels else {}
        spec = dict(self.read()["spec"])
        if password is not None:
            spec["pullSecret"] = {"data": document(password)}
        assert self.ask("PATCH", f"/clusters/{CLUSTER}", {**changes, "spec": spec})[0] == 200
        self.depend()

    # -- what there is --------------------------------------------------------------------------

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """What the HyperFleet API answers somebody else; it is not noted among the adapter's requests."""
        return self.hyperfleet.ask(method, path, body)

    def read(self) -> Object:
        found: Object = self.ask("GET", f"/clusters/{CLUSTER}")[1]
        return found

    def status(self) -> Object | None:
        """What the API holds of the adapter."""
        items = self.ask("GET", f"/clusters/{CLUSTER}/statuses?size=100")[1].get("items", [])
        return next((item for item in items if item["adapter"] == "pullsecret"), None)

    def said(self) -> dict[str, str]:
        """Each condition of it with its reason."""
        status = self.status() or {"conditions": []}
        return {row["type"]: f"{row['status']} {row['reason']}" for row in status["conditions"]}

    def is_at(self, generation: int, **conditions: str) -> bool:
        """Whether the adapter said this of that generation."""
        status = self.status() or {"conditions": []}
        said = {row["type"]: row["status"] for row in status["conditions"]}
        return status.get("observed_generation") == generation and conditions.items() <= said.items()

    def until(self, generation: int, **conditions: str) -> Object:
        """Wait until it did; the status."""
        wait_until(lambda: self.is_at(generation, **conditions), f"{generation} {conditions}", LIMIT)
        status = self.status()
        assert status is not None
        return status

    def left(self) -> list[str]:
        """All of the cluster's in both namespaces, by its labels, and in Secret Manager."""
        labelled = {"labelSelector": f"managed-by=hyperfleet,cluster-id={CLUSTER}"}
        found = [
            f"{name}/{item['metadata']['name']}"
            for name, path in (
                ("jobs", f"/apis/batch/v1/namespaces/{SYSTEM}/jobs"),
                ("pods", f"/api/v1/namespaces/{SYSTEM}/pods"),
                ("secrets", f"/api/v1/namespaces/{SYSTEM}/secrets"),
                ("secrets", f"/api/v1/namespaces/{PLACE}/secrets"),
            )
            for item in self.api.items(path, **labelled)
        ]
        return sorted(found + ([STORED] if self.versions() else []))

    def everything(self) -> str:
        """The adapter's Jobs with their pods and what those said: whatever people may read of them."""
        jobs = self.api.items(f"/apis/batch/v1/namespaces/{SYSTEM}/jobs")
        pods = self.api.items(f"/api/v1/namespaces/{SYSTEM}/pods")
        logs = [self.api.log(SYSTEM, pod["metadata"]["name"]) for pod in pods]
        return json.dumps([jobs, pods, logs, self.status()])

    def remove_place(self) -> None:
        """The management namespace goes, with all in it."""
        self.api.delete(f"/api/v1/namespaces/{PLACE}")
        wait_until(lambda: self.api.find(f"/api/v1/namespaces/{PLACE}") is None, "it is gone")

    def jobs(self) -> list[str]:
        items = self.api.items(f"/apis/batch/v1/namespaces/{SYSTEM}/jobs")
        return sorted(item["metadata"]["name"] for item in items)

    def job_log(self, job: str) -> list[Object]:
        """What the Job's pod said, read from its kubelet."""
        pods = self.api.items(f"/api/v1/namespaces/{SYSTEM}/pods", labelSelector=f"job-name={job}")
        text = self.api.log(SYSTEM, pods[0]["metadata"]["name"])
        return [json.loads(line) for line in text.splitlines()]

    def placed(self) -> Any:
        """What HyperShift reads."""
        found = self.api.find(f"/api/v1/namespaces/{PLACE}/secrets/{CLUSTER}-pull-secret")
        return found and json.loads(base64.b64decode(found["data"][".dockerconfigjson"]))

    def versions(self) -> list[str]:
        """What Secret Manager holds, oldest first."""
        record = self.manager.store.find(PROJECT, STORED)
        return [version.payload.decode() for version in record.versions] if record else []
