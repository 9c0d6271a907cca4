# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a request asks for, and who asks: URL → resource, namespace, name and verb; selectors; token → user."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.stand_ins.http_server import Request
from tests.stand_ins.kubernetes.resources import RESOURCES, Resource
from tests.stand_ins.kubernetes.status import ApiError, forbidden

_ONE = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_MANY = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}

# Paths that need no token, as RBAC's system:public-info-viewer has them.
_PUBLIC = frozenset({"/healthz", "/livez", "/readyz", "/version"})
ADMIN = "admin"

_KEY = r"[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?"
_VALUE = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?"
# ``a``, ``!a``, ``a=b``, ``a==b``, ``a!=b``, ``a in (b, c)`` or ``a notin (b, c)``.
_REQUIREMENT = re.compile(
    rf"(!?)\s*({_KEY})(?:\s*(==|=|!=)\s*({_VALUE})|\s+(in|notin)\s*\(([^()]*)\))?", re.ASCII
)

Object = dict[str, Any]
Predicate = Callable[[Object], bool]


class Target(NamedTuple):
    """A resource request: ``name`` is empty for a collection, ``namespace`` is None for all of them."""

    resource: Resource
    namespace: str | None
    name: str
    verb: str
    sub: str = ""

    @property
    def space(self) -> str:
        """The key of the store: namespaces themselves are kept under the empty namespace."""
        return (self.namespace or "") if self.resource.namespaced else ""


@functools.lru_cache(maxsize=4096)
def _split(path: str) -> tuple[Resource, str | None, str, str] | None:
    parts = path.split("/")[1:]
    if not all(parts) or parts[0] not in ("api", "apis"):
        return None
    length = 2 if parts[0] == "api" else 3
    base, rest = "/".join(parts[:length]), parts[length:]
    namespace: str | None = None
    if len(rest) >= 3 and rest[0] == "namespaces":
        namespace, rest = rest[1], rest[2:]
    if not 1 <= len(rest) <= 3:
        return None
    plural, name, sub = [*rest, "", ""][:3]
    resource = RESOURCES.get(plural)
    if resource is None or resource.base != base or (sub and sub not in resource.subresources):
        return None
    if (namespace and not resource.namespaced) or (resource.namespaced and name and not namespace):
        return None
    if plural == "namespaces" and name:
        namespace = name  # the authorizer sees a namespace as lying in itself
    return resource, namespace, name, sub


def route(request: Request) -> Target | None:
    """Return the resource request, or None when the URL names no resource; without a verb for a wrong method."""
    found = _split(request.path)
    if found is None:
        return None
    resource, namespace, name, sub = found
    verb = (_ONE if name else _MANY).get(request.method, "")
    if verb == "list" and request.query.get("watch") in ("true", "1"):
        verb = "watch"
    return Target(resource, namespace, name, verb, sub)


def authenticate(request: Request, tokens: dict[str, str]) -> str:
    """Return the user of the bearer token, "" for a public path without one; 401 otherwise."""
    scheme, _space, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip() in tokens:
        user = tokens[token.strip()]
        # ``kubectl --as``: only the admin may act as another user.
        return request.headers.get("impersonate-user", user) if user == ADMIN else user
    if not scheme and request.path in _PUBLIC:
        return ""
    raise ApiError(401, "Unauthorized")


def authorize(user: str, target: Target) -> None:
    """Refuse with 403, in the words of the RBAC authorizer: the admin may do everything, all others nothing."""
    if user == ADMIN:
        return
    where = f'in the namespace "{target.namespace}"' if target.namespace else "at the cluster scope"
    resource = target.resource
    plural = resource.plural + (f"/{target.sub}" if target.sub else "")
    why = f'User "{user}" cannot {target.verb} resource "{plural}" in API group "{resource.group}" {where}'
    raise forbidden(resource.qualified, target.name, why)


def selected(request: Request) -> list[Predicate]:
    """The predicates of a LIST or WATCH; 400 for a selector that cannot be read."""
    labels = re.split(r",(?![^()]*\))", request.query.get("labelSelector", ""))
    fields = request.query.get("fieldSelector", "").split(",")
    return [
        *(_label_requirement(text.strip()) for text in labels if text.strip()),
        *(_field_requirement(text.strip()) for text in fields if text.strip()),
    ]


def _label_requirement(text: str) -> Predicate:
    found = _REQUIREMENT.fullmatch(text)
    if not found or (found[1] and (found[3] or found[5])):
        raise ApiError(400, f"unable to parse requirement: {text!r}")
    absent, key, sign, value, word, inside = found.groups()
    values = {value} if sign else set(map(str.strip, (inside or "").split(",")))
    wanted = not absent and sign != "!=" and word != "notin"

    def fits(obj: Object) -> bool:
        labels = obj["metadata"].get("labels") or {}
        return (labels.get(key) in values if sign or word else key in labels) == wanted

    return fits


def _field_requirement(text: str) -> Predicate:
    """``metadata.name=x`` or ``metadata.name!=x``."""
    found = re.fullmatch(r"([^=!]+)(==|=|!=)(.*)", text)
    if not found:
        raise ApiError(400, f"invalid selector: '{text}'")
    path, sign, value = found.groups()

    def fits(obj: Object) -> bool:
        at: Any = obj
        for step in path.split("."):
            at = at.get(step, {})
        return bool(at == value) == (sign != "!=")

    return fits
