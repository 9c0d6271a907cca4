# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Kubernetes that tests talk to: the stand-in or the real control plane, behind a ``FaultProxy``."""

from __future__ import annotations

import base64
import itertools
import json
import secrets
import time
from pathlib import Path
from typing import Any

from tests.stand_ins.client import ask
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.stand_ins.kubernetes.faults import Call, Fault
from tests.stand_ins.rules import CallLog, RuleTable
from tests.support.kubernetes.proxy import FaultProxy

KEY = ".dockerconfigjson"
TYPE = "kubernetes.io/dockerconfigjson"
MUTATING = ("create", "update", "patch", "delete", "deletecollection")
_numbers = itertools.count(1)
_run = secrets.token_hex(3)


class Api:
    """One API server; ``url`` leads through the proxy, the methods talk to the server itself as its admin."""

    def __init__(self, proxy: FaultProxy, token: str, viewer_token: str, *, real: bool) -> None:
        self.proxy = proxy
        self.token = token
        self.viewer_token = viewer_token
        self.real = real

    @property
    def url(self) -> str:
        return self.proxy.url

    @property
    def faults(self) -> RuleTable[Fault]:
        return self.proxy.faults

    @property
    def calls(self) -> CallLog[Call]:
        return self.proxy.calls

    def writes(self) -> list[str]:
        """The calls so far that could have changed something, as ``verb path``; dry runs are none."""
        return [
            f"{call.verb} {call.path}"
            for call in self.calls.matching()
            if call.verb in MUTATING and "dryRun" not in call.query
        ]

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        content: str = "",
        token: str | None = None,
    ) -> tuple[int, Any]:
        """Any request, past the proxy."""
        to = self.proxy.upstream, method, path, body
        return ask(*to, token=token or self.token, content=content, ca=self.proxy.tls)

    def new_name(self, prefix: str = "t") -> str:
        """A name that no other test has used on this server."""
        return f"{prefix}-{_run}-{next(_numbers)}"

    def namespace(self, name: str | None = None) -> str:
        """Make a namespace."""
        name = name or self.new_name("ns")
        self._done("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        return name

    def create(self, namespace: str, kind: str, body: dict[str, Any]) -> Any:
        return self._done("POST", f"/api/v1/namespaces/{namespace}/{kind}", body)

    def secret(self, namespace: str, name: str) -> Any:
        """The secret, or None."""
        return self.get(namespace, "secrets", name)

    def get(self, namespace: str, kind: str, name: str) -> Any:
        status, body = self.request("GET", f"/api/v1/namespaces/{namespace}/{kind}/{name}")
        return body if status == 200 else None

    def merge(self, namespace: str, kind: str, name: str, patch: dict[str, Any]) -> Any:
        """A merge patch, as another writer would make it."""
        path = f"/api/v1/namespaces/{namespace}/{kind}/{name}"
        return self._done("PATCH", path, patch)

    def delete(self, namespace: str, kind: str, name: str) -> None:
        self._done("DELETE", f"/api/v1/namespaces/{namespace}/{kind}/{name}")

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Create anything."""
        return self._done("POST", path, body)

    def wait_allowed(self, token: str, path: str) -> None:
        """RBAC changes reach the authorizer a moment after they were made."""
        deadline = time.monotonic() + 30
        while self.request("GET", path, token=token)[0] == 403:
            assert time.monotonic() < deadline, f"still not allowed: GET {path}"
            time.sleep(0.05)

    def kubeconfig(self, path: Path, token: str | None = None, context: str = "mgmt-1") -> Path:
        """A kubeconfig that leads through the proxy."""
        return write_kubeconfig(path, [self.cluster(context, token)])

    def cluster(self, context: str, token: str | None = None) -> Cluster:
        return Cluster(context, self.url, token or self.token)

    def _done(self, method: str, path: str, body: Any = None, content: str = "") -> Any:
        status, answer = self.request(method, path, body, content)
        assert status < 300, (method, path, status, answer)
        return answer


def encoded(text: str | bytes) -> str:
    data = text if isinstance(text, bytes) else text.encode()
    return base64.b64encode(data).decode()


def held(secret: dict[str, Any] | None) -> Any:
    """The docker config that a Secret holds."""
    assert secret is not None
    return json.loads(base64.b64decode(secret["data"][KEY]))


def auth(text: str) -> str:
    """An ``auth`` value for an example password."""
    return encoded(f"user:example-password-{text}")


def docker_config(**registries: str) -> dict[str, Any]:
    """``docker_config(quay_io="one")``: underscores stand for dots."""
    return {"auths": {name.replace("_", "."): {"auth": auth(text)} for name, text in registries.items()}}
