# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A proxy in front of an API server, stand-in or real, that counts calls, injects faults and runs hooks."""

from __future__ import annotations

import fnmatch
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from tests.stand_ins.http_server import Handler, Server
from tests.stand_ins.kubernetes.faults import CallLog, Fault, FaultTable
from tests.stand_ins.kubernetes.routing import Request, route
from tests.stand_ins.kubernetes.status import ApiError

_SKIPPED = frozenset({"connection", "transfer-encoding", "content-length", "host", "keep-alive"})


@dataclass
class Hook:
    """``act`` runs before the next ``times`` calls of this verb and path are forwarded."""

    verb: str
    path: str
    act: Callable[[], Any]
    times: int


class FaultProxy:
    """``with FaultProxy(url, ca_file) as proxy``: ``url``, ``faults``, ``calls``, ``before``."""

    def __init__(self, upstream: str, ca_file: str | None = None) -> None:
        self.faults = FaultTable()
        self.calls = CallLog()
        self._hooks: list[Hook] = []
        self._lock = threading.Lock()
        self.upstream = upstream
        parts = urlsplit(upstream)
        self._address = (str(parts.hostname), int(parts.port or 80))
        self.tls = ssl.create_default_context(cafile=ca_file) if parts.scheme == "https" else None
        self._server = Server(type("Handler", (_Handler,), {"proxy": self}))

    @property
    def url(self) -> str:
        return self._server.url

    def before(self, verb: str, path: str, act: Callable[[], Any], times: int = 1) -> None:
        """Run ``act`` before a matching call reaches the server."""
        with self._lock:
            self._hooks.append(Hook(verb, path, act, times))

    def reset(self) -> None:
        """No faults, hooks or counts."""
        self.faults.clear()
        self.calls.clear()
        with self._lock:
            self._hooks.clear()

    def run_hooks(self, verb: str, path: str) -> None:
        with self._lock:
            due = [
                hook
                for hook in self._hooks
                if hook.times > 0
                and fnmatch.fnmatchcase(verb, hook.verb)
                and fnmatch.fnmatchcase(path, hook.path)
            ]
            for hook in due:
                hook.times -= 1
        for hook in due:
            hook.act()

    def connect(self) -> http.client.HTTPConnection:
        """A connection to the API server itself, past the faults."""
        if self.tls:
            return http.client.HTTPSConnection(*self._address, timeout=30, context=self.tls)
        return http.client.HTTPConnection(*self._address, timeout=30)

    def __enter__(self) -> FaultProxy:
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.stop()


class _Handler(Handler):
    proxy: FaultProxy

    def setup(self) -> None:
        super().setup()
        self._upstream: http.client.HTTPConnection | None = None

    def finish(self) -> None:
        super().finish()
        if self._upstream:
            self._upstream.close()

    def serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(self.command, self.path, {}, body)
        target = route(request)
        verb = target.verb if target else ""
        self.proxy.run_hooks(verb, request.path)
        fault = self.proxy.faults.take(verb, self.command, request.path)
        if fault and fault.delay:
            time.sleep(fault.delay)
        if fault is None or fault.phase == "after" or not (fault.drop or fault.status):
            status, headers, answer = self._forward(body)
        else:
            status, headers, answer = 0, [], b""
        if fault and fault.drop:
            status = 0
        elif fault and fault.status:
            status, headers, answer = _injected(fault)
        self.proxy.calls.add(verb, self.command, request.path, request.query_string, "", status)
        if not status:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
        self.wfile.flush()

    def _forward(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _SKIPPED}
        if self._upstream is None:
            self._upstream = self.proxy.connect()
        self._upstream.request(self.command, self.path, body or None, headers)
        answer = self._upstream.getresponse()
        data = answer.read()
        return (
            answer.status,
            [(name, value) for name, value in answer.getheaders() if name.lower() not in _SKIPPED],
            data,
        )


def _injected(fault: Fault) -> tuple[int, list[tuple[str, str]], bytes]:
    assert fault.status
    error = ApiError(fault.status, fault.message, reason=fault.reason)
    return fault.status, [("Content-Type", "application/json"), *fault.headers.items()], error.body()
