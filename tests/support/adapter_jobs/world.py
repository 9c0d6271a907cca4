# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The adapter's Jobs in a test's own namespace. Without real controllers the test plays them."""

from __future__ import annotations

import base64
import dataclasses
import json
import time
from collections.abc import Mapping
from typing import Any, cast

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.client import (
    KubernetesClient,
    KubernetesClients,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.cluster_document import read_spec
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import (
    Deadline,
    Retrier,
    RetryPolicy,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.run_settings import RunSettings
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.config.config import (
    AdapterConfig,
    parse_adapter_config,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.config.defaults import (
    fill_job,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.config.parts import (
    JobTemplate,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.jobs.dry_run import (
    DryRunClient,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.jobs.job_removal import (
    JobRemoval,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.jobs.jobs import Jobs
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.model import (
    Observed,
    Order,
)
from tests.stand_ins.kubernetes.store import Object
from tests.support.adapter_jobs.documents import document
from tests.support.docker_configs import KEY, TYPE
from tests.support.kubernetes.playing import Playing
from tests.support.kubernetes.world import Api, path

CANARY = "example-password-canary-4711"
DOCUMENT = json.dumps({"auths": {"quay.io": {"auth": base64.b64encode(b"u:" + CANARY.encode()).decode()}}})
SUCCESS = {
    "result": "success",
    "version": "3",
    "secret": "projects/p-1/secrets/hyperfleet-c-1-pull-secret",
    "changed": True,
    "versions_created": 1,
    "duration_seconds": 1.5,
}
FAILURE = {"result": "failure", "kind": "permission_denied", "message": "PERMISSION_DENIED on projects/p-1"}


def template(**fields: Any) -> JobTemplate:
    """A ``jobTemplate`` with these fields changed."""
    made = fill_job({"image": "registry.example.com/pullsecret-job:v1", "backoffLimit": 1})
    return dataclasses.replace(made, **fields)


def config(namespace: str, adapter: str = "pullsecret", **fields: Any) -> AdapterConfig:
    """A configuration with these fields of its ``jobTemplate`` changed."""
    return dataclasses.replace(
        parse_adapter_config(document()), namespace=namespace, adapter=adapter, job=template(**fields)
    )


class Working(Playing):
    """Before a pod succeeds, it creates the management Secret from its environment."""

    def finish(self, job: str, message: str = "", *, exit_code: int = 0, reason: str = "") -> Object:
        """Let the Job's pod end; with exit code 0 place the Secret first."""
        if exit_code == 0:
            (container,) = self._known(job)["spec"]["template"]["spec"]["containers"]
            given = {item["name"]: item for item in container["env"]}
            reference = given["PULL_SECRET_DATA"]["valueFrom"]["secretKeyRef"]
            found = self._admin.secret(self._namespace, reference["name"])
            if found is not None:
                self._place(given, found["data"][reference["key"]])
        return super().finish(job, message, exit_code=exit_code, reason=reason)

    def _place(self, given: Mapping[str, Any], value: str) -> None:
        labels = {"managed-by": "hyperfleet", "cluster-id": given["CLUSTER_ID"]["value"]}
        namespace, name = given["MANAGEMENT_NAMESPACE"]["value"], given["K8S_SECRET_NAME"]["value"]
        body = {"metadata": {"name": name, "labels": labels}, "type": TYPE, "data": {KEY: value}}
        code, answer = self._admin.request("POST", path(namespace, "secrets"), body)
        if code == 409:
            code, answer = self._admin.request("PATCH", path(namespace, "secrets", name), body)
        assert code in (200, 201, 404), answer


class World:
    """One namespace with one adapter, and the calls that tests make."""

    def __init__(self, api: Api, namespace: str) -> None:
        self.api = api
        self.namespace = namespace
        self.playing = Working(api, namespace, controllers=api.real)
        self.ahead = 0.0
        settings = RunSettings(
            api_timeout=5.0,
            timeout=20.0,
            retrier=Retrier(RetryPolicy(tries=3, delay=0.02, max_delay=0.1)),
            connections={"kubernetes": {"host": api.url, "api_key": api.token}},
        )
        self.client = KubernetesClients(settings).get(Deadline(20))
        self.jobs = self.adapter()

    def adapter(self, *, name: str = "pullsecret", check: bool = False, **template: Any) -> Jobs:
        """Return the Jobs of an adapter without memory, as a new process has them."""
        given = config(self.namespace, name, **template)
        client = cast(KubernetesClient, DryRunClient(self.client)) if check else self.client
        return Jobs(client, given, clock=lambda: time.time() + self.ahead)

    def apply(
        self, generation: int = 1, document: str = DOCUMENT, *, by: Jobs | None = None, **changed: Any
    ) -> Observed:
        wanted = self.order(generation, **changed)
        return (by or self.jobs).apply(wanted, document.encode(), Deadline(20))

    def order(self, generation: int = 1, **changed: Any) -> Order:
        """An order whose management namespace exists: it is the adapter's own."""
        return order(generation, **{"namespace": self.namespace, **changed})

    def placed(self, cluster_id: str = "c-1") -> Any:
        """The management Secret, or None."""
        return self.api.secret(self.namespace, f"{cluster_id}-pull-secret")

    def remove(self, cluster_id: str = "c-1") -> JobRemoval:
        return self.jobs.remove(cluster_id, Deadline(20))

    def job_names(self) -> list[str]:
        return self.api.names(self.namespace, "jobs")

    def secrets(self) -> dict[str, Any]:
        """The Secrets with data for Jobs, by name."""
        return {
            item["metadata"]["name"]: item
            for item in self.api.items(self.namespace, "secrets")
            if (item["metadata"].get("labels") or {}).get("resource-type") == "pull-secret-data"
        }

    def requests(self) -> list[str]:
        """Verb and kind of each recorded call."""
        calls = self.api.calls.matching()
        # The path /api/v1/secrets has no namespace.
        paths = [call.path.rpartition(f"/namespaces/{self.namespace}/")[2] for call in calls]
        kinds = [path.removeprefix("/api/v1/").split("/")[0] for path in paths]
        return [f"{call.verb} {kind}" for call, kind in zip(calls, kinds, strict=True)]


def order(
    generation: int = 1,
    *,
    cluster_id: str = "c-1",
    cluster_name: str = "one",
    project: str = "p-1",
    namespace: str = "clusters-c-1",
    replication: str = "automatic",
    traceparent: str | None = None,
) -> Order:
    """An order as the engine creates it from a cluster's spec."""
    gcp = {"projectId": project, "replicationPolicy": replication}
    spec = read_spec({"name": cluster_name, "spec": {"gcp": gcp}})
    return Order(spec.cluster(cluster_id, management_namespace=namespace), generation, traceparent)


def said(document: Mapping[str, Any]) -> str:
    """A termination message."""
    return json.dumps(document)
