# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Suspends the Jobs of a cluster that the API no longer has, and reads from them where its secrets are.

The Jobs stay until the secrets are removed. They are suspended, because a running pod would write the secrets
again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ....clients.kubernetes.client import KubernetesClient
from ....clients.kubernetes.errors import Overtaken
from ....runtime.retry import Deadline
from .. import names
from . import job_state, manifests

__all__ = ["JobSuspender", "SuspendedJobs"]

_Environment = Mapping[str, str]


@dataclass(frozen=True)
class SuspendedJobs:
    """A cluster's suspended Jobs.

    :param environments: of their containers, as the job contract defines them: names, not checked.
    :param busy: pods that may still write, and Jobs that may still create some.
    """

    environments: tuple[_Environment, ...]
    busy: tuple[str, ...]


class JobSuspender:
    """Suspends the Jobs of one adapter in its namespace. Thread-safe."""

    def __init__(self, client: KubernetesClient, namespace: str, adapter: str) -> None:
        self._client = client
        self._namespace = namespace
        self._adapter = adapter

    def suspend(self, cluster_id: str, deadline: Deadline) -> SuspendedJobs:
        """Suspend running Jobs, and read the secrets that all Jobs were to write."""
        environments: dict[str, _Environment] = {}
        busy: list[str] = []
        for job in self._list("jobs", cluster_id, deadline):
            name = str(job["metadata"]["name"])
            found = _environment_of(job)
            if found.get("CLUSTER_ID") == cluster_id:
                environments[name] = found
            read = job_state.read_job(job)
            if read.ended is None and not read.suspended and not read.deleting:
                # Without its mark it is ignored if the API has the cluster again: nothing would resume it.
                unmarked = {"resourceVersion": read.version, "annotations": {names.CONTENT: None}}
                patch = {"metadata": unmarked, "spec": {"suspend": True}}
                try:
                    self._client.patch(self._namespace, "jobs", name, patch, deadline)
                except Overtaken:
                    busy.append(f"jobs/{name}")
        for pod in self._list("pods", cluster_id, deadline):
            if (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed"):
                busy.append(f"pods/{pod['metadata']['name']}")
        return SuspendedJobs(tuple(environments.values()), tuple(busy))

    def _list(self, kind: str, cluster_id: str, deadline: Deadline) -> Iterator[dict[str, Any]]:
        selector = names.cluster_selector(self._adapter, names.JOB, cluster_id)
        return self._client.list_all(kind, selector, deadline, self._namespace)


def _environment_of(job: Mapping[str, Any]) -> dict[str, str]:
    """Return the literal variables of a Job's container, by name; empty without such a container."""
    pod = ((job.get("spec") or {}).get("template") or {}).get("spec") or {}
    found: dict[str, str] = {}
    for container in pod.get("containers") or ():
        if container.get("name") == manifests.CONTAINER:
            for item in container.get("env") or ():
                value: Any | None = item.get("value")
                if isinstance(value, str):
                    found[str(item.get("name"))] = manifests.unliteral(value)
    return found
