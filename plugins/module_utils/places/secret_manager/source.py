# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reading a docker config from Secret Manager: ``gcp: {project, secret, version}``."""

from __future__ import annotations

from typing import Any, ClassVar

from ...clients.google.client import SecretManagerClients, version_number
from ...clients.google.errors import FailedPrecondition
from ...model.errors import NotFound
from ...model.stored_version import StoredVersion
from ...runtime.retry import Deadline
from ...runtime.settings import RunSettings
from ..base import Source
from .access import access_enabled

__all__ = ["SecretManagerSource"]


class SecretManagerSource(Source):
    """A version of a secret; ``latest`` here is the newest *enabled* one, as a consumer wants it."""

    NAME: ClassVar[str] = "gcp"
    SPEC: ClassVar[dict[str, Any]] = {
        "type": "dict",
        "options": {
            "project": {"type": "str", "required": True},
            "secret": {"type": "str", "required": True, "no_log": False},
            "version": {"type": "str", "default": "latest"},
            "impersonate_service_account": {"type": "str"},
        },
    }
    RULES: ClassVar[tuple[str, ...]] = ("project", "secret", "version")

    def __init__(self, settings: RunSettings, clients: SecretManagerClients | None = None) -> None:
        super().__init__(settings)
        self._clients = clients or SecretManagerClients(settings)

    def read(self, reference: Any, deadline: Deadline) -> bytes:
        """The payload, its checksum checked."""
        return self.read_version(reference, deadline)[0]

    def read_version(self, reference: Any, deadline: Deadline) -> tuple[bytes, StoredVersion | None]:
        """The payload, and the number of the version that it is of."""
        client = self._clients.get(deadline, reference.get("impersonate_service_account"))
        secret = f"projects/{reference['project']}/secrets/{reference['secret']}"
        version = reference.get("version") or "latest"
        if version != "latest":
            name = f"{secret}/versions/{version}"
            return access_enabled(client, name, deadline), StoredVersion.parse(name)
        try:
            latest = client.access_latest(secret, deadline)
        except FailedPrecondition:
            # The newest one is disabled or destroyed: an older one may be in use.
            newest = client.newest_version(secret, deadline)
            if newest is not None:
                version = version_number(newest.name)
                data = client.access(f"{secret}/versions/{version}", deadline)
                return data, StoredVersion(secret, int(version))
        else:
            if latest is not None:
                return latest[1], StoredVersion(secret, int(latest[0]))
        raise NotFound(f"{secret} does not exist or has no enabled version")

    def describe(self, reference: Any) -> str:
        """``gcp:projects/P/secrets/S/versions/V``."""
        return (
            f"gcp:projects/{reference['project']}/secrets/{reference['secret']}"
            f"/versions/{reference.get('version') or 'latest'}"
        )
