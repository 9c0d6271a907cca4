# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Looking at secrets in Secret Manager: metadata and versions, never a payload."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, cast

from ...clients.google.client import SecretManagerClients, version_number
from ...model.naming import OURS
from ...runtime.retry import Deadline
from ...runtime.run_settings import RunSettings
from ..secret_store import Container, SecretMetadata, StoreInspector, VersionMetadata
from .listing import SecretManagerListing
from .target import SecretManagerTarget

__all__ = ["SecretManagerInspector"]

_OWNED = " AND ".join(f"labels.{key}={value}" for key, value in OURS.items())
# The service account that lists, and the project.
_Key = tuple[Optional[str], str]


class SecretManagerInspector(StoreInspector[SecretManagerTarget]):
    """One ListSecrets a project, one ListSecretVersions a secret."""

    def __init__(self, settings: RunSettings, clients: SecretManagerClients) -> None:
        self._clients = clients
        self._listing = SecretManagerListing(settings, clients)

    def prepare(self, targets: Sequence[SecretManagerTarget]) -> None:
        self._listing.prepare(targets)

    def secret(self, target: SecretManagerTarget, deadline: Deadline) -> SecretMetadata | None:
        # The list has ours only: what is not in it may be somebody else's.
        found = self._listing.secret(target)
        if found is None:
            found = self._clients.get(deadline, target.impersonate).get_secret(target.name, deadline)
        return None if found is None else _metadata(found, target.name)

    def versions(self, target: SecretManagerTarget, deadline: Deadline) -> list[VersionMetadata]:
        client = self._clients.get(deadline, target.impersonate)
        found = [
            VersionMetadata(version_number(version.name), version.state.name.lower(), _time(version))
            for version in client.versions(target.name, deadline)
        ]
        return sorted(found, key=lambda version: int(version.number), reverse=True)

    def containers(self, targets: Sequence[SecretManagerTarget], named: Sequence[str]) -> list[Container]:
        keys: dict[_Key, None] = {(target.impersonate, target.project): None for target in targets}
        known = {project for _account, project in keys}
        keys.update({(None, project): None for project in named if project not in known})
        return [Container(key, f"projects/{key[1]}") for key in keys]

    def owned(self, container: Container, deadline: Deadline) -> list[SecretMetadata]:
        impersonate, project = cast(_Key, container.key)
        found = self._clients.get(deadline, impersonate).list_secrets(project, _OWNED, deadline)
        return [
            _metadata(secret, f"projects/{project}/secrets/{version_number(secret.name)}") for secret in found
        ]


def _metadata(secret: Any, address: str) -> SecretMetadata:
    return SecretMetadata(address, str(secret.name), dict(secret.labels), _time(secret))


def _time(message: Any) -> str | None:
    # The job's light client does not read it of a secret.
    created = getattr(message, "create_time", None)
    return created.strftime("%Y-%m-%dT%H:%M:%SZ") if created else None
