# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An API server that has Secrets and nothing else, and fails on demand; also as a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from aiohttp import web

# What must be nowhere outside of this server.
CANARY = "canary-example-password"
TOKEN = "example-token"

Key = tuple[str, str]
Event = tuple[int, Key, str]


class ApiServer:
    """``async with ApiServer() as server``: ``url``, ``change``, ``delete``, and the faults."""

    def __init__(self) -> None:
        self.secrets: dict[Key, int] = {}
        self.objects: dict[str, Any] = {}
        self.refuse: int | None = None
        self.tokens = {TOKEN}
        self.silent = False
        self.older_form = False
        self.before_get: Callable[[], None] | None = None
        self.requests: Counter[str] = Counter()
        self.watches = 0
        # From where each watch wanted to go on.
        self.resumed: list[int] = []
        self.url = ""
        self._version = 100
        self._forgotten = 0
        self._events: list[Event] = []
        self._moved = asyncio.Condition()
        self._transports: set[asyncio.BaseTransport] = set()

    def change(self, namespace: str, name: str) -> int:
        """Create the Secret, or change it; its new version."""
        key = (namespace, name)
        kind = "MODIFIED" if key in self.secrets else "ADDED"
        self._version += 1
        self.secrets[key] = self._version
        self._events.append((self._version, key, kind))
        self._wake()
        return self._version

    def delete(self, namespace: str, name: str) -> None:
        self._version += 1
        del self.secrets[namespace, name]
        self._events.append((self._version, (namespace, name), "DELETED"))
        self._wake()

    def forget(self) -> None:
        """A watch that resumes now gets 410."""
        self._version += 1
        self._forgotten = self._version
        self._events.clear()

    def drop(self) -> None:
        """End all connections without a word."""
        for transport in list(self._transports):
            transport.abort()  # type: ignore[attr-defined]

    async def until(self, true: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            async with self._moved:
                await self._moved.wait_for(true)

    async def __aenter__(self) -> ApiServer:
        app = web.Application()
        app.router.add_get("/api/v1/namespaces/{namespace}/secrets", self._collection)
        app.router.add_get("/api/v1/namespaces/{namespace}/secrets/{name}", self._one)
        app.router.add_get("/apis/{path:.*}", self._other)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, backlog=2048)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *unused: object) -> None:
        self.drop()
        await self._runner.cleanup()

    def _wake(self) -> None:
        async def notify() -> None:
            async with self._moved:
                self._moved.notify_all()

        self._waking = asyncio.get_running_loop().create_task(notify())

    def _refused(self, request: web.Request) -> web.Response | None:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        status = self.refuse or (None if token in self.tokens else 401)
        self.requests[str(status or 200)] += 1
        self._wake()
        return web.json_response(_status(status), status=status) if status else None

    async def _one(self, request: web.Request) -> web.Response:
        self.requests["get"] += 1
        if request.path in self.objects:
            return self._refused(request) or web.json_response(self.objects[request.path])
        if self.before_get:
            self.before_get()
        key = (request.match_info["namespace"], request.match_info["name"])
        if refused := self._refused(request):
            return refused
        if key not in self.secrets:
            return web.json_response(_status(404), status=404)
        return web.json_response(self._object(request, key, self.secrets[key]))

    async def _other(self, request: web.Request) -> web.Response:
        found = self.objects.get(request.path, _status(404))
        return self._refused(request) or web.json_response(found, status=found.get("code", 200))

    async def _collection(self, request: web.Request) -> web.StreamResponse:
        verb = "watch" if request.query.get("watch") else "list"
        self.requests[verb] += 1
        if refused := self._refused(request):
            return refused
        name = request.query["fieldSelector"].removeprefix("metadata.name=")
        key = (request.match_info["namespace"], name)
        if verb == "watch":
            return await self._watch(request, key)
        if self._tables(request):
            rows = [_row(name)] if key in self.secrets else []
            return web.json_response(_table(self._version, rows, columns=True))
        items = [_secret(key, self.secrets[key])] if key in self.secrets else []
        return web.json_response({"kind": "SecretList", "metadata": {}, "items": items})

    async def _watch(self, request: web.Request, key: Key) -> web.StreamResponse:
        at = int(request.query["resourceVersion"])
        self.resumed.append(at)
        if at < self._forgotten:
            return web.json_response(_status(410), status=410)
        stream = web.StreamResponse()
        stream.content_type = "application/json"
        stream.enable_chunked_encoding()
        await stream.prepare(request)
        assert request.transport
        self._transports.add(request.transport)
        self.watches += 1
        self._wake()
        try:
            while True:
                async with self._moved:
                    await self._moved.wait_for(lambda at=at: not self.silent and self._version > at)  # type: ignore[misc]
                if at < self._forgotten:
                    await self._send(stream, "ERROR", _status(410))
                    return stream
                found = [event for event in self._events if event[0] > at and event[1] == key]
                at = self._version
                for version, _key, kind in found:
                    await self._send(stream, kind, self._object(request, key, version))
                if not found:
                    await self._send(stream, "BOOKMARK", self._object(request, key, at))
        finally:
            self.watches -= 1
            self._transports.discard(request.transport)
            self._wake()

    async def _send(self, stream: web.StreamResponse, kind: str, content: Any) -> None:
        await stream.write(json.dumps({"type": kind, "object": content}).encode() + b"\n")

    def _tables(self, request: web.Request) -> bool:
        table = "as=Table" in request.headers["Accept"] and request.query.get("includeObject") == "None"
        return table and not self.older_form

    def _object(self, request: web.Request, key: Key, version: int) -> Any:
        return _table(version, [_row(key[1])]) if self._tables(request) else _secret(key, version)


def _table(version: int, rows: list[Any], *, columns: bool = False) -> Any:
    names = ["Name", "Type", "Data", "Age"] if columns else []
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": str(version)},
        "columnDefinitions": [{"name": name} for name in names] or None,
        "rows": rows,
    }


def _row(name: str) -> Any:
    return {"cells": [name, "kubernetes.io/dockerconfigjson", 1, "5s"], "object": None}


def _secret(key: Key, version: int) -> Any:
    applied = {"kubectl.kubernetes.io/last-applied-configuration": CANARY}
    metadata = {"namespace": key[0], "name": key[1], "resourceVersion": str(version), "annotations": applied}
    return {"kind": "Secret", "apiVersion": "v1", "metadata": metadata, "data": {"password": CANARY}}


def _status(code: int) -> Any:
    return {"kind": "Status", "status": "Failure", "code": code, "message": CANARY, "metadata": {}}


@contextlib.asynccontextmanager
async def lines() -> AsyncIterator[asyncio.StreamReader]:
    """Standard input, which gives lines that are there already without a pause."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _protocol = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    yield reader
    transport.close()


async def _serve(ready: Path) -> None:
    """Write the address into a file, and make a change for each line of standard input: ``NAMESPACE NAME``."""
    async with ApiServer() as server, lines() as reader:
        fresh = ready.with_suffix(".new")
        fresh.write_text(server.url)
        fresh.replace(ready)
        while line := await reader.readline():
            server.change(*line.decode().split())


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])))
