# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Kubernetes client for check mode: it has the server check what would be made, and writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....clients.kubernetes.client import KubernetesClient
from ....runtime.retry import Deadline

__all__ = ["DryRunClient"]


class DryRunClient:
    """As ``KubernetesClient``, whose other methods it has."""

    def __init__(self, client: KubernetesClient) -> None:
        self._client = client
        # Needs no lock: an entry is of one cluster's Job, and only that cluster's thread asks for it.
        self._deleted: set[tuple[str, str, str]] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def create(
        self, namespace: str, kind: str, body: Mapping[str, Any], deadline: Deadline, **_options: Any
    ) -> dict[str, Any]:
        """What the server would make of it; nothing is asked about what takes a deleted one's place."""
        if (namespace, kind, str(body["metadata"]["name"])) in self._deleted:
            return dict(body)
        return self._client.create(namespace, kind, body, deadline, dry_run=True)

    def patch(self, *_arguments: Any, **_options: Any) -> dict[str, Any]:
        """Nothing."""
        return {}

    def delete(self, namespace: str, kind: str, name: str, *_arguments: Any, **_options: Any) -> bool:
        """Said to be done."""
        self._deleted.add((namespace, kind, name))
        return True
