# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Helpers of the contract suite: clients, a workspace that cleans up, refusals by status."""

from __future__ import annotations

import os
import uuid
from typing import Any

import grpc
import pytest
from google.api_core.client_options import ClientOptions
from google.api_core.exceptions import GoogleAPICallError, NotFound
from google.auth.credentials import AnonymousCredentials
from google.cloud import secretmanager_v1
from google.cloud.secretmanager_v1 import SecretManagerServiceClient
from google.cloud.secretmanager_v1.services.secret_manager_service import transports
from google_crc32c import value as crc32c

# A project of one's own: the suite creates and deletes secrets there, with application default credentials.
REAL_PROJECT = os.environ.get("SECRET_MANAGER_CONTRACT_PROJECT", "")
TRANSPORTS = ("grpc", "rest")
AUTOMATIC: dict[str, Any] = {"replication": {"automatic": {}}}

Client = Any  # a SecretManagerServiceClient: its annotations leave out the dicts that it takes
State = secretmanager_v1.SecretVersion.State


def lab_client(transport: str, grpc_address: str, rest_address: str) -> Client:
    """The unchanged library against plain-text addresses of the stand-in."""
    if transport == "grpc":
        channel = grpc.insecure_channel(grpc_address)
        return SecretManagerServiceClient(
            transport=transports.SecretManagerServiceGrpcTransport(channel=channel)
        )
    return SecretManagerServiceClient(
        transport="rest",
        credentials=AnonymousCredentials(),
        client_options=ClientOptions(api_endpoint=rest_address),
    )


def real_client(transport: str) -> Client:
    return SecretManagerServiceClient(transport=transport)


def status_of(error: GoogleAPICallError) -> str:
    """The status that the service sent: REST has it in the body only, as classes follow the HTTP status."""
    if error.grpc_status_code is not None and not hasattr(error.response, "json"):
        return str(error.grpc_status_code.name)
    return str(error.response.json()["error"]["status"])


def refused(*statuses: str) -> pytest.RaisesExc[GoogleAPICallError]:
    """The block must be refused with one of these statuses."""
    return pytest.raises(GoogleAPICallError, check=lambda error: status_of(error) in statuses)


class Workspace:
    """A client, a project and a prefix of its own; whatever was made is deleted at the end."""

    def __init__(self, client: Client, project: str) -> None:
        self.client = client
        self.parent = f"projects/{project}"
        self.prefix = f"contract-{uuid.uuid4().hex[:12]}"
        self._count = 0
        self._made: set[str] = set()

    def secret_id(self) -> str:
        self._count += 1
        secret_id = f"{self.prefix}-{self._count}"
        self._made.add(secret_id)
        return secret_id

    def name(self, secret_id: str) -> str:
        return f"{self.parent}/secrets/{secret_id}"

    def create(self, secret_id: str | None = None, **fields: Any) -> Any:
        if secret_id is None:
            secret_id = self.secret_id()
        self._made.add(secret_id)
        return self.client.create_secret(
            parent=self.parent, secret_id=secret_id, secret={**AUTOMATIC, **fields}
        )

    def add(self, secret_name: str, data: bytes) -> Any:
        return self.client.add_secret_version(
            parent=secret_name, payload={"data": data, "data_crc32c": crc32c(data)}
        )

    def versions(self, secret_name: str, where: str = "") -> list[str]:
        """Numbers of the versions listed."""
        listed = self.client.list_secret_versions(request={"parent": secret_name, "filter": where})
        return [version.name.rpartition("/")[2] for version in listed]

    def secrets(self, where: str) -> list[str]:
        """Ids of the secrets listed."""
        listed = self.client.list_secrets(request={"parent": self.parent, "filter": where})
        return [secret.name.rpartition("/")[2] for secret in listed]

    def clean(self) -> None:
        for secret_id in self._made:
            try:
                self.client.delete_secret(name=self.name(secret_id))
            except NotFound:
                continue
