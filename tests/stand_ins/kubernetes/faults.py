# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Faults of a Kubernetes API, and the server that injects them and records the calls."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.stand_ins.http_server import Answer, Request, Response, Server
from tests.stand_ins.kubernetes.api import Watch, failure
from tests.stand_ins.kubernetes.routing import Target, route
from tests.stand_ins.kubernetes.status import ApiError
from tests.stand_ins.lab import Lab
from tests.stand_ins.rules import CallLog, Rule, RuleTable


@dataclass
class Fault(Rule):
    """What goes wrong, for which calls and how often.

    A call matches when ``verb`` (get, list, watch, create, update, patch, delete, deletecollection),
    ``method`` (HTTP) and ``path`` (shell pattern; without the query) do. The first ``skip`` matching calls
    pass; the next ``times`` (None: all) fail. ``act`` is called first, in a thread. ``delay`` is in seconds,
    before the call is handled or answered. ``status`` answers with that code, ``drop`` closes the connection
    without an answer; with neither the call succeeds. ``phase`` "after" lets the call do its work first, so that
    the client does not know that it was done. The first matching fault of the table is used.
    """

    verb: str = "*"
    method: str = "*"
    path: str = "*"
    status: int | None = None
    reason: str | None = None
    message: str = "injected fault"
    headers: dict[str, str] = field(default_factory=dict)
    phase: str = "before"
    drop: bool = False
    times: int | None = 1
    act: Callable[[], object] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.phase not in ("before", "after"):
            raise ValueError("phase is 'before' or 'after'")

    @property
    def fails(self) -> bool:
        return self.drop or self.status is not None


@dataclass
class Call:
    """One call as it was answered; ``status`` 0 means that the connection was dropped. No bodies are kept."""

    verb: str
    method: str
    path: str
    query: str
    status: int
    at: float = field(default_factory=time.time, init=False)


class FaultyServer(Lab):
    """A server of the Kubernetes API: the stand-in, or a proxy before any API server."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.faults = RuleTable(Fault)
        self.calls = CallLog[Call]("verb", "path")
        self.server = Server(self.serve, context=context)
        self.url = self.server.url

    async def handle(self, request: Request, target: Target | None) -> Response:
        """Answer without a fault; ``target`` is None where the URL names no resource."""
        raise NotImplementedError

    async def respond(self, request: Request) -> Answer:
        target = route(request)
        call = {"verb": target.verb if target else "", "method": request.method, "path": request.path}
        fault = self.faults.first(lambda rule: rule.matches(**call)) or Fault()
        if fault.act:
            await asyncio.to_thread(fault.act)
        answer: Answer = None
        if fault.phase == "before":
            await asyncio.sleep(fault.delay)
        if fault.phase == "after" or not fault.fails:
            answer = await self.handle(request, target)
        if fault.phase == "after":
            await asyncio.sleep(fault.delay)
        if fault.fails:
            if answer and isinstance(answer.stream, Watch):
                answer.stream.close()
            error = ApiError(fault.status or 500, fault.message, reason=fault.reason)
            answer = None if fault.drop else failure(error, fault.headers)
        self.calls.add(Call(**call, query=request.query_string, status=answer.code if answer else 0))
        return answer
