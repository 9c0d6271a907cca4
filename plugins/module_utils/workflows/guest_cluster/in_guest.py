# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads and writes one guest through its own API server: its pull secrets and what names them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...clients.kubernetes.client import KubernetesClient
from ...clients.kubernetes.errors import NamespaceMissing
from ...dockerconfig import DockerConfig
from ...model.errors import OwnershipConflict
from ...model.guest_cluster import DELIVERED_BY, GuestPullSecret
from ...model.naming import MANAGED_BY, owner_problem
from ...model.shown import first_few, shown
from ...places.kubernetes_secret.compare import differences
from ...places.kubernetes_secret.conflict_retry import retry_when_overtaken
from ...places.kubernetes_secret.owned_objects import OwnedObjects
from ...places.kubernetes_secret.service_accounts import link_service_account
from ...places.kubernetes_secret.target import KEY, docker_config_value, is_being_deleted
from ...places.writing import parse_any
from ...runtime.retry import Deadline
from ...runtime.run_settings import RunSettings
from ..run import Work
from .desired import guest_secret

__all__ = ["Found", "InGuest", "Put"]

_Object = dict[str, Any]
Found = dict[tuple[str, str], _Object]
"""Namespace and name of a Secret in a guest to the Secret."""
_LEGACY_KEY = ".dockercfg"


@dataclass(frozen=True)
class Put:
    """What happened to the Secret of one namespace.

    :param before: its name and resourceVersion before; empty if it was not there. ``after`` likewise.
    """

    is_changed: bool
    before: str
    after: str


class InGuest:
    """One guest.

    :param api: its API server.
    :param cluster: the Cluster's name.
    :param dry_run: check mode: nothing is written.
    """

    def __init__(
        self,
        settings: RunSettings,
        api: KubernetesClient,
        wanted: GuestPullSecret,
        cluster: str,
        current: Work,
        *,
        dry_run: bool,
    ) -> None:
        self._settings = settings
        self._api = api
        self._wanted = wanted
        self._cluster = cluster
        self._current = current
        self._dry_run = dry_run

    def ours(self, deadline: Deadline) -> Found:
        """Return the Secrets of this delivery."""
        labels = {"managed-by": MANAGED_BY, "cluster-id": self._cluster, DELIVERED_BY: self._wanted.set_name}
        selector = ",".join(f"{name}={value}" for name, value in labels.items())
        found = self._api.list_all("secrets", selector, deadline)
        return {(item["metadata"]["namespace"], item["metadata"]["name"]): item for item in found}

    def namespaces(self) -> tuple[list[str], bool]:
        """Return the namespaces that get the Secret, and whether the others may lose it."""
        selector, named = self._wanted.guest_selector, list(self._wanted.secret_namespaces)
        if selector is None:
            return named, True
        found = [
            str(namespace["metadata"]["name"])
            for namespace in self._api.list_all("namespaces", selector, self._current.deadline)
            if not is_being_deleted(namespace)
        ]
        if not found:
            self._current.outcome.warn(
                ["no namespace of the guest fits secret_namespace_selector; nothing is removed there"]
            )
        return list(dict.fromkeys([*named, *found])), bool(found)

    def put(self, namespace: str, config: DockerConfig, listed: _Object | None) -> Put:
        """Write the Secret of a namespace.

        :param listed: the Secret if it was listed.
        :raises OwnershipConflict: it belongs to another owner, or to another delivery.
        """
        outcome, objects = self._current.outcome, self._objects(namespace)
        wanted = guest_secret(self._wanted, namespace, self._cluster, config)
        states: list[_Object | None] = []

        def write(fresh: bool) -> None:
            outcome.restart()
            existing = (None if fresh else listed) or objects.get(wanted.kind, wanted.name)
            if (
                existing is None
                and self._dry_run
                and not self._api.has_namespace(namespace, objects.deadline)
            ):
                raise NamespaceMissing(
                    f"{self._api.place(namespace, wanted.kind, wanted.name)}: the namespace does not exist"
                )
            if existing is not None:
                self._guard(objects, existing)
                value = docker_config_value(existing)
                self._current.seen.extend([value] if value is not None else ())
                outcome.before = parse_any(value)
            states[:] = existing, objects.apply(wanted, existing)

        retry_when_overtaken(self._settings, outcome, self._current.deadline, write)
        outcome.settle()
        before, after = states
        return Put(bool(differences(wanted.body, before)), _version(before), _version(after))

    def link(self, namespace: str, account: str, secret: str, *, present: bool) -> bool:
        """Name a Secret in a service account, or not any more; return whether there is such an account."""
        outcome = self._current.outcome
        found: list[bool] = []

        def write(_fresh: bool) -> None:
            outcome.restart()
            found[:] = [
                link_service_account(
                    self._api,
                    self._settings,
                    namespace,
                    account,
                    secret,
                    outcome,
                    self._current.deadline,
                    present=present,
                    dry_run=self._dry_run,
                    waits=False,
                )
            ]

        retry_when_overtaken(self._settings, outcome, self._current.deadline, write)
        outcome.settle()
        return found[0]

    def delete(self, namespace: str, name: str, listed: _Object) -> None:
        """Delete a Secret of this delivery."""
        objects = self._objects(namespace)

        def delete(fresh: bool) -> None:
            self._current.outcome.restart()
            existing = objects.get("secrets", name) if fresh else listed
            if existing is not None:
                objects.guard("secrets", existing, adopt=False, delete=True)
                objects.delete("secrets", existing)

        retry_when_overtaken(self._settings, self._current.outcome, self._current.deadline, delete)
        self._current.outcome.settle()

    def _guard(self, objects: OwnedObjects, secret: _Object) -> None:
        labels = secret["metadata"].get("labels") or {}
        record = labels.get(DELIVERED_BY)
        place = objects.client.place(objects.namespace, "secrets", secret["metadata"]["name"])
        if record not in (None, self._wanted.set_name):
            raise OwnershipConflict(
                f"{place} exists but belongs to the delivery {shown(record)}",
                "it was not changed; give one of the deliveries another secret_name",
            )
        objects.guard("secrets", secret, adopt=self._wanted.adopt, delete=False)
        others = [key for key in secret.get("data") or () if key not in (KEY, _LEGACY_KEY)]
        if others and owner_problem(labels, self._cluster):
            raise OwnershipConflict(
                f"{place} also holds {first_few([f'key {shown(key)}' for key in others])}",
                "it was not changed; set another secret_name, or move that to a Secret of its own",
            )

    def _objects(self, namespace: str) -> OwnedObjects:
        current = self._current
        return OwnedObjects(
            self._api,
            namespace,
            self._cluster,
            current.outcome,
            current.deadline,
            dry_run=self._dry_run,
            waits=False,
        )


def _version(secret: _Object | None) -> str:
    return (
        f"{secret['metadata']['name']}/{secret['metadata']['resourceVersion']}" if secret is not None else ""
    )
