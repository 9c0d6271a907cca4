# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""REST (HTTP/1.1 with keep-alive); `/_lab/...` is the lab's own."""

from __future__ import annotations

import json
from urllib.parse import parse_qsl, unquote, urlsplit

from google.protobuf import json_format
from grpc import StatusCode

from tests.stand_ins.http_server import Handler, Server

from .admin import Admin
from .errors import HTTP_STATUS, ApiError
from .rest_routes import find_route, read_request
from .service import SecretManagerService

__all__ = ["RestServer"]

_MAX_REQUEST = 4 * 1024 * 1024  # bytes, but for /_lab, which seeds whole fleets


class RestServer(Server):
    """Serves from construction until `stop()`."""

    def __init__(self, service: SecretManagerService, admin: Admin, address: str) -> None:
        super().__init__(_Handler, address)
        self.service = service
        self.admin = admin
        self.start()


class _Handler(Handler):
    server: RestServer

    def serve(self) -> None:
        try:
            status, answer = self._answer()
        except ApiError as error:
            status = HTTP_STATUS[error.code]
            detail = {"code": status, "message": error.message, "status": error.code.name}
            answer = json.dumps({"error": detail}).encode()
        except Exception as error:  # noqa: BLE001 - the last resort of a server
            status = 500
            message = f"The stand-in failed: {type(error).__name__}."
            answer = json.dumps({"error": {"code": 500, "message": message, "status": "INTERNAL"}}).encode()
        self.send(status, "application/json; charset=UTF-8", answer)

    def _answer(self) -> tuple[int, bytes]:
        url = urlsplit(self.path)
        path = unquote(url.path)
        query = dict(parse_qsl(url.query, keep_blank_values=True))
        length = int(self.headers.get("Content-Length") or 0)
        if length > _MAX_REQUEST and not path.startswith("/_lab/"):
            self.close_connection = True
            raise ApiError(StatusCode.INVALID_ARGUMENT, "Request payload size exceeds the limit.")
        body = self.rfile.read(length) if length else b""
        if len(body) < length:
            # The client was killed while it sent: half a request is none.
            self.close_connection = True
            raise ApiError(StatusCode.INVALID_ARGUMENT, "Request body is incomplete.")
        if path.startswith("/_lab/"):
            return 200, json.dumps(self.server.admin.handle(self.command, path, body)).encode()
        found = find_route(self.command, path)
        if found is None:
            raise ApiError(StatusCode.NOT_FOUND, "The requested URL was not found on this server.")
        route, fields = found
        request = read_request(route, fields, query, body)
        response = self.server.service.call(route.method, request)
        numbers = "enum-encoding=int" in query.get("$alt", "")
        return 200, json_format.MessageToJson(response, indent=None, use_integers_for_enums=numbers).encode()
