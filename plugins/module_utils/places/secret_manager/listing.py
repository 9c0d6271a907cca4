# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the metadata of many secrets with one LIST per project."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Optional

from ...clients.google.client import SecretManagerClients, version_number
from ...runtime.run_settings import RunSettings
from .. import listing
from .target import SecretManagerTarget

__all__ = ["SecretManagerListing"]

# The service account that lists, and the project.
_Group = tuple[Optional[str], str]


class SecretManagerListing(listing.Listing[SecretManagerTarget, _Group, str, Any]):
    """By service account and project."""

    def __init__(self, settings: RunSettings, clients: SecretManagerClients) -> None:
        super().__init__(settings)
        self._clients = clients

    def group(self, target: SecretManagerTarget) -> _Group:
        return target.impersonate, target.project

    def name(self, target: SecretManagerTarget) -> str:
        # Not the full name: the service answers with the project's number instead of its id.
        return target.secret

    def list_group(self, group: _Group) -> Iterable[tuple[str, Any]]:
        impersonate, project = group
        deadline = self._settings.deadline()
        client = self._clients.get(deadline, impersonate)
        found = client.list_secrets(project, "labels.managed-by=hyperfleet", deadline)
        return ((version_number(secret.name), secret) for secret in found)
