# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The accesses for watches: one per connection, created again when its server refused it.

``clients.kubernetes.watch_access`` builds them. This module knows which connection has its kubeconfig in a
Secret.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from contextlib import AbstractAsyncContextManager
from typing import Any, Callable, Protocol

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.hosted_control_plane import (
    field_of,
    kubeconfig_secret,
    secret_path,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.settings import (
    KubeconfigSecret,
    ServerOptions,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.connection import (
    kubernetes_connection,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.watch_access import (
    Access,
    AccessBuilder,
    embedded_access,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.shown import shown

__all__ = ["Accesses"]


class Reader(Protocol):
    """Reads from an API server."""

    async def read(self, path: str) -> Any:
        """Return the response to a GET of a path."""


Reach = Callable[[Access], AbstractAsyncContextManager["Reader"]]


class Accesses:
    """One access per connection, however many secrets are watched over it."""

    def __init__(self, reach: Reach) -> None:
        """:param reach: connects to a cluster that keeps other clusters' kubeconfigs."""
        self._reach = reach
        self._builder = AccessBuilder()
        self._made: dict[ServerOptions, asyncio.Task[Access]] = {}

    async def get(self, connection: ServerOptions) -> Access:
        """:raises PullSecretError: names what cannot be used; the next call tries again."""
        task = self._made.get(connection)
        if task is None:
            task = self._made[connection] = asyncio.create_task(self._make(connection))
        try:
            # Others also wait for it when this task is cancelled.
            return await asyncio.shield(task)
        except Exception:
            self._drop(connection, task)
            raise

    def forget(self, connection: ServerOptions, access: Access | None) -> None:
        """Create it again the next time, unless another task already has."""
        task = self._made.get(connection)
        if task and task.done() and (task.cancelled() or task.exception() or task.result() is access):
            self._drop(connection, task)

    def keep_only(self, connections: set[ServerOptions]) -> None:
        """Forget accesses that are no longer used."""
        for connection in self._made.keys() - connections:
            del self._made[connection]

    def _drop(self, connection: ServerOptions, task: asyncio.Task[Access]) -> None:
        if self._made.get(connection) is task:
            del self._made[connection]

    async def _make(self, connection: ServerOptions) -> Access:
        if connection.secret:
            return await self._of_secret(connection.secret)
        wanted = kubernetes_connection(
            {
                "kubeconfig": connection.kubeconfig,
                "context": connection.context,
                "host": connection.host,
                "ca_cert": connection.ca_cert,
                "validate_certs": connection.validate_certs,
            }
        )
        return await self._builder.build(wanted, connection.api_key_file)

    async def _of_secret(self, secret: KubeconfigSecret) -> Access:
        management = await self.get(secret.management)
        async with self._reach(management) as server:

            async def read(path: str) -> Any:
                try:
                    return await server.read(path)
                except Exception:
                    self.forget(secret.management, management)
                    raise

            name, key = secret.name, secret.key
            if name is None:
                name, key = await kubeconfig_secret(read, secret.namespace, secret.plane)
            held = await read(secret_path(secret.namespace, name))
        where = f"secret {secret.namespace}/{name}"
        text = field_of(held, "data", key)
        if not isinstance(text, str):
            raise ConfigurationError(f"{where} has no key {shown(key)}")
        try:
            document = base64.b64decode(text)
        except (binascii.Error, ValueError):
            raise ConfigurationError(f"{where}: its key {shown(key)} is not base64") from None
        return await embedded_access(document, where)
