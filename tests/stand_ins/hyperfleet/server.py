# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in as an HTTP server in this process."""

from __future__ import annotations

import asyncio
import json
import uuid
from email.utils import format_datetime
from typing import Any

from tests.stand_ins.http_server import Answer, Request, Response, Server
from tests.stand_ins.lab import Lab
from tests.stand_ins.rules import CallLog, RuleTable

from .api import Api, Options
from .faults import Call, Fault
from .problems import ApiError
from .store import PREFIX, Store
from .times import Clock, format_time, system_clock

__all__ = ["HyperFleetLab"]


class HyperFleetLab(Lab):
    """The stand-in; ``url`` is `http://127.0.0.1:port`, without a path.

    :param host: another address of this machine, which the lab's pods reach.
    :param options: the fields of `Options` (required_adapters, tokens, required_headers, flavour, ...).
    """

    def __init__(self, *, host: str = "127.0.0.1", clock: Clock = system_clock, **options: Any) -> None:
        self.options = Options(**options)
        self.clock = clock
        self.store = Store(clock, self.options.required_adapters)
        self.faults = RuleTable(Fault)
        self.calls = CallLog[Call]("method", "path")
        self._api = Api(self.store, self.options)
        self.server = Server(self.serve, host)
        self.url = self.server.url

    def address(self) -> dict[str, str | None]:
        return {"url": self.url}

    def seed(self, documents: list[Any]) -> list[str]:
        """Put clusters; their ids."""
        return self.store.seed(documents)

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Answer a request of the test itself, with no fault and no record; ``path`` begins below the API."""
        return self.answer(
            Request(method, PREFIX + path, body=b"" if body is None else json.dumps(body).encode())
        )

    def answer(self, request: Request) -> tuple[int, Any]:
        """Status and document, problems included."""
        try:
            return self._api.answer(request)
        except ApiError as problem:
            return problem.status, self._problem(problem, request.path)

    def _problem(self, problem: ApiError, path: str, status: int | None = None) -> dict[str, Any]:
        now, trace = format_time(self.clock()), str(uuid.uuid4())
        return problem.body(instance=path, timestamp=now, trace_id=trace, status=status)

    async def respond(self, request: Request) -> Answer:
        call = {"method": request.method, "path": request.path, "query": request.query_string}
        fault = self.faults.first(lambda rule: rule.matches(**call))
        if fault:
            await asyncio.sleep(fault.delay)
        answer: Answer = None
        if fault and fault.body is not None:
            answer = Response(fault.status or 200, fault.body.encode())
        elif fault and fault.status is not None:
            problem = ApiError.of_status(fault.status)
            answer = self._response(fault.status, self._problem(problem, request.path, fault.status))
        elif not (fault and fault.drop):
            answer = self._response(*self.answer(request))
        self.calls.add(Call(**call, status=answer.code if answer else 0))
        if answer:
            answer.headers = {"Date": format_datetime(self.clock(), usegmt=True)}
        return None if fault and fault.lost else answer

    def _response(self, status: int, document: Any) -> Response:
        body = b"" if document is None else json.dumps(document, separators=(",", ":")).encode()
        kind = "application/problem+json" if status >= 400 else "application/json"
        return Response(status, body, kind if body else "")
