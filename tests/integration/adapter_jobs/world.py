# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The adapter's Jobs in a namespace of a test's own, with the controllers played where there are none."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.jobs import Jobs, Removal
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.model import Observed, Order
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.base import Settings
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.client import (
    KubernetesClients,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.retry import (
    Deadline,
    Retrier,
    RetryPolicy,
)
from tests.integration.k8s.world import Api
from tests.lab.kubernetes.playing import Playing

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


@dataclass(frozen=True)
class JobTemplate:
    """As the adapter's configuration has it."""

    image: str | None = "registry.example.com/pullsecret-job:v1"
    service_account: str = "pullsecret-adapter-job"
    resources: Mapping[str, Any] = field(
        default_factory=lambda: {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"cpu": "500m", "memory": "512Mi"},
        }
    )
    ttl: Any = 86400
    backoff_limit: int = 1
    deadline: Any = 600
    keep_generations: int = 1
    image_pull_secrets: Sequence[Any] = ()
    env: Any = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: Sequence[Any] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    priority_class: str | None = None
    log_level: str = "info"
    log_format: str = "json"
    gcp_api_timeout: Any = "30s"


@dataclass(frozen=True)
class Config:
    """Likewise."""

    namespace: str
    adapter: str = "pullsecret"
    job: JobTemplate = field(default_factory=JobTemplate)


class World:
    """One adapter, one namespace."""

    def __init__(self, api: Api, namespace: str) -> None:
        self.api = api
        self.namespace = namespace
        self.playing = Playing(api.request, namespace, controllers=api.real)
        self.ahead = 0.0
        settings = Settings(
            api_timeout=5.0,
            timeout=20.0,
            retrier=Retrier(RetryPolicy(tries=3, delay=0.02, max_delay=0.1)),
            connections={"kubernetes": {"host": api.url, "api_key": api.token}},
        )
        self.client = KubernetesClients(settings).get(Deadline(20))
        self.jobs = self.adapter()

    def adapter(self, *, name: str = "pullsecret", **template: Any) -> Jobs:
        """An adapter as another process, or another configuration, has it."""
        config = Config(self.namespace, name, JobTemplate(**template))
        return Jobs(self.client, config, clock=lambda: time.time() + self.ahead)

    def apply(
        self, generation: int = 1, document: str = DOCUMENT, *, by: Jobs | None = None, **changed: Any
    ) -> Observed:
        return (by or self.jobs).apply(order(generation, **changed), document.encode(), Deadline(20))

    def remove(self, cluster_id: str = "c-1") -> Removal:
        return self.jobs.remove(cluster_id, Deadline(20))

    def job_names(self) -> list[str]:
        return sorted(job["metadata"]["name"] for job in self.all("/apis/batch/v1", "jobs"))

    def secrets(self) -> dict[str, Any]:
        """The Secrets with data for Jobs, by name."""
        found = self.all("/api/v1", "secrets")
        kind = "pull-secret-data"
        return {
            item["metadata"]["name"]: item
            for item in found
            if (item["metadata"].get("labels") or {}).get("resource-type") == kind
        }

    def all(self, base: str, kind: str) -> list[Any]:
        _code, found = self.api.request("GET", f"{base}/namespaces/{self.namespace}/{kind}")
        return list(found["items"])

    def requests(self) -> list[str]:
        """Verb and kind of each call so far through the proxy."""
        calls = self.api.calls.matching()
        return [
            f"{call.verb} {call.path.split('/' + self.namespace + '/')[1].split('/')[0]}" for call in calls
        ]


def order(generation: int = 1, **changed: Any) -> Order:
    given: dict[str, Any] = {
        "cluster_id": "c-1",
        "cluster_name": "one",
        "project": "p-1",
        "namespace": "clusters-c-1",
        **changed,
    }
    return Order(generation=generation, **given)


def said(document: Mapping[str, Any]) -> str:
    """A termination message."""
    return json.dumps(document)
