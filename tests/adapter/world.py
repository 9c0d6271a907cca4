# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The services that the adapter uses (HyperFleet API, Kubernetes, Secret Manager), and its runs in this process."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import hyperfleet_adapter
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import validated_by_spec
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.engine.run_results import (
    ClusterResult,
)
from tests.lab.session import KubernetesEnv
from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.adapter_jobs.world import Working
from tests.support.docker_configs import docker_config, held
from tests.support.kubernetes.playing import Playing
from tests.support.kubernetes.world import Admin
from tests.support.secret_manager import PROJECT, owned, payloads

NAMESPACE = "hyperfleet-system"
TRACE = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"
PRECONDITIONS = (
    'spec.provider == "gcp"',
    "spec.gcp.projectId != nil",
    "spec.pullSecret.data != nil",
    'status.adapters[validation].available == "True"',
    'status.adapters[dns].available == "True"',
    'status.adapters[placement].available == "True"',
)
ADAPTERS = ("validation", "dns", "placement")
ONE, TWO = docker_config(quay_io="one"), docker_config(quay_io="two")
# Passing faults are met many times here; the real delays would only make the tests slow.
FAST = {"retry": {"tries": 3, "delay": 0.02, "max_delay": 0.05}, "timeout": 20}


class World:
    """The adapter's surroundings in one test.

    :param prefix: begins the clusters' ids, and the namespace's name on an API server that tests share.
    """

    # What plays the kubelet; this one also places the Secret when a Job's pod succeeds.
    PLAYING: type[Playing] = Working

    def __init__(
        self,
        hyperfleet: HyperFleetLab,
        server: KubernetesEnv,
        manager: SecretManagerLab,
        directory: Path,
        prefix: str = "",
    ) -> None:
        self.hyperfleet = hyperfleet
        self.server = server
        self.admin = Admin(server)
        self.request = self.admin.request
        self.manager = manager
        self.directory = directory
        self.prefix = prefix
        self.home = prefix + NAMESPACE
        self.kubeconfig = server.kubeconfig(directory / "kubeconfig")
        self.playing = self.PLAYING(self.admin, self.home, controllers=server.lab is None)
        self.namespaces: list[str] = []
        self.log: list[dict[str, Any]] = []
        self.spec: dict[str, Any] = {}
        self._numbers = itertools.count(1)
        self.namespace(self.home)

    # -- the world --------------------------------------------------------------------------------

    @property
    def kubernetes(self) -> KubernetesLab:
        """The Kubernetes stand-in, for its faults and calls; only without a real API server."""
        assert self.server.lab is not None
        return self.server.lab

    @property
    def seed(self) -> bool:
        return self.hyperfleet.options.flavour == "seed"

    def cluster(self, config: Any = None, *, cluster_id: str = "", ready: bool = True, **spec: Any) -> str:
        """Create a cluster and return its id. If ready, its namespace exists and the other adapters are done."""
        cluster_id = cluster_id or f"{self.prefix}cls-{next(self._numbers)}"
        data = json.dumps(ONE if config is None else config) if not isinstance(config, str) else config
        whole = {"provider": "gcp", "gcp": {"projectId": PROJECT}, "pullSecret": {"data": data}, **spec}
        self.hyperfleet.store.seed([{"id": cluster_id, "name": f"name-of-{cluster_id}", "spec": whole}])
        if ready:
            self.namespace(f"clusters-{cluster_id}")
            self.depend(cluster_id)
        return cluster_id

    def depend(self, cluster_id: str, available: str = "True") -> None:
        """Report the other adapters' statuses at the cluster's generation."""
        for adapter in ADAPTERS:
            data = {"namespace": f"clusters-{cluster_id}", "managementCluster": "mgmt-1"}
            self.say(cluster_id, adapter, available, data if adapter == "placement" else {})

    def say(
        self, cluster_id: str, adapter: str, available: str, data: Mapping[str, Any], **more: str
    ) -> None:
        """Report another adapter's status; ``more`` adds conditions or overrides their statuses."""
        generation = self.read(cluster_id)["generation"]
        kinds = {"Available": available, "Applied": "True", "Health": "True", **more}
        conditions = [
            {"type": kind, "status": status, "reason": "R", "message": "m"} for kind, status in kinds.items()
        ]
        body = {
            "adapter": adapter,
            "observedGeneration" if self.seed else "observed_generation": generation,
            "conditions": conditions,
            "data": dict(data),
        }
        status, answer = self.api("POST" if self.seed else "PUT", f"/clusters/{cluster_id}/statuses", body)
        assert status in (200, 201), answer

    def edit(self, cluster_id: str, config: Any = None, **labels: str) -> None:
        """Change the pull secret or labels, and report the other adapters' statuses at the new generation."""
        spec = dict(self.read(cluster_id)["spec"])
        if config is not None:
            spec["pullSecret"] = {"data": json.dumps(config)}
        changes = {"spec": spec, **({"labels": labels} if labels else {})}
        assert self.api("PATCH", f"/clusters/{cluster_id}", changes)[0] == 200
        self.depend(cluster_id)

    def delete(self, cluster_id: str) -> None:
        assert self.api("DELETE", f"/clusters/{cluster_id}")[0] == 202

    def namespace(self, name: str) -> None:
        self.namespaces.append(self.admin.namespace(name))

    # -- a run ------------------------------------------------------------------------------------

    def config(self, **spec: Any) -> Path:
        """Write the adapter's configuration; ``spec`` overrides fields of its spec."""
        document = {
            "apiVersion": "hyperfleet.redhat.com/v1alpha1",
            "kind": "AdapterConfig",
            "metadata": {"name": "pullsecret-adapter", "namespace": self.home},
            "spec": {
                "adapterType": "pullsecret",
                "criteria": {"preconditions": [{"expression": text} for text in PRECONDITIONS]},
                "hyperfleetAPI": {
                    "url": self.hyperfleet.url,
                    "timeout": "5s",
                    "flavour": "contract" if self.seed else "current",
                },
                "jobTemplate": {"image": "registry.example.com/pullsecret-job:1"},
                "kubernetes": {"kubeconfig": str(self.kubeconfig)},
                "gcp": {"endpoint": f"http://{self.manager.grpc}"},
                **self.spec,
                **spec,
            },
        }
        path = self.directory / "adapter.json"
        path.write_text(json.dumps(document))
        return path

    def handle(self, *cluster_ids: str, check_mode: bool = False, **options: Any) -> list[ClusterResult]:
        """Run the adapter over these clusters, or with ``all`` over all clusters; it must report no problems."""
        ran = self.ran(*cluster_ids, check_mode=check_mode, **options)
        assert ran.problems == (), ran.problems
        return ran.results

    def ran(self, *cluster_ids: str, check_mode: bool = False, **options: Any) -> hyperfleet_adapter.Ran:
        """Run the adapter; unlike ``handle``, accept a run that reports problems."""
        given: dict[str, Any] = {} if options.get("all") else {"cluster_ids": list(cluster_ids)}
        arguments = {"config": str(self.config()), **FAST, **given, **options}
        return hyperfleet_adapter.work(
            validated_by_spec(hyperfleet_adapter.spec(), arguments),
            check_mode=check_mode,
            stop=threading.Event(),
            log=lambda entry, _logging: self.log.append(dict(entry)),
        )

    def one(self, cluster_id: str, **options: Any) -> ClusterResult:
        """Run the adapter over one cluster."""
        (handled,) = self.handle(cluster_id, **options)
        return handled

    # -- what came of it --------------------------------------------------------------------------

    def read(self, cluster_id: str) -> dict[str, Any]:
        return dict(self.api("GET", f"/clusters/{cluster_id}")[1])

    def is_gone(self, cluster_id: str) -> bool:
        return self.api("GET", f"/clusters/{cluster_id}")[0] == 404

    def status(self, cluster_id: str, adapter: str = "pullsecret") -> dict[str, Any]:
        """An adapter's status in the API; StopIteration if there is none."""
        items = self.api("GET", f"/clusters/{cluster_id}/statuses?size=100")[1]["items"]
        return next(dict(item) for item in items if item["adapter"] == adapter)

    def said(self, cluster_id: str) -> str:
        """The statuses of Applied, Available, Health, Finalized and the reason of Available: "TFTF JobCreated"."""
        found = {one["type"]: one for one in self.status(cluster_id)["conditions"]}
        order = ("Applied", "Available", "Health", "Finalized")
        return f"{''.join(found[kind]['status'][0] for kind in order)} {found['Available']['reason']}"

    def word(self, cluster_id: str) -> str:
        """The generation before what ``said`` returns, or "nothing" if the adapter has no status."""
        try:
            return f"{self.status(cluster_id)['observed_generation']} {self.said(cluster_id)}"
        except (StopIteration, KeyError):
            return "nothing"

    def why(self, cluster_id: str) -> str:
        """The message of the condition Available."""
        found = {one["type"]: one["message"] for one in self.status(cluster_id)["conditions"]}
        return str(found["Available"])

    def jobs(self) -> list[str]:
        return self.admin.names(self.home, "jobs")

    def data_secrets(self) -> list[str]:
        return [name for name in self.admin.names(self.home, "secrets") if name.startswith("cluster-")]

    def placed(self, cluster_id: str) -> Any:
        """The content of the management cluster's Secret, or None."""
        found = self.admin.secret(f"clusters-{cluster_id}", f"{cluster_id}-pull-secret")
        return held(found) if found else None

    def payloads(self, cluster_id: str) -> list[bytes]:
        """The versions in Secret Manager, oldest first."""
        return payloads(self.manager, cluster_id)

    def versions(self, cluster_id: str) -> int:
        return len(self.payloads(cluster_id))

    def do_the_job(self, cluster_id: str, job: str, version: str = "1") -> None:
        """Store the cluster's version in Secret Manager and let the Job's pod succeed."""
        self.manager.seed([owned(cluster_id, json.dumps(ONE))])
        self.playing.finish(job, self.message(version))

    def message(self, version: str = "1", **more: Any) -> str:
        """A termination message."""
        said = {"result": "success", "version": version, "changed": True, "versions_created": 1}
        return json.dumps({**said, **more})

    # -- requests ---------------------------------------------------------------------------------

    def api(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Send a request to the HyperFleet API that meets no fault and is not recorded."""
        return self.hyperfleet.ask(method, path, body)

    def reports(self, cluster_id: str) -> list[int]:
        """The HTTP statuses of the answers to the adapter's reports on a cluster, in order."""
        return [
            call.status
            for call in self.hyperfleet.calls.matching()
            if call.method in ("PUT", "POST") and call.path.endswith(f"/{cluster_id}/statuses")
        ]


def outcomes(handled: Sequence[ClusterResult]) -> list[str]:
    return [one.outcome for one in handled]
