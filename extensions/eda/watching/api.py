# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lists and watches one Secret without its content.

SecretReader requests a Table without objects (``includeObject=None``), as ``kubectl get`` does: the server
sends names, types and resourceVersions, but neither values nor annotations. ``kubectl apply`` copies the values
into an annotation, which PartialObjectMetadata would include.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, NamedTuple
from urllib.parse import quote

import anyio

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.watch_access import (
    Access,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.watch_transport import (
    NoAnswer,
    Server,
    WatchAnswer,
    load_http_library,
    reach,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    NotFound,
    PermissionDenied,
    Unavailable,
)

__all__ = [
    "COLLECTIONS",
    "ApiServers",
    "Found",
    "Named",
    "Nonsense",
    "SecretReader",
    "WatchExpired",
    "WatchFailed",
    "WatchRefused",
]

COLLECTIONS = {
    "clusters": tuple(f"/apis/cluster.x-k8s.io/{version}/clusters" for version in ("v1beta2", "v1beta1")),
    "namespaces": ("/api/v1/namespaces",),
}
"""The kinds that may be watched as a whole, with the paths of their lists, the newest version first."""
_JSON = "application/json"
_TABLE = f"{_JSON};as=Table;g=meta.k8s.io;v=v1"
# Seconds for a complete response, and for the beginning of a watch.
_CALL = 20.0
_BEGUN = 20.0
# Concurrent calls and handshakes, because the start of thousands of watches is work for both sides.
_AT_ONCE = 64
# Bytes of a response: a table of one Secret has some hundred, a Secret at most 1.5 MiB.
_LARGEST_TABLE = 256 * 1024
_LARGEST = 8 * 1024 * 1024
_LONGEST_LINE = 128 * 1024
_KINDS = ("ADDED", "MODIFIED", "DELETED", "BOOKMARK")
# After _BURST events, a watch pauses for _REST seconds: 200 events per second are enough.
_BURST = 10
_REST = 0.05
# Addresses of servers that do not answer; a tenant's kubeconfig may have a new one each time.
_REMEMBERED = 100_000
# Seconds after which a server must end a watch. It is less than the silence, because an idle watch sends no
# bookmarks either, and no watch may live long with a revoked token.
_WATCH = (240, 300)


class WatchFailed(Exception):
    """The server answered with an error. ``status`` is the HTTP status."""

    def __init__(self, status: int, retry_after: str | None = None) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.retry_after = retry_after


class WatchRefused(WatchFailed):
    """A person must act first: 401, 403, or the server is not a Kubernetes API server."""


class Nonsense(WatchRefused):
    """The response does not fit the request. ``status`` is 200."""

    def __init__(self) -> None:
        super().__init__(200)


class WatchExpired(WatchFailed):
    """410: the version is too old, so list again."""


class Named(NamedTuple):
    """One Secret of the API server, or all objects of a kind.

    :param name: of the Secret, or the plural of the kind.
    :param path: of the kind's list; empty for a Secret.
    """

    namespace: str
    name: str
    path: str = ""
    selector: str = ""


class Found(NamedTuple):
    """``version``: the Secret's resourceVersion, "" if it does not exist; ``at``: the version to watch from."""

    version: str
    at: str


class ApiServers:
    """Requests to any number of API servers."""

    def __init__(self, silence: float) -> None:
        """:raises ConfigurationError: a package for watches is missing."""
        load_http_library()
        self.silence = silence
        # Servers that did not answer their last call have separate slots, so they do not delay the others.
        self._silent: set[str] = set()
        self._slots = {silent: asyncio.Semaphore(_AT_ONCE) for silent in (False, True)}

    @asynccontextmanager
    async def reach(self, access: Access) -> AsyncIterator[SecretReader]:
        """One API server, over connections that end with the context."""
        async with reach(access) as server:
            yield SecretReader(self, server)

    @asynccontextmanager
    async def slot(self, access: Access) -> AsyncIterator[None]:
        """Wait for permission to call; remember whether the server answered."""
        async with self._slots[access.url in self._silent]:
            try:
                yield
            except (NoAnswer, asyncio.TimeoutError, TimeoutError, OSError):
                if len(self._silent) < _REMEMBERED:
                    self._silent.add(access.url)
                raise
            except WatchFailed:
                self._silent.discard(access.url)
                raise
        self._silent.discard(access.url)


class SecretReader:
    """One API server, used by one task at a time."""

    def __init__(self, servers: ApiServers, server: Server) -> None:
        self._servers = servers
        self._server = server

    async def read(self, path: str) -> Any:
        """Return an object or a list unchanged.

        :raises PullSecretError: names the path, because it is not the watched Secret.
        """
        async with self._servers.slot(self._server.access):
            with anyio.fail_after(_CALL):
                async with self._server.get(path, {}, _JSON, head=_CALL, silence=_CALL) as answer:
                    if answer.status == 200:
                        return await _content(answer, _LARGEST)
        text = f"GET {path}: HTTP {answer.status}"
        if answer.status in (401, 403):
            raise PermissionDenied(text)
        raise NotFound(text) if answer.status == 404 else Unavailable(text)

    async def collection(self, kind: str, selector: str) -> Named:
        """Return all objects of a kind, in the newest version that the server has."""
        paths = COLLECTIONS[kind]
        for path in paths[:-1]:
            try:
                async with self._servers.slot(self._server.access):
                    await self._table(path, {"limit": "1"})
            except WatchFailed as error:
                if error.status != 404:
                    raise
            else:
                return Named("", kind, path, selector)
        return Named("", kind, paths[-1], selector)

    async def find(self, secret: Named) -> Found:
        """Return the Secret's state, and the version from which to watch."""
        async with self._servers.slot(self._server.access):
            if secret.path:
                version = (await self._table(secret.path, {**_chosen(secret), "limit": "1"}))["version"]
                return Found(version, version)
            listed = await self._table(_path(secret), _chosen(secret))
            if not listed["rows"]:
                return Found("", listed["version"])
            # A list as a Table has no versions of its rows. A change between both requests appears twice, here and
            # in the watch, with the same version.
            try:
                one = await self._table(f"{_path(secret)}/{quote(secret.name, safe='')}", {})
            except WatchFailed as error:
                if error.status != 404:
                    raise
                return Found("", listed["version"])
            return Found(one["version"], listed["version"])

    @asynccontextmanager
    async def watch(self, secret: Named, at: str) -> AsyncIterator[AsyncIterator[Any]]:
        """Yield ``(type, resourceVersion)`` of each event, until the server ends the watch.

        :raises WatchExpired: at the beginning or later.
        :raises NoAnswer: the connection is lost.
        :raises TimeoutError: after a silence.
        """
        parameters = {
            "watch": "1",
            **_chosen(secret),
            "resourceVersion": at,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(random.randint(*_WATCH)),  # noqa: S311 - not for a secret
            "includeObject": "None",
        }
        # A watch begins at once, with or without events.
        opening = self._server.get(
            _path(secret), parameters, _TABLE, head=_BEGUN, silence=self._servers.silence
        )
        async with AsyncExitStack() as stack:
            async with self._servers.slot(self._server.access):
                answer = await stack.enter_async_context(opening)
            _check(answer)
            yield _events(answer)

    async def _table(self, path: str, parameters: dict[str, str]) -> dict[str, Any]:
        asked = {**parameters, "includeObject": "None"}
        with anyio.fail_after(_CALL):
            async with self._server.get(path, asked, _TABLE, head=_CALL, silence=_CALL) as answer:
                _check(answer)
                return _version(await _content(answer, _LARGEST_TABLE))


async def _content(answer: WatchAnswer, largest: int) -> Any:
    """:raises Nonsense: it is too large, or not JSON."""
    content = bytearray()
    async for part in answer.parts():
        content += part
        if len(content) > largest:
            raise Nonsense
    return _parsed(bytes(content))


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise Nonsense from None


async def _lines(answer: WatchAnswer) -> AsyncIterator[bytes]:
    kept = bytearray()
    async for part in answer.parts():
        kept += part
        while (end := kept.find(b"\n")) >= 0:
            line = bytes(kept[:end])
            del kept[: end + 1]
            yield line
        if len(kept) > _LONGEST_LINE:
            # A line without an end.
            raise Nonsense
    if kept:
        yield bytes(kept)


async def _events(answer: WatchAnswer) -> AsyncIterator[tuple[str, str]]:
    count = 0
    async for line in _lines(answer):
        event = _parsed(line)
        kind, content = (event.get("type"), event.get("object")) if isinstance(event, dict) else (None, None)
        if kind == "ERROR":
            code = content.get("code") if isinstance(content, dict) else None
            raise _failure(code if isinstance(code, int) else 500)
        if kind not in _KINDS:
            raise Nonsense
        yield kind, _version(content)["version"]
        count += 1
        if count % _BURST == 0:
            # Buffered data arrive without a pause, and all other tasks wait for this thread.
            await asyncio.sleep(_REST)


def _version(table: Any) -> dict[str, Any]:
    """Return a table's version and rows.

    :raises WatchRefused: the server sends another kind of object, which may hold values.
    """
    version = None
    if isinstance(table, dict) and table.get("kind") == "Table":
        metadata = table.get("metadata")
        version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    # The version will be part of events and URLs.
    if not isinstance(version, str) or not (version.isascii() and version.isalnum() and len(version) <= 64):
        raise WatchRefused(406)
    return {"version": version, "rows": table.get("rows")}


def _check(answer: WatchAnswer) -> None:
    if answer.status != 200:
        raise _failure(answer.status, answer.retry_after)


def _failure(status: int, retry_after: str | None = None) -> WatchFailed:
    kinds = {410: WatchExpired, 401: WatchRefused, 403: WatchRefused, 406: WatchRefused}
    return kinds.get(status, WatchFailed)(status, retry_after)


def _path(secret: Named) -> str:
    return secret.path or f"/api/v1/namespaces/{quote(secret.namespace, safe='')}/secrets"


def _chosen(secret: Named) -> dict[str, str]:
    if secret.path:
        return {"labelSelector": secret.selector}
    return {"fieldSelector": f"metadata.name={secret.name}"}
