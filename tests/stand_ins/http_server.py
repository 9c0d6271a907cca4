# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An HTTP/1.1 server in a thread of this process: aiohttp without its logs.

Bodies and headers hold pull secrets and tokens, which no log and no traceback may show.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import threading
import traceback
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote

from aiohttp import web

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

# It quotes headers that cannot be read.
_AIOHTTP_LOG = logging.getLogger(__name__)
_AIOHTTP_LOG.disabled = True
_LONGEST_LINE = 64 * 1024  # bytes, of a path with its query and of a header


class Server:
    """Serves between ``start`` and ``stop``, on a free port.

    :param answer: is called in the server's thread, for many requests at the same time.
    """

    def __init__(
        self,
        answer: Callable[[Request], Awaitable[Answer]],
        host: str = "127.0.0.1",
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._answer = answer
        self._context = context
        self._socket = socket.create_server((host, 0), backlog=512)
        self.address = f"{host}:{self._socket.getsockname()[1]}"
        self.url = f"{'https' if context else 'http'}://{self.address}"
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(ThreadPoolExecutor(64))
        self._server = web.Server(
            self._handle,
            loop=self._loop,
            handler_cancellation=True,
            access_log=None,
            logger=_AIOHTTP_LOG,
            max_line_size=_LONGEST_LINE,
            max_field_size=_LONGEST_LINE,
        )
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
        self._loop.call_soon_threadsafe(self._abort)

    def _abort(self) -> None:
        for connection in self._server.connections:
            if connection.transport:
                connection.transport.abort()

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        listener = await self._loop.create_server(self._server, sock=self._socket, ssl=self._context)
        await self._stopped.wait()
        listener.close()
        self._abort()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _handle(self, got: web.BaseRequest) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in got.headers.items()}
        # Unlike ``got.read()``, this has no limit.
        request = Request(got.method, got.raw_path, headers, await got.content.read())
        try:
            answer = await self._answer(request)
        except Exception:
            traceback.print_exc()  # aiohttp answers with 500
            raise
        if answer is None:
            if got.transport:
                got.transport.abort()
            return web.Response()
        headers = {**({"Content-Type": answer.content_type} if answer.content_type else {}), **answer.headers}
        if answer.stream is None:
            return web.Response(status=answer.code, body=answer.body, headers=headers)
        response = web.StreamResponse(status=answer.code, headers=headers)
        response.enable_chunked_encoding()
        await response.prepare(got)
        async for part in answer.stream:
            await response.write(part)
        return response
