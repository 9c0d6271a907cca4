# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job's image in Jobs of a real cluster, whose nodes run the management cluster's pods here."""

from __future__ import annotations

import base64
import json
from typing import Any

from tests.lab.nodes.api import Object, wait_until
from tests.lab.nodes.cluster import ClusterLab
from tests.stand_ins.secret_manager import SecretManagerLab

SYSTEM = "hyperfleet-system"
PLACE = "clusters-cls-abc123"
ACCOUNT = "pullsecret-adapter-job"
PROJECT = "customer-prod-12345"
_RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces"
_JOBS = f"/apis/batch/v1/namespaces/{SYSTEM}/jobs"
_PULLER = ("job-puller", "example-puller-password")
_LIMIT = 120


class Jobs:
    """Namespaces, account and permissions of a job, its image in the lab's registry, and a Secret Manager."""

    def __init__(self, cluster: ClusterLab, store: SecretManagerLab) -> None:
        self.cluster, self.store = cluster, store
        self.api = api = cluster.api
        self.image = cluster.push_job()
        cluster.registry.set_account(*_PULLER)
        for namespace in (SYSTEM, PLACE):
            api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
        api.create(f"/api/v1/namespaces/{SYSTEM}/serviceaccounts", {"metadata": {"name": ACCOUNT}})
        self._secret("registry", "kubernetes.io/dockerconfigjson", ".dockerconfigjson", self._login())
        role = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "create", "patch"]}
        api.create(f"{_RBAC}/{PLACE}/roles", {"metadata": {"name": ACCOUNT}, "rules": [role]})
        api.create(
            f"{_RBAC}/{PLACE}/rolebindings",
            {
                "metadata": {"name": ACCOUNT},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": ACCOUNT},
                "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": SYSTEM}],
            },
        )

    def close(self) -> None:
        """Remove the namespaces and all in them."""
        for namespace in (SYSTEM, PLACE):
            self.api.delete(f"/api/v1/namespaces/{namespace}")
        paths = [f"/api/v1/namespaces/{namespace}" for namespace in (SYSTEM, PLACE)]
        wait_until(lambda: not any(map(self.api.find, paths)), "the job's namespaces gone")

    def run(self, name: str, document: str, **environment: str) -> Object:
        """Run a Job to its end; the Job, ``succeeded`` or ``failed`` in its status."""
        self.start(name, document, **environment)
        return wait_until(lambda: self.ended(name), f"job {name} ended", _LIMIT)

    def start(self, name: str, document: str, **environment: str) -> None:
        """Make a Job and the Secret with its pull secret."""
        self._secret(f"{name}-data", "Opaque", "pull-secret", document)
        self.api.create(_JOBS, self._job(name, environment))

    def ended(self, name: str) -> Object | None:
        """The Job where it is complete or has failed."""
        job = self.api.get(f"{_JOBS}/{name}")
        ends = [row["type"] for row in job["status"].get("conditions", []) if row["status"] == "True"]
        return job if {"Complete", "Failed"} & set(ends) else None

    def pods(self, name: str) -> list[Object]:
        """A Job's pods."""
        return self.api.items(f"/api/v1/namespaces/{SYSTEM}/pods", labelSelector=f"job-name={name}")

    def told(self, pod: Object) -> dict[str, Any]:
        """The termination message, as the kubelet put it into the pod's status."""
        found: dict[str, Any] = json.loads(terminated(pod)["message"])
        return found

    def log(self, pod: Object) -> list[dict[str, Any]]:
        """The log's entries, read from the kubelet."""
        text = self.api.log(SYSTEM, pod["metadata"]["name"])
        return [json.loads(line) for line in text.splitlines()]

    def written(self, pod: Object) -> list[str]:
        """What the pod's container has in its own layer, as ``tar -tv`` lists it."""
        node = next(node for node in self.cluster.nodes if node.name == pod["spec"]["nodeName"])
        key = pod["status"]["containerStatuses"][0]["containerID"].rpartition("/")[2]
        ctr = "ctr --namespace=k8s.io"
        kind = f'$({ctr} containers info {key} | sed -n \'s/.*"Snapshotter": "\\(.*\\)".*/\\1/p\')'
        done = node.run(["sh", "-ec", f"{ctr} snapshots --snapshotter={kind} diff {key} | tar -tvz"])
        assert done.returncode == 0, done.stderr
        return str(done.stdout).splitlines()

    def placed(self) -> Object | None:
        """The Secret that HyperShift reads."""
        return self.api.find(f"/api/v1/namespaces/{PLACE}/secrets/cls-abc123-pull-secret")

    def _secret(self, name: str, kind: str, key: str, content: str) -> None:
        data = {key: base64.b64encode(content.encode()).decode()}
        body = {"metadata": {"name": name}, "type": kind, "data": data}
        self.api.create(f"/api/v1/namespaces/{SYSTEM}/secrets", body)

    def _login(self) -> str:
        return self.cluster.registry.docker_config(*_PULLER)

    def _job(self, name: str, environment: dict[str, str]) -> Object:
        """As the job contract has it."""
        variables = {
            "CLUSTER_ID": "cls-abc123",
            "CLUSTER_NAME": "production-cluster",
            "GCP_PROJECT_ID": PROJECT,
            "MANAGEMENT_NAMESPACE": PLACE,
            "SECRET_MANAGER_EMULATOR_HOST": self.store.rest,
            **environment,
        }
        given = {"secretKeyRef": {"name": f"{name}-data", "key": "pull-secret"}}
        container = {
            "name": "pullsecret-job",
            "image": self.image,
            "imagePullPolicy": "IfNotPresent",
            "env": [
                *({"name": key, "value": value} for key, value in variables.items()),
                {"name": "PULL_SECRET_DATA", "valueFrom": given},
            ],
            "resources": {
                "requests": {"cpu": "100m", "memory": "128Mi"},
                "limits": {"cpu": "500m", "memory": "512Mi"},
            },
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "runAsNonRoot": True,
                "runAsUser": 1000,
                "capabilities": {"drop": ["ALL"]},
                "readOnlyRootFilesystem": True,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
        }
        wrong_input = {
            "action": "FailJob",
            "onExitCodes": {"containerName": "pullsecret-job", "operator": "In", "values": [2]},
        }
        return {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name},
            "spec": {
                "backoffLimit": 3,
                "podFailurePolicy": {"rules": [wrong_input]},
                "template": {
                    "spec": {
                        "serviceAccountName": ACCOUNT,
                        "imagePullSecrets": [{"name": "registry"}],
                        "restartPolicy": "Never",
                        "containers": [container],
                    }
                },
            },
        }


def terminated(pod: Object) -> dict[str, Any]:
    """How the pod's container ended."""
    (status,) = pod["status"]["containerStatuses"]
    found: dict[str, Any] = status["state"]["terminated"]
    return found
