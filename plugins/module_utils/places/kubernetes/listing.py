# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Many secrets from one LIST a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import PullSecretError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.base import Settings
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.client import (
    KubernetesClients,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.target import (
    KubernetesTarget,
)

__all__ = ["Listing"]

# From how many secrets of one cluster on a single LIST is cheaper than a GET each.
_LIST_FROM = 3

_Key = tuple[Optional[str], Optional[str]]


class Listing:
    """What there was of ours at the beginning of the run.  Thread-safe once prepared."""

    def __init__(self, settings: Settings, clients: KubernetesClients) -> None:
        self._settings = settings
        self._clients = clients
        self._known: dict[_Key, dict[tuple[str, str], dict[str, Any]]] = {}

    def prepare(self, targets: Sequence[KubernetesTarget]) -> None:
        """Read all of a cluster's secrets in one LIST, where that pays and the user may."""
        groups: dict[_Key, set[tuple[str, str]]] = {}
        for target in targets:
            groups.setdefault((target.context, target.kubeconfig), set()).add((target.namespace, target.name))
        worth = [(key, wanted) for key, wanted in groups.items() if len(wanted) >= _LIST_FROM]
        with ThreadPoolExecutor(max_workers=max(1, self._settings.concurrency)) as pool:
            list(pool.map(lambda item: self._list(*item), worth))

    def _list(self, key: _Key, wanted: set[tuple[str, str]]) -> None:
        found: dict[tuple[str, str], dict[str, Any]] = {}
        try:
            for secret in self._clients.get(*key).list_all(
                "secrets", "managed-by=hyperfleet", self._settings.deadline()
            ):
                name = (secret["metadata"]["namespace"], secret["metadata"]["name"])
                if name in wanted:
                    found[name] = secret
        except PullSecretError:
            # The right to LIST everywhere is not needed; whatever else is wrong, each GET will say.
            return
        self._known[key] = found

    def secret(self, target: KubernetesTarget) -> dict[str, Any] | None:
        """The secret, or None: it was not there, or not ours, or nothing was listed."""
        known = self._known.get((target.context, target.kubeconfig))
        return None if known is None else known.get((target.namespace, target.name))

    def covers(self, target: KubernetesTarget) -> bool:
        """Whether a secret that was there and ours would be known."""
        return (target.context, target.kubeconfig) in self._known
