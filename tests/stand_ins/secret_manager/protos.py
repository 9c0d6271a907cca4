# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Raw protobuf classes of the client library's own types, and the table of methods.

proto-plus wrappers are comfortable but cost several times a message's own price; a server does not need them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from google.cloud.secretmanager_v1 import types
from google.protobuf import empty_pb2

SERVICE = "google.cloud.secretmanager.v1.SecretManagerService"

Message = Any  # protobuf's generated classes have no static types here

Secret: Any = types.Secret.pb()
SecretVersion: Any = types.SecretVersion.pb()
CreateSecretRequest: Any = types.CreateSecretRequest.pb()
ListSecretsResponse: Any = types.ListSecretsResponse.pb()
ListSecretVersionsResponse: Any = types.ListSecretVersionsResponse.pb()
AccessSecretVersionResponse: Any = types.AccessSecretVersionResponse.pb()
Empty: Any = empty_pb2.Empty

ENABLED = int(types.SecretVersion.State.ENABLED)
DISABLED = int(types.SecretVersion.State.DISABLED)
DESTROYED = int(types.SecretVersion.State.DESTROYED)
STATE_NAME = {ENABLED: "ENABLED", DISABLED: "DISABLED", DESTROYED: "DESTROYED"}
STATE_NUMBER = {name: number for number, name in STATE_NAME.items()}


class Method(NamedTuple):
    """The message classes of one RPC."""

    request: Any
    response: Any


METHODS = {
    name: Method(getattr(types, f"{name}Request").pb(), response)
    for response, names in (
        (Secret, ("CreateSecret", "GetSecret", "UpdateSecret")),
        (Empty, ("DeleteSecret",)),
        (ListSecretsResponse, ("ListSecrets",)),
        (SecretVersion, ("AddSecretVersion", "GetSecretVersion")),
        (SecretVersion, ("EnableSecretVersion", "DisableSecretVersion", "DestroySecretVersion")),
        (AccessSecretVersionResponse, ("AccessSecretVersion",)),
        (ListSecretVersionsResponse, ("ListSecretVersions",)),
    )
    for name in names
}


def resource_of(method: str, request: Message) -> str:
    """The name of the resource that a request is about."""
    if method == "CreateSecret":
        return f"{request.parent}/secrets/{request.secret_id}"
    if method == "UpdateSecret":
        return str(request.secret.name)
    return str(request.parent if method.startswith(("Add", "List")) else request.name)
