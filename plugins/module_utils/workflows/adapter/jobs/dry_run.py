# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Kubernetes client for check mode: the server checks what would be created, and nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....clients.kubernetes.client import KubernetesClient
from ....runtime.retry import Deadline

__all__ = ["DryRunClient"]


class DryRunClient:
    """A ``KubernetesClient`` that writes nothing."""

    def __init__(self, client: KubernetesClient) -> None:
        self._client = client
        # Needs no lock: only the cluster's own thread reads or writes an entry.
        self._deleted: set[tuple[str, str, str]] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def create(
        self, namespace: str, kind: str, body: Mapping[str, Any], deadline: Deadline, **_options: Any
    ) -> dict[str, Any]:
        """Return what the server would create. Does not ask about a successor of a deleted object."""
        if (namespace, kind, str(body["metadata"]["name"])) in self._deleted:
            return dict(body)
        return self._client.create(namespace, kind, body, deadline, dry_run=True)

    def patch(self, *_arguments: Any, **_options: Any) -> dict[str, Any]:
        """Do nothing."""
        return {}

    def delete(self, namespace: str, kind: str, name: str, *_arguments: Any, **_options: Any) -> bool:
        """Report a deletion without deleting."""
        self._deleted.add((namespace, kind, name))
        return True
