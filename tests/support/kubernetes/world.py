# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Kubernetes that tests talk to: the stand-in or the real control plane, behind a proxy."""

from __future__ import annotations

import asyncio
import itertools
import secrets
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import urllib3

from tests.lab.session import REAL, KubernetesEnv
from tests.lab.supervisor import wait_until
from tests.stand_ins.client import ask
from tests.stand_ins.http_server import Request, Response
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.stand_ins.kubernetes.faults import FaultyServer
from tests.stand_ins.kubernetes.resources import RESOURCES
from tests.stand_ins.kubernetes.routing import Target

if TYPE_CHECKING:
    from tests.lab.control_plane.cluster import State

MUTATING = ("create", "update", "patch", "delete", "deletecollection")
# Headers that are about a connection, of which a proxy has two.
_OF_CONNECTIONS = {"connection", "transfer-encoding", "content-length", "host", "keep-alive"}
_numbers = itertools.count(1)
_run = secrets.token_hex(3)


def path(namespace: str, kind: str, name: str = "") -> str:
    """Where an object is, or the list of its kind; ``kind`` is a plural."""
    return f"/{RESOURCES[kind].base}/namespaces/{namespace}/{kind}" + (f"/{name}" if name else "")


class Admin:
    """Requests to an API server as its admin."""

    def __init__(self, env: KubernetesEnv | State) -> None:
        self.token = env.token
        self._upstream = env.url
        self._tls = ssl.create_default_context(cafile=env.ca_file) if env.ca_file else None

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        content: str = "",
        token: str | None = None,
    ) -> tuple[int, Any]:
        """Any request: status and decoded body."""
        to = self._upstream, method, path, body
        return ask(*to, token=token or self.token, content=content, ca=self._tls)

    def new_name(self, prefix: str = "t") -> str:
        """A name that no other test has used on this server."""
        return f"{prefix}-{_run}-{next(_numbers)}"

    def namespace(self, name: str | None = None) -> str:
        """Make a namespace."""
        name = name or self.new_name("ns")
        self.post("/api/v1/namespaces", {"metadata": {"name": name}})
        return name

    def create(self, namespace: str, kind: str, body: dict[str, Any]) -> Any:
        return self.post(path(namespace, kind), body)

    def secret(self, namespace: str, name: str) -> Any:
        """The secret, or None."""
        return self.get(namespace, "secrets", name)

    def put_secret(self, namespace: str, name: str, data: dict[str, str], kind: str = "Opaque") -> None:
        """Create the Secret, or give the one that is there this data."""
        if self.secret(namespace, name) is None:
            self.create(namespace, "secrets", {"metadata": {"name": name}, "type": kind, "data": data})
        else:
            self.merge(namespace, "secrets", name, {"data": data})

    def get(self, namespace: str, kind: str, name: str) -> Any:
        """The object, or None."""
        status, body = self.request("GET", path(namespace, kind, name))
        return body if status == 200 else None

    def items(self, namespace: str, kind: str) -> list[Any]:
        """All objects of a kind."""
        return list(self._done("GET", path(namespace, kind))["items"])

    def names(self, namespace: str, kind: str) -> list[str]:
        return sorted(item["metadata"]["name"] for item in self.items(namespace, kind))

    def merge(self, namespace: str, kind: str, name: str, patch: dict[str, Any]) -> Any:
        """A merge patch, as another writer would make it."""
        return self._done("PATCH", path(namespace, kind, name), patch)

    def delete(self, namespace: str, kind: str, name: str) -> None:
        self._done("DELETE", path(namespace, kind, name))

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Create anything."""
        return self._done("POST", path, body)

    def _done(self, method: str, path: str, body: Any = None) -> Any:
        status, answer = self.request(method, path, body)
        assert status < 300, (method, path, status, answer)
        return answer


class Api(Admin, FaultyServer):
    """An API server; ``url`` leads through a proxy, the methods talk to the server itself as its admin.

    The proxy counts ``calls`` and injects ``faults``, whichever server it is.
    """

    def __init__(self, env: KubernetesEnv) -> None:
        Admin.__init__(self, env)
        FaultyServer.__init__(self)
        self.viewer_token = env.viewer_token
        self.real = env.kind == REAL
        self._pool = urllib3.PoolManager(maxsize=64, ssl_context=self._tls, retries=False, timeout=60)

    def before(self, verb: str, path: str, act: Callable[[], Any], times: int = 1) -> None:
        """Run ``act`` before a matching call reaches the server."""
        self.faults.add(verb=verb, path=path, act=act, times=times)

    async def handle(self, request: Request, _target: Target | None) -> Response:
        return await asyncio.to_thread(self._forward, request)

    def _forward(self, request: Request) -> Response:
        headers = {name: value for name, value in request.headers.items() if name not in _OF_CONNECTIONS}
        found = self._pool.request(
            request.method,
            self._upstream + request.target,
            body=request.body or None,
            headers=headers,
            redirect=False,
            decode_content=False,
        )
        headers = {
            name: value for name, value in found.headers.items() if name.lower() not in _OF_CONNECTIONS
        }
        return Response(found.status, found.data, "", headers)

    def writes(self) -> list[str]:
        """The calls so far that could have changed something, as ``verb path``; dry runs are none."""
        return [
            f"{call.verb} {call.path}"
            for call in self.calls.matching()
            if call.verb in MUTATING and "dryRun" not in call.query
        ]

    def wait_allowed(self, token: str, path: str) -> None:
        """RBAC changes reach the authorizer a moment after they were made."""
        wait_until(lambda: self.request("GET", path, token=token)[0] != 403, f"GET {path} is allowed")

    def kubeconfig(self, path: Path, token: str | None = None, context: str = "mgmt-1") -> Path:
        """A kubeconfig that leads through the proxy."""
        return write_kubeconfig(path, [self.cluster(context, token)])

    def cluster(self, context: str, token: str | None = None) -> Cluster:
        return Cluster(context, self.url, token or self.token)
