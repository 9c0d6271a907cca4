# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads many secrets with one LIST per cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Optional

from ...clients.kubernetes.client import KubernetesClients
from ...runtime.run_settings import RunSettings
from .. import listing
from .target import KubernetesTarget

__all__ = ["KubernetesSecretListing"]

# Context and kubeconfig; namespace and name.
_Group = tuple[Optional[str], Optional[str]]
_Name = tuple[str, str]


class KubernetesSecretListing(listing.Listing[KubernetesTarget, _Group, _Name, dict[str, Any]]):
    """Lists by cluster, all of its namespaces at once."""

    def __init__(self, settings: RunSettings, clients: KubernetesClients) -> None:
        super().__init__(settings)
        self._clients = clients

    def group(self, target: KubernetesTarget) -> _Group:
        return target.context, target.kubeconfig

    def name(self, target: KubernetesTarget) -> _Name:
        return target.namespace, target.name

    def list_group(self, group: _Group) -> Iterable[tuple[_Name, dict[str, Any]]]:
        deadline = self._settings.deadline()
        client = self._clients.get(deadline, *group)
        for secret in client.list_all("secrets", "managed-by=hyperfleet", deadline):
            yield (secret["metadata"]["namespace"], secret["metadata"]["name"]), secret
