# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Listing and watching one Secret without its content.

Asked for as a Table without objects (``includeObject=None``), which is what ``kubectl get`` prints: the
server sends names, types and resourceVersions. Values stay there, and so do annotations, where ``kubectl
apply`` leaves the values a second time; PartialObjectMetadata would bring those.
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
from asyncio import sslproto
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, Optional, TypeVar
from urllib.parse import quote

import aiohttp
from aiohttp.http_exceptions import LineTooLong

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.access import Access
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.addresses import (
    FORBIDDEN,
    is_forbidden,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.embedded import astray
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    NotFound,
    PermissionDenied,
    Unavailable,
)

__all__ = ["Api", "Failed", "Found", "Gone", "Named", "Nonsense", "Refused"]

T = TypeVar("T")

_TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
# Seconds for a request that is answered at once.
_CALL = aiohttp.ClientTimeout(total=20, sock_connect=10)
_BEGUN = 20.0
# Calls and handshakes at the same time: a fleet's start is work for both sides.
_AT_ONCE = 64
# Bytes of an answer: a table of one Secret is some hundred, a Secret at most a MiB and a half.
_LARGEST_TABLE = 256 * 1024
_LARGEST = 8 * 1024 * 1024
_READ = 16 * 1024
_KINDS = ("ADDED", "MODIFIED", "DELETED", "BOOKMARK")
# Events of one watch after which it rests for so many seconds: 200 a second are more than anybody needs.
_BURST = 10
_REST = 0.05
# Addresses of servers that do not answer; a tenant's kubeconfig may bring a new one each time.
_REMEMBERED = 100_000
# Seconds after which a server is to end a watch: less than the silence, since one on which nothing happens
# sends no bookmarks either, and no watch lives on for long with a token that was withdrawn.
_WATCH = (240, 300)


class Failed(Exception):
    """The server answered, and not with what was asked for. ``status`` is HTTP's."""

    def __init__(self, status: int, retry_after: Optional[str] = None) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.retry_after = retry_after


class Refused(Failed):
    """Nothing will change until a person does something: 401, 403, and what is no such server."""


class Nonsense(Refused):
    """What was sent is no answer to what was asked. ``status`` is 200."""

    def __init__(self) -> None:
        super().__init__(200)


class Gone(Failed):
    """410: what happened since is no longer known, so list again."""


class Named(NamedTuple):
    """One Secret of the API server that is asked."""

    namespace: str
    name: str


class Found(NamedTuple):
    """``version``: the Secret's resourceVersion, "" where there is none; ``at``: from where to watch."""

    version: str
    at: str


class Api:
    """Requests to any number of API servers; close it."""

    def __init__(self, silence: float) -> None:
        self._silence = silence
        # What a kubeconfig in a Secret leads to has connections of its own.
        self._sessions: dict[bool, aiohttp.ClientSession] = {}
        # Who did not answer the last time waits for others like it, and holds up nobody else.
        self._silent: set[str] = set()
        self._slots = {silent: asyncio.Semaphore(_AT_ONCE) for silent in (False, True)}

    async def read(self, access: Access, path: str) -> Any:
        """An object or a list as it is.

        :raises PullSecretError: naming the path, since it is not the Secret that is watched.
        """
        async with self._slot(access):
            response = await self._get(access, path, {}, _CALL, "application/json")
            try:
                if response.status == 200:
                    return await _content(response, _LARGEST)
            finally:
                response.release()
        text = f"GET {path}: HTTP {response.status}"
        if response.status in (401, 403):
            raise PermissionDenied(text)
        raise NotFound(text) if response.status == 404 else Unavailable(text)

    async def find(self, access: Access, secret: Named) -> Found:
        """The Secret's state, and from where on a watch has to tell what came after it."""
        async with self._slot(access):
            listed = await self._table(access, _path(secret), {"fieldSelector": _selector(secret)})
            if not listed["rows"]:
                return Found("", listed["version"])
            # A list as a table has no versions of its rows. What happens between the two is seen twice: here,
            # and in the watch, which its version tells apart.
            try:
                one = await self._table(access, f"{_path(secret)}/{quote(secret.name, safe='')}", {})
            except Failed as error:
                if error.status != 404:
                    raise
                return Found("", listed["version"])
            return Found(one["version"], listed["version"])

    @asynccontextmanager
    async def watch(self, access: Access, secret: Named, at: str) -> AsyncIterator[AsyncIterator[Any]]:
        """Gives what gives ``(type, resourceVersion)`` of each event, until the server ends it.

        :raises Gone: at the beginning or later.
        :raises aiohttp.ClientError: the connection is lost; also OSError, and TimeoutError after a silence.
        """
        parameters = {
            "watch": "1",
            "fieldSelector": _selector(secret),
            "resourceVersion": at,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(random.randint(*_WATCH)),  # noqa: S311 - not for a secret
        }
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=self._silence)
        async with self._slot(access):
            # A watch begins at once, with or without events.
            response = await _within(_BEGUN, self._get(access, _path(secret), parameters, timeout))
        try:
            _check(response)
            _keep_alive(response)
            yield _events(response)
        finally:
            # Not back into the pool: it is in the middle of an answer.
            response.close()

    async def close(self) -> None:
        for session in self._sessions.values():
            await session.close()

    @asynccontextmanager
    async def _slot(self, access: Access) -> AsyncIterator[None]:
        """May ask; whether the server answered is remembered."""
        async with self._slots[access.url in self._silent]:
            try:
                yield
            except (aiohttp.ClientError, asyncio.TimeoutError, TimeoutError, OSError):
                if len(self._silent) < _REMEMBERED:
                    self._silent.add(access.url)
                raise
            except Failed:
                self._silent.discard(access.url)
                raise
        self._silent.discard(access.url)

    async def _table(self, access: Access, path: str, parameters: dict[str, str]) -> dict[str, Any]:
        response = await self._get(access, path, parameters, _CALL)
        try:
            _check(response)
            return _version(await _content(response, _LARGEST_TABLE))
        finally:
            response.release()

    async def _get(
        self,
        access: Access,
        path: str,
        parameters: dict[str, str],
        timeout: aiohttp.ClientTimeout,
        accept: str = _TABLE,
    ) -> aiohttp.ClientResponse:
        embedded = access.embedded
        try:
            return await self._session(embedded is not None).get(
                access.url + path,
                params={**parameters, "includeObject": "None"} if accept == _TABLE else parameters,
                headers={"Accept": accept, "Accept-Encoding": "identity", **access.headers()},
                ssl=access.tls or True,
                server_hostname=access.server_name,
                proxy=access.proxy,
                timeout=timeout,
                # A token is for the server that was named.
                allow_redirects=False,
            )
        except aiohttp.ClientConnectorError as error:
            if embedded is None or not isinstance(error.os_error, _Forbidden):
                raise
        raise astray(embedded.where)

    def _session(self, careful: bool) -> aiohttp.ClientSession:
        """:param careful: connect to no forbidden address."""
        if careful not in self._sessions:
            _save_memory()
            # No limit: a watch holds its connection. The environment's proxies count, as with kubectl.
            connector = aiohttp.TCPConnector(
                limit=0, ttl_dns_cache=30, socket_factory=_allowed if careful else None
            )
            self._sessions[careful] = aiohttp.ClientSession(
                connector=connector,
                trust_env=True,
                cookie_jar=aiohttp.DummyCookieJar(),
                # What is small when it is sent may be large when it is unpacked.
                auto_decompress=False,
            )
        return self._sessions[careful]


class _Forbidden(OSError):
    """Each address that a name has is tried, and this is one of them."""


def _allowed(found: aiohttp.AddrInfoType) -> socket.socket:
    """A socket for the address that is connected to next, the server's or a proxy's."""
    family, kind, protocol, _name, address = found
    if is_forbidden(str(address[0])):
        raise _Forbidden(FORBIDDEN)
    return socket.socket(family, kind, protocol)


def _save_memory() -> None:
    """Let asyncio keep 16 KiB, as much as TLS sends at once, for what a connection reads, and not 256."""
    if getattr(sslproto.SSLProtocol, "max_size", 0) > _READ:
        sslproto.SSLProtocol.max_size = _READ


async def _within(seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """:raises TimeoutError: it was ended. (asyncio.wait_for of Python < 3.12 may lose a cancellation.)"""
    task = asyncio.create_task(work)
    try:
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            raise asyncio.TimeoutError
        return task.result()
    finally:
        task.cancel()


async def _content(response: aiohttp.ClientResponse, largest: int) -> Any:
    """:raises Nonsense: it is larger than any such answer, or no JSON."""
    content = b""
    while part := await response.content.read(65536):
        content += part
        if len(content) > largest:
            response.close()
            raise Nonsense
    return _parsed(content)


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise Nonsense from None


async def _lines(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    lines = response.content.__aiter__()
    while True:
        try:
            yield await lines.__anext__()
        except StopAsyncIteration:
            return
        except (ValueError, LineTooLong):
            # A line without an end.
            raise Nonsense from None


async def _events(response: aiohttp.ClientResponse) -> AsyncIterator[tuple[str, str]]:
    count = 0
    async for line in _lines(response):
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
            # What is buffered already comes without a pause, and everybody else waits for this thread.
            await asyncio.sleep(_REST)


def _version(table: Any) -> dict[str, Any]:
    """A table's version and rows; :raises Refused: the server sends something else, which may hold values."""
    version = None
    if isinstance(table, dict) and table.get("kind") == "Table":
        metadata = table.get("metadata")
        version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    # It will be in events and in addresses.
    if not isinstance(version, str) or not (version.isascii() and version.isalnum() and len(version) <= 64):
        raise Refused(406)
    return {"version": version, "rows": table.get("rows")}


def _check(response: aiohttp.ClientResponse) -> None:
    if response.status != 200:
        raise _failure(response.status, response.headers.get("Retry-After"))


def _failure(status: int, retry_after: Optional[str] = None) -> Failed:
    kinds = {410: Gone, 401: Refused, 403: Refused, 406: Refused}
    return kinds.get(status, Failed)(status, retry_after)


def _keep_alive(response: aiohttp.ClientResponse) -> None:
    """Lets the kernel notice within a minute that the other side is gone without a word."""
    transport = response.connection and response.connection.transport
    found = transport.get_extra_info("socket") if transport else None
    if found is not None and hasattr(socket, "TCP_KEEPIDLE"):
        found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 20)
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10)
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)


def _path(secret: Named) -> str:
    return f"/api/v1/namespaces/{quote(secret.namespace, safe='')}/secrets"


def _selector(secret: Named) -> str:
    return f"metadata.name={secret.name}"
