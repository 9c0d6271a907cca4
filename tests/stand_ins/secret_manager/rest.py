# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""REST: the routes, read from the client library's own transport, and the steps from HTTP to a message and back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from google.api_core.exceptions import GoogleAPICallError, InvalidArgument, NotFound
from google.cloud.secretmanager_v1.services.secret_manager_service.transports import rest_base
from google.protobuf import json_format

from tests.stand_ins.http_server import Request, Response

from .protos import METHODS, Message
from .service import SecretManagerService, status_of

__all__ = ["MAX_REQUEST", "answer"]

MAX_REQUEST = 4 * 1024 * 1024  # bytes; the payload limit is the service's to enforce


@dataclass(frozen=True)
class _Route:
    method: str
    verb: str
    pattern: re.Pattern[str]
    fields: tuple[str, ...]  # dotted request fields, one a group of the pattern
    body: str | None  # request field of the body, `*` for the whole request


def _compile(method: str, option: Mapping[str, str]) -> _Route:
    """`/v1/{name=projects/*/secrets/*}:access` -> a pattern with one group a variable."""
    pattern = ""
    fields = []
    for literal, field, template in re.findall(r"([^{]+)|\{([\w.]+)=([^}]+)\}", option["uri"]):
        if literal:
            pattern += re.escape(literal)
        else:
            fields.append(field)
            pattern += "(" + re.escape(template).replace(r"\*", "[^/]+?") + ")"
    return _Route(method, option["method"].upper(), re.compile(pattern), tuple(fields), option.get("body"))


def _routes() -> tuple[_Route, ...]:
    base = rest_base._BaseSecretManagerServiceRestTransport
    routes = [
        _compile(method, option)
        for method in METHODS
        for option in getattr(base, f"_Base{method}")._get_http_options()
    ]
    # A custom verb (`…:access`) before the plain resource that would take the verb for part of a name.
    return tuple(sorted(routes, key=lambda route: not re.search(r":\w+$", route.pattern.pattern)))


_ROUTES = _routes()


def answer(service: SecretManagerService, request: Request) -> Response:
    """Do what a request asks, and answer with JSON."""
    try:
        status, body = 200, _answer(service, request)
    except GoogleAPICallError as error:
        status = error.code or 500
        detail = {"code": status, "message": error.message, "status": status_of(error).name}
        body = json.dumps({"error": detail})
    return Response(status, body.encode(), "application/json; charset=UTF-8")


def _answer(service: SecretManagerService, request: Request) -> str:
    if len(request.body) > MAX_REQUEST:
        raise InvalidArgument("Request payload size exceeds the limit.")
    for route in _ROUTES:
        if route.verb == request.method and (match := route.pattern.fullmatch(request.path)):
            path = dict(zip(route.fields, match.groups(), strict=True))
            response = service.call(route.method, _read_request(route, path, request))
            numbers = "enum-encoding=int" in request.query.get("$alt", "")
            return str(json_format.MessageToJson(response, indent=None, use_integers_for_enums=numbers))
    raise NotFound("The requested URL was not found on this server.")


def _read_request(route: _Route, path: Mapping[str, str], request: Request) -> Message:
    """The request message; INVALID_ARGUMENT, without a word of the body, if it cannot be read."""
    tree: dict[str, Any] = {}
    try:
        if route.body:
            content = json.loads(request.body) if request.body else {}
            tree = content if route.body == "*" else {route.body: content}
        for field, value in [*request.query.items(), *path.items()]:
            if not field.startswith("$"):
                _put(tree, field, value)
        return json_format.ParseDict(tree, METHODS[route.method].request())
    except (ValueError, TypeError, AttributeError, json_format.ParseError):
        raise InvalidArgument("Invalid JSON payload or query parameter received.") from None


def _put(tree: dict[str, Any], field: str, value: str) -> None:
    *parents, last = field.split(".")
    for parent in parents:
        tree = tree.setdefault(parent, {})
    tree[last] = value
