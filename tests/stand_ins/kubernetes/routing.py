# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a request asks for and who asks: URL → resource, namespace, name and verb; token → user."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

from tests.stand_ins.http_server import Request
from tests.stand_ins.kubernetes.resources import RESOURCES, Resource
from tests.stand_ins.kubernetes.status import ApiError, forbidden

_ONE = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_MANY = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}

# Paths that need no token, as RBAC's system:public-info-viewer has them.
PUBLIC = frozenset({"/healthz", "/livez", "/readyz", "/version"})
ADMINS = "system:masters"


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


@dataclass(frozen=True)
class User:
    name: str
    groups: tuple[str, ...]


@functools.lru_cache(maxsize=4096)
def _split(path: str) -> tuple[Resource, str | None, str, str] | None:
    parts = path.split("/")[1:]
    core = parts[:1] == ["api"]
    if not all(parts) or not (core or parts[:1] == ["apis"]):
        return None
    api_version, rest = "/".join(parts[1 : 2 if core else 3]), parts[2 if core else 3 :]
    namespace: str | None = None
    if len(rest) >= 3 and rest[0] == "namespaces":
        namespace, rest = rest[1], rest[2:]
    if not rest or len(rest) > 3:
        return None
    resource = RESOURCES.get(rest[0])
    name = rest[1] if len(rest) > 1 else ""
    sub = rest[2] if len(rest) == 3 else ""
    if (
        resource is None
        or resource.api_version != api_version
        or (namespace is not None and not resource.namespaced)
        or (sub and sub not in resource.subresources)
    ):
        return None
    if resource.namespaced and name and namespace is None:
        return None
    if resource.plural == "namespaces" and name:
        namespace = name  # the authorizer sees a namespace as lying in itself
    return resource, namespace, name, sub


def route(request: Request) -> Target | None:
    """Return the resource request, or None when the URL names no resource; 405 for a wrong method."""
    found = _split(request.path)
    if found is None:
        return None
    resource, namespace, name, sub = found
    verb = (_ONE if name else _MANY).get(request.method, "")
    if sub and verb == "delete":
        verb = ""
    if verb == "list" and request.query.get("watch") in ("true", "1"):
        verb = "watch"
    return Target(resource, namespace, name, verb, sub)


def authenticate(request: Request, tokens: dict[str, User]) -> User | None:
    """Return the user of the bearer token, None for a public path without one; 401 otherwise."""
    scheme, _space, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip() in tokens:
        return tokens[token.strip()]
    if not scheme and request.path in PUBLIC:
        return None
    raise ApiError(401, "Unauthorized")


def is_admin(user: User) -> bool:
    """Admins may do everything, all others nothing."""
    return ADMINS in user.groups


def authorize(user: User, target: Target) -> None:
    """Refuse with 403, in the words of the RBAC authorizer, what the user may not do."""
    if is_admin(user):
        return
    where = f'in the namespace "{target.namespace}"' if target.namespace else "at the cluster scope"
    resource = target.resource
    plural = resource.plural + (f"/{target.sub}" if target.sub else "")
    raise forbidden(
        resource.qualified,
        target.name,
        f'User "{user.name}" cannot {target.verb} resource "{plural}" in API group '
        f'"{resource.group}" {where}',
    )
