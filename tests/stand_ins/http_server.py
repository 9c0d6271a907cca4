# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An HTTP/1.1 server in a thread of this process: asyncio, keep-alive, no log.

Bodies and headers hold pull secrets and tokens, which no log and no traceback may show.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import AsyncIterable, Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import responses
from typing import Any
from urllib.parse import parse_qsl, unquote

__all__ = ["Answer", "Request", "Response", "Server"]


@dataclass
class Request:
    """One request; header names are lower case, ``path`` is decoded."""

    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    path: str = field(init=False)
    query: dict[str, str] = field(init=False)
    query_string: str = field(init=False)

    def __post_init__(self) -> None:
        path, _mark, self.query_string = self.target.partition("?")
        self.path = unquote(path)
        self.query = dict(parse_qsl(self.query_string, keep_blank_values=True))


@dataclass
class Response:
    """An answer. With ``stream`` the body is what that gives, in chunks."""

    code: int
    body: bytes = field(default=b"", repr=False)
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    stream: AsyncIterable[bytes] | None = None


# None closes the connection without an answer.
Answer = Response | None


class Server:
    """Serves between ``start`` and ``stop``, on a free port.

    :param answer: is called in the server's thread. It returns the answer, or a coroutine where that takes time.
    """

    def __init__(
        self,
        answer: Callable[[Request], Answer | Coroutine[Any, Any, Answer]],
        host: str = "127.0.0.1",
        context: ssl.SSLContext | None = None,
    ) -> None:
        self.respond = answer
        self.connections: set[_Connection] = set()
        self._context = context
        self._socket = socket.create_server((host, 0), backlog=512)
        self.address = f"{host}:{self._socket.getsockname()[1]}"
        self.url = f"{'https' if context else 'http'}://{self.address}"
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(ThreadPoolExecutor(64))
        self._stopped = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="http-server", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Close every connection and wait for the thread to end."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._thread.join()

    def drop(self) -> None:
        """End all connections without a word."""
        for connection in self.connections.copy():
            self._loop.call_soon_threadsafe(connection.transport.abort)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        listener = await self._loop.create_server(
            lambda: _Connection(self), sock=self._socket, ssl=self._context
        )
        await self._stopped.wait()
        listener.close()
        for connection in list(self.connections):
            connection.transport.abort()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Connection(asyncio.Protocol):
    """One client connection: requests are answered one after the other, in their order."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.transport: asyncio.Transport
        self._buffer = bytearray()
        self._task: asyncio.Task[None] | None = None  # an answer that takes time

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.server.connections.discard(self)
        if self._task:
            self._task.cancel()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._next()

    def _next(self) -> None:
        while self._task is None and not self.transport.is_closing() and (request := self._parse()):
            answer = self.server.respond(request)
            if isinstance(answer, Coroutine) or (answer and answer.stream):
                self._task = asyncio.get_running_loop().create_task(self._take_time(request, answer))
            else:
                self._send(request, answer)

    async def _take_time(self, request: Request, answer: Answer | Coroutine[Any, Any, Answer]) -> None:
        try:
            found = await answer if isinstance(answer, Coroutine) else answer
            self._send(request, found)
            if found and found.stream:
                async for part in found.stream:
                    self.transport.write(b"%x\r\n%s\r\n" % (len(part), part))
                self.transport.write(b"0\r\n\r\n")
        except BaseException:
            self.transport.abort()
            raise
        self._task = None
        self._next()

    def _parse(self) -> Request | None:
        """Take one whole request from the buffer; None when there is none yet."""
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
        headers = {}
        for line in lines:
            name, _colon, value = line.partition(":")
            headers[name.lower()] = value.strip()
        stop = end + 4 + int(headers.get("content-length", 0))
        if len(self._buffer) < stop:
            return None
        body = bytes(self._buffer[end + 4 : stop])
        del self._buffer[:stop]
        method, target, _version = first.split(" ")
        return Request(method, target, headers, body)

    def _send(self, request: Request, answer: Answer) -> None:
        if answer is None:
            self.transport.abort()
            return
        head = [f"HTTP/1.1 {answer.code} {responses.get(answer.code, 'Unknown')}"]
        head += [f"{name}: {value}" for name, value in answer.headers.items()]
        if answer.content_type:
            head.append(f"Content-Type: {answer.content_type}")
        if answer.stream:
            head.append("Transfer-Encoding: chunked")
        elif answer.code != 204:
            head.append(f"Content-Length: {len(answer.body)}")
        self.transport.write(("\r\n".join(head) + "\r\n\r\n").encode("latin-1") + answer.body)
        if request.headers.get("connection", "").lower() == "close" and not answer.stream:
            self.transport.close()
