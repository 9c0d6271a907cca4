# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""REST routes, read from the client library's own transport, and the step from HTTP to a request message."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from google.cloud.secretmanager_v1.services.secret_manager_service.transports import rest_base
from google.protobuf import json_format

from .errors import invalid
from .protos import METHODS, Message

__all__ = ["Route", "find_route", "read_request"]


@dataclass(frozen=True)
class Route:
    method: str
    verb: str
    pattern: re.Pattern[str]
    fields: tuple[str, ...]  # dotted request fields, one a group of the pattern
    body: str | None  # request field of the body, `*` for the whole request


def _compile(method: str, option: Mapping[str, str]) -> Route:
    """`/v1/{name=projects/*/secrets/*}:access` -> a pattern with one group a variable."""
    pattern = ""
    fields = []
    for literal, field, template in re.findall(r"([^{]+)|\{([\w.]+)=([^}]+)\}", option["uri"]):
        if literal:
            pattern += re.escape(literal)
        else:
            fields.append(field)
            pattern += "(" + re.escape(template).replace(r"\*", "[^/]+?") + ")"
    return Route(method, option["method"].upper(), re.compile(pattern), tuple(fields), option.get("body"))


def _routes() -> tuple[Route, ...]:
    base = rest_base._BaseSecretManagerServiceRestTransport
    routes = [
        _compile(method, option)
        for method in METHODS
        for option in getattr(base, f"_Base{method}")._get_http_options()
    ]
    # A custom verb (`…:access`) before the plain resource that would take the verb for part of a name.
    return tuple(sorted(routes, key=lambda route: not re.search(r":\w+$", route.pattern.pattern)))


ROUTES = _routes()


def find_route(verb: str, path: str) -> tuple[Route, dict[str, str]] | None:
    """The route of a decoded path, and the request fields that the path gives."""
    for route in ROUTES:
        if route.verb == verb:
            match = route.pattern.fullmatch(path)
            if match:
                return route, dict(zip(route.fields, match.groups(), strict=True))
    return None


def read_request(route: Route, path: Mapping[str, str], query: Mapping[str, str], body: bytes) -> Message:
    """The request message; INVALID_ARGUMENT, without a word of the body, if it cannot be read."""
    tree: dict[str, Any] = {}
    try:
        if route.body:
            content = json.loads(body) if body else {}
            tree = content if route.body == "*" else {route.body: content}
        for field, value in [*query.items(), *path.items()]:
            if not field.startswith("$"):
                _put(tree, field, value)
        return json_format.ParseDict(tree, METHODS[route.method].request())
    except (ValueError, TypeError, AttributeError, json_format.ParseError):
        raise invalid("Invalid JSON payload or query parameter received.") from None


def _put(tree: dict[str, Any], field: str, value: str) -> None:
    *parents, last = field.split(".")
    for parent in parents:
        tree = tree.setdefault(parent, {})
    tree[last] = value
