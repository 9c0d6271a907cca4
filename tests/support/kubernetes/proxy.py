# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A proxy in front of an API server, stand-in or real, that counts calls, injects faults and runs hooks."""

from __future__ import annotations

import asyncio
import fnmatch
import http.client
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from tests.stand_ins.http_server import Answer, Request, Response, Server
from tests.stand_ins.kubernetes.api import failure
from tests.stand_ins.kubernetes.faults import Call, Fault
from tests.stand_ins.kubernetes.routing import route
from tests.stand_ins.kubernetes.status import ApiError
from tests.stand_ins.rules import CallLog, RuleTable

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
        self.faults = RuleTable(Fault)
        self.calls = CallLog[Call]("verb", "path")
        self._hooks: list[Hook] = []
        self._lock = threading.Lock()
        self.upstream = upstream
        parts = urlsplit(upstream)
        self._address = (str(parts.hostname), int(parts.port or 80))
        self.tls = ssl.create_default_context(cafile=ca_file) if parts.scheme == "https" else None
        self._free: list[http.client.HTTPConnection] = []
        self._server = Server(lambda request: asyncio.to_thread(self._answer, request))

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

    def _run_hooks(self, verb: str, path: str) -> None:
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
        while self._free:
            self._free.pop().close()

    def _answer(self, request: Request) -> Answer:
        """Answer in a thread: hooks, delays and the API server take time."""
        target = route(request)
        verb = target.verb if target else ""
        self._run_hooks(verb, request.path)
        fault = self.faults.first(lambda one: one.matches(verb, request.method, request.path)) or Fault()
        time.sleep(fault.delay)
        answer: Answer = None
        if fault.phase == "after" or not (fault.drop or fault.status):
            answer = self._forward(request)
        if fault.drop:
            answer = None
        elif fault.status:
            answer = failure(ApiError(fault.status, fault.message, reason=fault.reason), fault.headers)
        status = answer.code if answer else 0
        self.calls.add(Call(verb, request.method, request.path, request.query_string, "", status))
        return answer

    def _forward(self, request: Request) -> Response:
        headers = {name: value for name, value in request.headers.items() if name not in _SKIPPED}
        upstream = self._free.pop() if self._free else self.connect()
        upstream.request(request.method, request.target, request.body or None, headers)
        found = upstream.getresponse()
        data = found.read()
        self._free.append(upstream)
        headers = {name: value for name, value in found.getheaders() if name.lower() not in _SKIPPED}
        return Response(found.status, data, "", headers)
