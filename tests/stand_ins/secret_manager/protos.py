# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Raw protobuf classes of the client library's own types, and the table of methods.

proto-plus wrappers are comfortable but cost several times a message's own price; a server does not need them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from google.cloud.secretmanager_v1 import types
from google.protobuf import empty_pb2

PACKAGE = "google.cloud.secretmanager.v1"
SERVICE = f"{PACKAGE}.SecretManagerService"

Message = Any  # protobuf's generated classes have no static types here

Secret: Any = types.Secret.pb()
SecretVersion: Any = types.SecretVersion.pb()
Replication: Any = types.Replication.pb()
ReplicationStatus: Any = types.ReplicationStatus.pb()
ListSecretsResponse: Any = types.ListSecretsResponse.pb()
ListSecretVersionsResponse: Any = types.ListSecretVersionsResponse.pb()
AccessSecretVersionResponse: Any = types.AccessSecretVersionResponse.pb()
Empty: Any = empty_pb2.Empty

ENABLED = int(types.SecretVersion.State.ENABLED)
DISABLED = int(types.SecretVersion.State.DISABLED)
DESTROYED = int(types.SecretVersion.State.DESTROYED)
STATE_NAME = {ENABLED: "ENABLED", DISABLED: "DISABLED", DESTROYED: "DESTROYED"}
STATE_NUMBER = {name: number for number, name in STATE_NAME.items()}


@dataclass(frozen=True)
class Method:
    """One RPC: its message classes and the name of the resource a request is about."""

    name: str
    request: Any
    response: Any
    resource: Callable[[Message], str]


def _name(request: Message) -> str:
    return str(request.name)


def _parent(request: Message) -> str:
    return str(request.parent)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "CreateSecret",
            types.CreateSecretRequest.pb(),
            Secret,
            lambda request: f"{request.parent}/secrets/{request.secret_id}",
        ),
        Method("GetSecret", types.GetSecretRequest.pb(), Secret, _name),
        Method(
            "UpdateSecret",
            types.UpdateSecretRequest.pb(),
            Secret,
            lambda request: str(request.secret.name),
        ),
        Method("DeleteSecret", types.DeleteSecretRequest.pb(), Empty, _name),
        Method("ListSecrets", types.ListSecretsRequest.pb(), ListSecretsResponse, _parent),
        Method("AddSecretVersion", types.AddSecretVersionRequest.pb(), SecretVersion, _parent),
        Method("GetSecretVersion", types.GetSecretVersionRequest.pb(), SecretVersion, _name),
        Method(
            "AccessSecretVersion",
            types.AccessSecretVersionRequest.pb(),
            AccessSecretVersionResponse,
            _name,
        ),
        Method(
            "ListSecretVersions",
            types.ListSecretVersionsRequest.pb(),
            ListSecretVersionsResponse,
            _parent,
        ),
        Method("EnableSecretVersion", types.EnableSecretVersionRequest.pb(), SecretVersion, _name),
        Method("DisableSecretVersion", types.DisableSecretVersionRequest.pb(), SecretVersion, _name),
        Method("DestroySecretVersion", types.DestroySecretVersionRequest.pb(), SecretVersion, _name),
    )
}
