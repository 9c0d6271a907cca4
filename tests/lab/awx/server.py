# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in as an HTTP server in this process."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Self

from tests.stand_ins.http_server import Answer, Request, Response, Server

from .api import Api
from .rules import Refused

__all__ = ["AwxLab"]

TOKEN = "awx-lab-token"
_HEADERS = {"X-API-Product-Name": "AWX", "X-API-Product-Version": "24.6.1"}


class AwxLab:
    """The stand-in between ``with`` and its end.

    :param playbooks: the playbooks that an update of any project finds.
    """

    def __init__(self, playbooks: Iterable[str] = ()) -> None:
        self.api = Api(frozenset(playbooks))
        self._server = Server(self._respond)
        self.url = self._server.url
        self.environment = {"CONTROLLER_HOST": self.url, "CONTROLLER_OAUTH_TOKEN": TOKEN}

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._server.stop()

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Answer a request; ``path`` begins below `/api/v2`."""
        target = Request(method, path)
        try:
            return self.api.answer(method, target.path, target.query, body)
        except Refused as refusal:
            return refusal.status, refusal.body

    async def _respond(self, request: Request) -> Answer:
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return self._response(401, {"detail": "Authentication credentials were not provided."})
        body = json.loads(request.body) if request.body else None
        return self._response(*self.ask(request.method, request.target.removeprefix("/api/v2"), body))

    @staticmethod
    def _response(status: int, document: Any) -> Response:
        body = b"" if document is None else json.dumps(document).encode()
        return Response(status, body, headers=_HEADERS)
