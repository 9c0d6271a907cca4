# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job's image in the adapter's Jobs of a real cluster."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.config.defaults import (
    fill_job,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.jobs import manifests
from tests.lab.nodes.api import Object
from tests.lab.nodes.cluster import ClusterLab
from tests.lab.supervisor import wait_until
from tests.support.adapter_jobs.place import CLUSTER, PLACE, SYSTEM
from tests.support.adapter_jobs.world import order

PROJECT = "customer-prod-12345"
_JOBS = f"/apis/batch/v1/namespaces/{SYSTEM}/jobs"
_ADAPTER = "pullsecret"
_LIMIT = 120


class Jobs:
    """Runs the Jobs that the adapter makes with this ``spec.jobTemplate``."""

    def __init__(self, cluster: ClusterLab, template: Object) -> None:
        self.cluster, self.api = cluster, cluster.api
        self._template = fill_job(template)

    def run(self, document: str, generation: int = 1) -> Object:
        """Run a Job to its end; the Job, ``succeeded`` or ``failed`` in its status."""
        wanted = order(generation, cluster_id=CLUSTER, project=PROJECT, namespace=PLACE)
        secret = manifests.data_secret(wanted, document.encode(), _ADAPTER)
        self.api.apply(f"/api/v1/namespaces/{SYSTEM}/secrets/{secret['metadata']['name']}", secret)
        spec = manifests.job_spec(wanted, self._template, _ADAPTER)
        job = manifests.job(wanted, self._template, _ADAPTER, spec=spec, content="")
        self.api.create(_JOBS, job)
        name = job["metadata"]["name"]
        return wait_until(lambda: self._ended(name), f"job {name} ended", _LIMIT)

    def _ended(self, name: str) -> Object | None:
        job = self.api.get(f"{_JOBS}/{name}")
        ends = [row["type"] for row in job["status"].get("conditions", []) if row["status"] == "True"]
        return job if {"Complete", "Failed"} & set(ends) else None

    def pods(self, job: Object) -> list[Object]:
        """A Job's pods."""
        selector = f"job-name={job['metadata']['name']}"
        return self.api.items(f"/api/v1/namespaces/{SYSTEM}/pods", labelSelector=selector)

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
        return self.api.find(f"/api/v1/namespaces/{PLACE}/secrets/{CLUSTER}-pull-secret")


def terminated(pod: Object) -> dict[str, Any]:
    """How the pod's container ended."""
    (status,) = pod["status"]["containerStatuses"]
    found: dict[str, Any] = status["state"]["terminated"]
    return found
