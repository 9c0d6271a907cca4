# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The stand-ins that the watched runs talk to, and what they would have logged."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from tests.stand_ins.client import ask
from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.kubernetes.lab import KubernetesLab
from tests.stand_ins.secret_manager.lab import SecretManagerLab
from tests.support.secrecy.needles import Evidence

__all__ = ["MANAGED", "Labs"]

PROJECT = "project-1"
MANAGED = "clusters"
SOURCES = "sources"


@dataclass
class Labs:
    """All three, with a namespace for what is read and one for what is written."""

    secret_manager: SecretManagerLab
    kubernetes: KubernetesLab
    hyperfleet: HyperFleetLab

    @classmethod
    def start(cls, stack: ExitStack) -> Labs:
        labs = cls(
            stack.enter_context(SecretManagerLab()),
            stack.enter_context(KubernetesLab()),
            stack.enter_context(HyperFleetLab()),
        )
        for namespace in (MANAGED, SOURCES):
            labs.post("/api/v1/namespaces", {"metadata": {"name": namespace}})
        return labs

    def options(self) -> dict[str, Any]:
        """The modules' connection options."""
        return {
            "gcp": {"endpoint": f"http://{self.secret_manager.grpc}"},
            "kubernetes": {"host": self.kubernetes.url, "api_key": self.kubernetes.admin_token},
            "hyperfleet": {"url": self.hyperfleet.url},
            "retry": {"tries": 2, "delay": 0.01, "max_delay": 0.01},
            "timeout": 10,
        }

    def post(self, path: str, document: Mapping[str, Any]) -> None:
        lab = self.kubernetes
        status, answer = ask(lab.url, "POST", path, document, token=lab.admin_token)
        assert status < 300, answer

    def put_kubernetes(self, name: str, data: bytes) -> dict[str, Any]:
        """Store a document; the reference to it."""
        body = {
            "metadata": {"name": name, "namespace": SOURCES},
            "data": {"config.json": base64.b64encode(data).decode()},
        }
        self.post(f"/api/v1/namespaces/{SOURCES}/secrets", body)
        return {"kubernetes": {"namespace": SOURCES, "name": name, "key": "config.json"}}

    def put_gcp(self, name: str, data: bytes) -> dict[str, Any]:
        self.secret_manager.seed([{"project": PROJECT, "secret": name, "versions": [{"data": data}]}])
        return {"gcp": {"project": PROJECT, "secret": name}}

    def put_hyperfleet(self, name: str, data: bytes) -> dict[str, Any]:
        text = data.decode("utf-8", "surrogateescape")
        self.hyperfleet.store.seed([{"id": name, "name": name, "spec": {"pullSecret": {"data": text}}}])
        return {"hyperfleet": {"cluster_id": name}}

    def logs(self) -> Iterator[Evidence]:
        """What access and audit logs hold of each request: the verb, the path and the query."""
        for call in self.kubernetes.calls.matching():
            yield Evidence("API server log", call.verb, f"{call.path}?{call.query}".encode())
        for other in self.hyperfleet.calls.matching():
            yield Evidence("HyperFleet log", other.method, f"{other.path}?{other.query}".encode())
        for stored in self.secret_manager.calls.matching():
            yield Evidence("Secret Manager log", stored.method, stored.resource.encode())
