# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The metadata of many secrets from one LIST a project."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import PullSecretError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.base import Settings
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.client import (
    SecretManagerClients,
    number,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.target import (
    SecretManagerTarget,
)

__all__ = ["Listing"]

# From how many secrets of one project on a single LIST is cheaper than a GET each.
_LIST_FROM = 3


class Listing:
    """What was known at the beginning of the run of the secrets that are ours.  Thread-safe once prepared."""

    def __init__(self, settings: Settings, clients: SecretManagerClients) -> None:
        self._settings = settings
        self._clients = clients
        self._known: dict[str, Any] = {}
        self._listed: set[tuple[str | None, str]] = set()

    def prepare(self, targets: Sequence[SecretManagerTarget]) -> None:
        """Read the metadata of all of a project's secrets in one LIST, where that pays."""
        groups: dict[tuple[str | None, str], set[str]] = {}
        for target in targets:
            groups.setdefault((target.impersonate, target.project), set()).add(target.secret)
        worth = [(key, wanted) for key, wanted in groups.items() if len(wanted) >= _LIST_FROM]
        with ThreadPoolExecutor(max_workers=max(1, self._settings.concurrency)) as pool:
            list(pool.map(lambda item: self._list(*item), worth))

    def _list(self, key: tuple[str | None, str], wanted: set[str]) -> None:
        impersonate, project = key
        try:
            found = self._clients.get(impersonate).list_secrets(
                project, "labels.managed-by=hyperfleet", self._settings.deadline()
            )
        except PullSecretError:
            # The right to LIST is not needed; whatever else is wrong, each target's own GET will say.
            return
        for secret in found:
            secret_id = number(secret.name)
            if secret_id in wanted:
                # The service answers with the project's number in place of its id.
                self._known[f"projects/{project}/secrets/{secret_id}"] = secret
        self._listed.add(key)

    def secret(self, target: SecretManagerTarget) -> Any:
        """The metadata, or None: it was not there, or not ours, or nothing was listed."""
        return self._known.get(target.name)

    def covers(self, target: SecretManagerTarget) -> bool:
        """Whether a secret that was there and ours would be known."""
        return (target.impersonate, target.project) in self._listed
