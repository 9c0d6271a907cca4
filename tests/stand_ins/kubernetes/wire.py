# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""HTTP/1.1 on asyncio's transports: keep-alive, one thread, no more of HTTP than API clients use."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable
from dataclasses import asdict
from http import HTTPStatus

from tests.stand_ins.kubernetes.api import Api, Request, Response, failure, route
from tests.stand_ins.kubernetes.faults import CallLog, Fault, FaultTable
from tests.stand_ins.kubernetes.routing import Target
from tests.stand_ins.kubernetes.status import ApiError
from tests.stand_ins.kubernetes.store import Event, Store

BODY_LIMIT = 3 * 1024 * 1024  # the real server's
HEAD_LIMIT = 64 * 1024


class World:
    """What all connections share."""

    def __init__(self, store: Store, api: Api, faults: FaultTable, calls: CallLog) -> None:
        self.store = store
        self.api = api
        self.faults = faults
        self.calls = calls
        self.connections: set[Connection] = set()


class Connection(asyncio.Protocol):
    """One client connection: requests are answered one after the other, in their order."""

    def __init__(self, world: World, loop: asyncio.AbstractEventLoop) -> None:
        self.world = world
        self.loop = loop
        self.buffer = bytearray()
        self.busy = False
        self.refused = False  # what else the client sends is thrown away
        self.continued = False  # "100 Continue" was sent for the request in the buffer
        self.transport: asyncio.Transport
        self.stop_watch: Callable[[], None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.world.connections.add(self)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def connection_lost(self, exc: Exception | None) -> None:
        self.world.connections.discard(self)
        if self.stop_watch:
            self.stop_watch()

    def data_received(self, data: bytes) -> None:
        if self.refused:
            return
        self.buffer += data
        self._next()

    def _next(self) -> None:
        while not self.busy and not self.refused and not self.transport.is_closing():
            request = self._parse()
            if request is None:
                return
            self.busy = True
            self._serve(request)

    def _parse(self) -> Request | None:
        """Take one whole request from the buffer; None when there is none yet."""
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self.buffer) > HEAD_LIMIT:
                self.transport.close()
            return None
        lines = self.buffer[:end].decode("latin-1").split("\r\n")
        parts = lines[0].split(" ")
        headers = {}
        for line in lines[1:]:
            name, _colon, value = line.partition(":")
            headers[name.lower()] = value.strip()
        length = headers.get("content-length", "0")
        if len(parts) != 3 or not length.isdigit() or "transfer-encoding" in headers:
            self._refuse(ApiError(400, "this server reads requests with a Content-Length only"))
            return None
        if int(length) > BODY_LIMIT:
            self._refuse(ApiError(413, f"Request entity too large: limit is {BODY_LIMIT}"))
            return None
        start, stop = end + 4, end + 4 + int(length)
        if len(self.buffer) < stop:
            if "expect" in headers and not self.continued:
                self.continued = True
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            return None
        body = bytes(self.buffer[start:stop])
        del self.buffer[:stop]
        self.continued = False
        return Request(parts[0], parts[1], headers, body)

    def _refuse(self, error: ApiError) -> None:
        """Answer, let the client finish what it is sending, and close."""
        self.refused = True
        self.buffer.clear()
        self.transport.write(_head(failure(error), close=True) + error.body())
        self.loop.call_later(2, self.transport.close)

    def _serve(self, request: Request) -> None:
        if request.path.startswith("/_lab/"):
            self._send(request, lab_call(self.world, request))
            return
        target = route(request)
        fault = None
        if self.world.faults:
            verb = target.verb if target else ""
            fault = self.world.faults.take(verb, request.method, request.path)
        if fault and fault.phase == "before":
            self._later(fault.delay, lambda: self._finish(request, target, fault))
        else:
            self._finish(request, target, fault)

    def _later(self, delay: float, action: Callable[[], None]) -> None:
        if delay > 0:
            self.loop.call_later(delay, action)
        else:
            action()

    def _finish(self, request: Request, target: Target | None, fault: Fault | None) -> None:
        """Do the work, unless a fault says otherwise, and answer."""
        response: Response | None
        user = ""
        if fault and fault.phase == "before" and (fault.drop or fault.status is not None):
            response = _faulty(fault)
        else:
            with self.world.store.lock:
                response, user = self.world.api.handle(request, target)
                if response.watch is not None:
                    # From the very state that was read on: a test may write from its thread.
                    self.world.store.watchers.append(response.early.append)
        if fault and fault.phase == "after":
            answer = _faulty(fault) if fault.drop or fault.status is not None else response
            if answer is not response and response is not None:
                with self.world.store.lock:
                    _end_early(self.world.store, response)
            self._later(fault.delay, lambda: self._answer(request, target, user, answer))
        else:
            self._answer(request, target, user, response)

    def _answer(self, request: Request, target: Target | None, user: str, response: Response | None) -> None:
        verb = target.verb if target else ""
        code = response.code if response else 0
        self.world.calls.add(verb, request.method, request.path, request.query_string, user, code)
        if response is None:
            self.transport.abort()
        elif response.watch is not None:
            self._stream(response)
        else:
            self._send(request, response)

    def _send(self, request: Request, response: Response) -> None:
        if self.transport.is_closing():
            return
        close = request.headers.get("connection", "").lower() == "close"
        body = b"" if request.method == "HEAD" else response.body
        self.transport.write(_head(response, close=close) + body)
        self.busy = False
        if close:
            self.transport.close()
        elif self.buffer:
            self.loop.call_soon(self._next)

    def _stream(self, response: Response) -> None:
        """Send the first lines of a watch, then every event, until the time is over or the client goes."""
        seen, store = response.watch, self.world.store
        assert seen is not None
        self.transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        )

        def write(line: bytes) -> None:
            if not self.transport.is_closing():
                self.transport.write(b"%x\r\n%s\r\n" % (len(line), line))

        def on_event(event: Event) -> None:
            line = seen(event)
            if line:
                self.loop.call_soon_threadsafe(write, line)  # a test may write to the store from its thread

        def stop() -> None:
            self.stop_watch = None
            if timer:
                timer.cancel()
            with store.lock:
                if on_event in store.watchers:
                    store.watchers.remove(on_event)
            if not self.transport.is_closing():
                self.transport.write(b"0\r\n\r\n")
                self.busy = False
                self.loop.call_soon(self._next)

        if response.lines:
            write(b"".join(response.lines))
        timer: asyncio.TimerHandle | None = None
        if response.timeout == 0:
            with store.lock:
                _end_early(store, response)
            stop()
            return
        with store.lock:
            store.watchers.append(on_event)
            _end_early(store, response)
            for event in response.early:
                on_event(event)
        self.stop_watch = stop
        if response.timeout is not None:
            timer = self.loop.call_later(response.timeout, stop)


def _end_early(store: Store, response: Response) -> None:
    if response.early.append in store.watchers:
        store.watchers.remove(response.early.append)


def _faulty(fault: Fault) -> Response | None:
    if fault.drop:
        return None
    error = ApiError(fault.status or 500, fault.message, reason=fault.reason)
    return Response(error.code, error.body(), headers=dict(fault.headers))


def _head(response: Response, *, close: bool) -> bytes:
    try:
        phrase = HTTPStatus(response.code).phrase
    except ValueError:
        phrase = "Unknown"
    lines = [
        f"HTTP/1.1 {response.code} {phrase}",
        f"Content-Type: {response.content_type}",
        f"Content-Length: {len(response.body)}",
        *(f"{name}: {value}" for name, value in response.headers.items()),
    ]
    if close:
        lines.append("Connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def lab_call(world: World, request: Request) -> Response:
    """The stand-in's own routes: ``/_lab/{faults,calls,reset,compact}``; no token, loopback only."""
    known = (request.method, request.path.rstrip("/"))
    try:
        if known == ("POST", "/_lab/faults"):
            body = json.loads(request.body)
            for fault in body if isinstance(body, list) else [body]:
                world.faults.add(**fault)
        elif known == ("DELETE", "/_lab/faults"):
            world.faults.clear()
        elif known == ("DELETE", "/_lab/calls"):
            world.calls.clear()
        elif known == ("POST", "/_lab/reset"):
            world.store.reset()
            world.faults.clear()
            world.calls.clear()
        elif known == ("POST", "/_lab/compact"):
            world.store.compact()
        elif known == ("GET", "/_lab/calls"):
            calls = world.calls.matching(request.query.get("verb", "*"), request.query.get("path", "*"))
            return Response(200, json.dumps([asdict(call) for call in calls]).encode())
        elif known != ("GET", "/_lab/faults"):
            return Response(404, b'{"error":"no such route"}')
    except (ValueError, TypeError) as error:
        return Response(400, json.dumps({"error": str(error)}).encode())
    return Response(200, json.dumps(world.faults.snapshot()).encode())
