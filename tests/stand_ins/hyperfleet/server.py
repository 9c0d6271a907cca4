# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in as an HTTP server in this process: keep-alive, a thread for each connection.

Beside the API it answers administration: GET and POST `/_lab/faults` (DELETE clears), GET `/_lab/calls`
(DELETE clears), GET `/_lab/reports` (how many of the calls were reports of a status), POST `/_lab/reset`
(everything), POST `/_lab/seed` (a list of clusters; answers their ids).
Nothing is logged: bodies and headers hold pull secrets and tokens.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar
from urllib.parse import unquote

from .api import Answer, Api, Options, Request
from .faults import Call, Calls, Fault, FaultTable
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
        self.faults = FaultTable()
        self.calls = Calls()
        self._api = Api(self.store, self.options)
        handler = type("Handler", (_Handler,), {"lab": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """`http://127.0.0.1:port`, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> HyperFleetLab:
        self._thread.start()
        return self

    def stop(self) -> None:
        self._server.shutdown()
        self._server.close_connections()
        self._server.server_close()
        self._thread.join()

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


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """End the kept-alive connections, so that their threads end as well."""
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # the client was faster

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news, and a traceback could show a body."""


class _Handler(BaseHTTPRequestHandler):
    lab: ClassVar[HyperFleetLab]
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and body leave in one segment

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def date_time_string(self, timestamp: float | None = None) -> str:
        """The header Date, by the stand-in's clock; a script is for what the recorded answers tell."""
        clock = self.lab.clock
        scripted = isinstance(clock, ScriptedClock)
        return super().date_time_string(clock() / 1e9 if timestamp is None and not scripted else timestamp)

    def _serve(self) -> None:
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
        fault = self.lab.faults.take(request.method, request.path, request.query)
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
            self._send_raw(status, "application/json", fault.body.encode())
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
        self._send_raw(status, content_type if body else None, body)

    def _send_raw(self, status: int, content_type: str | None, body: bytes) -> None:
        self.send_response(status)
        if content_type:
            self.send_header("Content-Type", content_type)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - http.server's names
