# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One cluster and its adapter with real parts; only the HyperFleet API and Secret Manager are stand-ins."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from tests.adapter.world import World
from tests.lab.nodes.api import Object
from tests.lab.nodes.cluster import ClusterLab
from tests.lab.session import REAL, KubernetesEnv
from tests.lab.supervisor import free_ports, wait_until
from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.adapter_jobs.place import CLUSTER, PLACE, SYSTEM, adapter_namespaces
from tests.support.docker_configs import encoded
from tests.support.kubernetes.world import path
from tests.support.processes import Ansible
from tests.support.rulebook import prepare
from tests.support.secret_manager import PROJECT

STORED = f"hyperfleet-{CLUSTER}-pull-secret"
# Seconds on a busy machine, with the start of ansible-rulebook or the pull of the image.
LIMIT = 180.0
PASSWORDS = ("example-password-4711", "example-password-4712")


def document(password: str) -> Object:
    """A docker config."""
    auth = encoded(f"example-user:{password}")
    return {"auths": {"quay.io": {"auth": auth, "email": "user@example.com"}}}


class StoryWorld(World):
    """The adapter's world on a real cluster, with one cluster in it.

    :param template: ``spec.jobTemplate`` of the configuration; :param broker: its ``spec.broker``
    :param sentinel: the same broker for ``cloud_event``
    """

    def __init__(
        self,
        lab: ClusterLab,
        stand_ins: tuple[HyperFleetLab, SecretManagerLab],
        directory: Path,
        template: Object,
        broker: Object,
        sentinel: Object,
    ) -> None:
        state = lab.hosted
        server = KubernetesEnv(REAL, state.url, state.token, state.viewer_token, state.ca_file)
        super().__init__(stand_ins[0], server, stand_ins[1], directory)
        self.lab, self.sentinel = lab, sentinel
        self.ansible = Ansible(directory / "ansible")
        self.port = free_ports(1)[0]
        # The adapter uses the documented service account.
        account = f"/api/v1/namespaces/{SYSTEM}/serviceaccounts/pullsecret-adapter/token"
        token = self.lab.api.create(account, {"spec": {"expirationSeconds": 3600}})["status"]["token"]
        server.kubeconfig(self.kubeconfig, token=token)
        self.configuration = self.config(
            jobTemplate=template, broker=broker, metrics={"port": self.port, "address": "127.0.0.1"}
        )
        self.cluster(document(PASSWORDS[0]), cluster_id=CLUSTER)

    def namespace(self, name: str) -> None:
        """Create nothing: ``adapter_namespaces`` has created both, with the documented rights."""
        assert name in (SYSTEM, PLACE), name

    # -- who acts -------------------------------------------------------------------------------

    @contextmanager
    def rulebook(self) -> Iterator[Path]:
        """Start ansible-rulebook with the adapter's rulebook, and yield its output file when it is ready."""
        started = prepare(self.directory, "adapter", adapter_config=str(self.configuration))
        with started.running() as running:
            wait_until(lambda: running.process.poll() is not None or self._is_ready(), "it is ready", LIMIT)
            yield running.output
            assert running.process.poll() is None, "it has to go on for ever"

    def _is_ready(self) -> bool:
        try:
            return requests.get(f"http://127.0.0.1:{self.port}/readyz", timeout=5).status_code == 200
        except (requests.ConnectionError, requests.Timeout):
            return False

    def run(self, playbook: str, **variables: Any) -> str:
        """Run one of the collection's playbooks with the same configuration, and return its output."""
        given = {"adapter_config": str(self.configuration), **variables}
        done = self.ansible.playbook(f"hyperfleet.pull_secret.{playbook}", given)
        assert done.code == 0, done.output
        return done.output

    def metrics(self) -> dict[str, float]:
        """The adapter's metrics by name and labels."""
        text = requests.get(f"http://127.0.0.1:{self.port}/metrics", timeout=60).text
        lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
        return {name: float(value) for name, _space, value in lines}

    def publish(self) -> float:
        """Publish an event as the sentinel does, and return the time in the event's id."""
        done = self.ansible.module("cloud_event", {"broker": self.sentinel, "cluster_ids": [CLUSTER]})
        assert done.code == 0, done.output
        (target,) = done.result["targets"]
        return int(target["event"].replace("-", "")[:12], 16) / 1000

    def reported(self, generation: int, **conditions: str) -> Object | None:
        """The adapter's status if it has this generation and these statuses of conditions."""
        try:
            status = self.status(CLUSTER)
        except (StopIteration, KeyError):  # There is no status, or no cluster.
            return None
        found = {one["type"]: one["status"] for one in status["conditions"]}
        fits = status["observed_generation"] == generation and conditions.items() <= found.items()
        return status if fits else None

    def until(self, generation: int, **conditions: str) -> Object:
        """Wait until the adapter has reported this; return its status."""
        what = f"{generation} {conditions}"
        return wait_until(lambda: self.reported(generation, **conditions), what, LIMIT)

    def remove_place(self) -> None:
        """Delete the management namespace with its content."""
        self.lab.api.delete(f"/api/v1/namespaces/{PLACE}")
        wait_until(lambda: self.lab.api.find(f"/api/v1/namespaces/{PLACE}") is None, "it is gone")

    # -- what there is --------------------------------------------------------------------------

    def contents(self) -> list[Any]:
        """The docker configs in Secret Manager, oldest first."""
        return [json.loads(payload) for payload in self.payloads(CLUSTER)]

    def left(self) -> list[str]:
        """The cluster's objects in both namespaces (found by labels) and in Secret Manager."""
        labelled = {"labelSelector": f"managed-by=hyperfleet,cluster-id={CLUSTER}"}
        kinds = ((SYSTEM, "jobs"), (SYSTEM, "pods"), (SYSTEM, "secrets"), (PLACE, "secrets"))
        found = [
            f"{kind}/{item['metadata']['name']}"
            for namespace, kind in kinds
            for item in self.lab.api.items(path(namespace, kind), **labelled)
        ]
        return sorted(found + ([STORED] if self.manager.store.find(PROJECT, STORED) else []))

    def everything(self) -> str:
        """The adapter's Jobs, their pods with logs, and the adapter's status, as JSON."""
        jobs, pods = self.admin.items(SYSTEM, "jobs"), self.admin.items(SYSTEM, "pods")
        logs = [self.lab.api.log(SYSTEM, pod["metadata"]["name"]) for pod in pods]
        return json.dumps([jobs, pods, logs, self.status(CLUSTER)])

    def job_log(self, job: str) -> list[Object]:
        """The log of the Job's pod, read from its kubelet."""
        pods = self.lab.api.items(path(SYSTEM, "pods"), labelSelector=f"job-name={job}")
        text = self.lab.api.log(SYSTEM, pods[0]["metadata"]["name"])
        return [json.loads(line) for line in text.splitlines()]


@contextmanager
def story_world(lab: ClusterLab, directory: Path, broker: Object, sentinel: Object) -> Iterator[StoryWorld]:
    """Have stand-ins, namespaces, the documented permissions and the cluster until the block ends."""
    # A deleted cluster also waits for placement's report, so ours can be read until then.
    required = ("pullsecret", "placement")
    with (
        HyperFleetLab(required_adapters=required) as hyperfleet,
        SecretManagerLab(rest_address=lab.network.host) as manager,
        adapter_namespaces(lab, manager) as template,
    ):
        yield StoryWorld(lab, (hyperfleet, manager), directory, template, broker, sentinel)
