# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in as an HTTP server in this process.

Beside the API it answers administration: GET and POST `/_lab/faults` (DELETE clears), GET `/_lab/calls`
(DELETE clears), GET `/_lab/reports` (how many of the calls were reports of a status), POST `/_lab/reset`
(everything), POST `/_lab/seed` (a list of clusters; answers their ids).
"""

from __future__ import annotations

import json
import socket
import time
from types import TracebackType
from typing import Any, ClassVar
from urllib.parse import unquote

from tests.stand_ins.http_server import Handler, Server
from tests.stand_ins.rules import RuleTable

from .api import Answer, Api, Options, Request
from .faults import Call, Calls, Fault
from .problems import ApiError
from .store import Store, uuid7
from .times import Clock, ScriptedClock, format_time

__all__ = ["HyperFleetLab"]

_PROBLEM = "application/problem+json"


class HyperFleetLab:
    """The stand-in, running between `start` and `stop` or as a context manager.

    :param clock: nanoseconds since the epoch.
    :param options: the fields of `Options` (required_adapters, tokens, required_headers, flavour, ...).
    """

    def __init__(self, *, clock: Clock = time.time_ns, **options: Any) -> None:
        self.options = Options(**options)
        self.clock = clock
        self.store = Store(clock, self.options.required_adapters)
        self.faults = RuleTable(Fault)
        self.calls = Calls()
        self._api = Api(self.store, self.options)
        handler = type("Handler", (_Handler,), {"lab": self})
        self._server = Server(handler)

    @property
    def url(self) -> str:
        """`http://127.0.0.1:port`, without a path."""
        return self._server.url

    def start(self) -> HyperFleetLab:
        self._server.start()
        return self

    def stop(self) -> None:
        self._server.stop()

    def __enter__(self) -> HyperFleetLab:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def answer(self, request: Request) -> Answer:
        """The API's answer, problems included."""
        try:
            return self._api.answer(request)
        except ApiError as problem:
            return problem.status, self.problem(problem, request.path)

    def problem(self, problem: ApiError, path: str, status: int | None = None) -> dict[str, Any]:
        now = self.clock()
        return problem.body(instance=path, timestamp=format_time(now), trace_id=uuid7(now), status=status)

    def reset(self) -> None:
        self.store.reset()
        self.faults.clear()
        self.calls.reset()

    def admin(self, request: Request) -> Answer:
        """What `/_lab/...` answers; ValueError for a body that makes no sense."""
        match request.method, request.path.removeprefix("/_lab/"):
            case "POST", "faults":
                rules = json.loads(request.body)
                for rule in rules if isinstance(rules, list) else [rules]:
                    self.faults.add(**rule)
                return 201, self.faults.snapshot()
            case "GET", "faults":
                return 200, self.faults.snapshot()
            case "DELETE", "faults":
                self.faults.clear()
                return 204, None
            case "GET", "calls":
                return 200, [vars(call) for call in self.calls.all()]
            case "GET", "reports":
                return 200, {"count": sum(_is_report(call) for call in self.calls.all())}
            case "DELETE", "calls":
                self.calls.reset()
                return 204, None
            case "POST", "reset":
                self.reset()
                return 204, None
            case "POST", "seed":
                clusters = json.loads(request.body)
                return 201, self.store.seed(clusters if isinstance(clusters, list) else [clusters])
        return 404, {"error": "no such route of the stand-in"}


def _is_report(call: Call) -> bool:
    return call.method in ("PUT", "POST") and call.path.endswith("/statuses")


class _Handler(Handler):
    lab: ClassVar[HyperFleetLab]

    def date_time_string(self, timestamp: float | None = None) -> str:
        """The header Date, by the stand-in's clock; a script is for what the recorded answers tell."""
        clock = self.lab.clock
        scripted = isinstance(clock, ScriptedClock)
        return super().date_time_string(clock() / 1e9 if timestamp is None and not scripted else timestamp)

    def serve(self) -> None:
        path, _mark, query = self.path.partition("?")
        length = int(self.headers.get("Content-Length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, unquote(path), query, headers, self.rfile.read(length))
        if request.path.startswith("/_lab/"):
            try:
                status, document = self.lab.admin(request)
            except (ValueError, TypeError, AttributeError):
                status, document = 400, {"error": "not what this route takes"}
            self._send(status, "application/json", document)
            return
        fault = self.lab.faults.first(lambda rule: rule.fits(request.method, request.path, request.query))
        if fault is not None and fault.delay:
            time.sleep(fault.delay)
        if fault is not None and fault.drop:
            self._record(request, 0)
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if fault is not None and fault.body is not None:
            status = fault.status or 200
            self._record(request, status)
            self.send(status, "application/json", fault.body.encode())
            return
        status, document = self._answer(request, fault)
        self._record(request, status)
        if fault is not None and fault.lost:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self._send(status, _PROBLEM if status >= 400 else "application/json", document)

    def _answer(self, request: Request, fault: Fault | None) -> Answer:
        if fault is not None and fault.status is not None:
            problem = ApiError.of_status(fault.status)
            return fault.status, self.lab.problem(problem, request.path, fault.status)
        return self.lab.answer(request)

    def _record(self, request: Request, status: int) -> None:
        self.lab.calls.record(Call(request.method, request.path, request.query, status))

    def _send(self, status: int, content_type: str, document: Any) -> None:
        body = b"" if document is None else json.dumps(document, separators=(",", ":")).encode()
        self.send(status, content_type if body else None, body)
