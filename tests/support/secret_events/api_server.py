# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Kubernetes stand-in as the event source meets it: its Secrets change, and it fails on demand."""

from __future__ import annotations

from typing import Any, Self

from tests.stand_ins.http_server import Request, Response
from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.kubernetes.resources import RESOURCES
from tests.stand_ins.kubernetes.routing import ADMIN, Target

# What must be nowhere outside of this server.
CANARY = "canary-example-password"
TOKEN = "example-token"

_APPLIED = {"kubectl.kubernetes.io/last-applied-configuration": CANARY}


class ApiServer(KubernetesLab):
    """``async with ApiServer() as server``.

    ``older_form`` ignores that a client asks for tables.
    """

    def __init__(self) -> None:
        super().__init__(admin_token=TOKEN)
        self.older_form = False

    async def __aenter__(self) -> Self:
        return self.start()

    async def __aexit__(self, *_unused: object) -> None:
        self.stop()

    def put(self, plural: str, namespace: str, name: str, **fields: Any) -> int:
        """Create or replace an object; return its version."""
        with self.store.lock:
            old = self.store.find(plural, namespace, name)
            metadata = old["metadata"] if old else {"namespace": namespace, "name": name}
            obj = {"metadata": {**metadata, "annotations": _APPLIED}, **fields}
            (self.store.replace if old else self.store.create)(RESOURCES[plural], obj)
            return self.store.version

    def change(self, namespace: str, name: str) -> int:
        """Create a Secret, or change it; return its version."""
        return self.put("secrets", namespace, name, type="Opaque", data={"password": CANARY})

    def delete(self, namespace: str, name: str) -> int:
        with self.store.lock:
            self.store.remove(RESOURCES["secrets"], namespace, name)
            return self.store.version

    @property
    def watches(self) -> int:
        """How many are open."""
        return len(self.store.watchers)

    def drop(self) -> None:
        """End all connections without a word."""
        self.server.drop()

    def refuse(self, status: int) -> None:
        """Answer every request with this error, until the faults are cleared."""
        self.faults.add(status=status, message=CANARY, times=None)

    def accept(self, token: str) -> None:
        """Accept this token and no other."""
        self.tokens.clear()
        self.tokens[token] = ADMIN

    async def handle(self, request: Request, target: Target | None) -> Response:
        if self.older_form:
            request.headers = {**request.headers, "accept": "application/json"}
        return await super().handle(request, target)
