# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all stand-ins share: start and stop, and the routes of their own."""

from __future__ import annotations

import json
from typing import Any, Self

from tests.stand_ins.http_server import Answer, Request, Response, Server
from tests.stand_ins.rules import CallLog, RuleTable

__all__ = ["Lab"]


class Lab:
    """A stand-in: it runs between ``start`` and ``stop``, or as a context manager."""

    faults: RuleTable[Any]
    calls: CallLog[Any]
    server: Server

    def start(self) -> Self:
        self.server.start()
        return self

    def stop(self) -> None:
        """Stop at once: calls under way are cut off."""
        self.server.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_exc: object) -> None:
        self.stop()

    def address(self) -> dict[str, str | None]:
        """What clients need to know."""
        raise NotImplementedError

    def reset(self) -> None:
        """Forget the faults and the calls."""
        self.faults.clear()
        self.calls.clear()

    def seed(self, documents: list[Any]) -> object:
        """Store documents without calls; a stand-in that can says what they look like."""
        raise NotImplementedError

    async def serve(self, request: Request) -> Answer:
        """Answer a request to the ``server``."""
        return self._own_route(request) if request.path.startswith("/_lab/") else await self.respond(request)

    async def respond(self, request: Request) -> Answer:
        """Answer as the service does, with faults, and record the call."""
        raise NotImplementedError

    def _own_route(self, request: Request) -> Response:
        """Answer ``/_lab/{calls,reports,seed}``. They need no token: the stand-in is on loopback."""
        match request.method, request.path.removeprefix("/_lab/"):
            case "GET", "calls":
                return _json(200, [vars(call) for call in self.calls.matching()])
            case "DELETE", "calls":
                self.calls.clear()
                return _json(200, [])
            case "GET", "reports":
                return _json(200, {"count": self.calls.count("P*T", "*/statuses")})
            case "POST", "seed":
                return self._seeded(request.body)
        return _json(404, {"error": "the stand-in has no such route"})

    def _seeded(self, body: bytes) -> Response:
        try:
            return _json(200, self.seed(json.loads(body)))
        except Exception as error:  # noqa: BLE001 - the text of an exception could hold what the body held
            return _json(400, {"error": f"the body does not fit: {type(error).__name__}"})


def _json(code: int, document: object) -> Response:
    return Response(code, json.dumps(document).encode())
