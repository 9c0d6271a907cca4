# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads and writes one guest through its own API server: its pull secrets and what names them."""

from __future__ import annotations

from typing import Any

from ...clients.kubernetes.client import KubernetesClient
from ...clients.kubernetes.errors import NamespaceMissing
from ...dockerconfig import DockerConfig
from ...model.errors import OwnershipConflict
from ...model.guest_cluster import DELIVERED_BY
from ...model.naming import MANAGED_BY, owner_problem
from ...model.shown import first_few, shown
from ...places.kubernetes_secret.compare import differences
from ...places.kubernetes_secret.owned_objects import OwnedObjects
from ...places.kubernetes_secret.service_accounts import link_service_account
from ...places.kubernetes_secret.target import KEY, docker_config_value, is_being_deleted
from ...runtime.retry import Deadline
from ..run import Work
from .desired import check_delivery, guest_secret
from .further import FurtherObjects
from .guest_run import GuestRun

__all__ = ["InGuest", "Secrets"]

_Object = dict[str, Any]
Secrets = dict[tuple[str, str], _Object]
"""Namespace and name of a Secret in a guest to the Secret."""
_LEGACY_KEY = ".dockercfg"


class InGuest:
    """One guest.

    :param api: its API server.
    :param cluster: the Cluster's name.
    """

    def __init__(self, run: GuestRun, api: KubernetesClient, cluster: str, current: Work) -> None:
        self._run = run
        self._wanted = run.wanted
        self._api = api
        self._cluster = cluster
        self._current = current
        self.further = FurtherObjects(run, api, cluster, current)

    def secrets(self, deadline: Deadline) -> Secrets:
        """Return the Secrets of this delivery."""
        labels = {"managed-by": MANAGED_BY, "cluster-id": self._cluster, DELIVERED_BY: self._wanted.set_name}
        selector = ",".join(f"{name}={value}" for name, value in labels.items())
        secrets = self._api.list_all("secrets", selector, deadline)
        return {(item["metadata"]["namespace"], item["metadata"]["name"]): item for item in secrets}

    def namespaces(self) -> tuple[list[str], bool]:
        """Return the namespaces that get the Secret, and whether the others may lose it."""
        selector, named = self._wanted.guest_selector, list(self._wanted.secret_namespaces)
        if selector is None:
            return named, True
        selected = [
            str(namespace["metadata"]["name"])
            for namespace in self._api.list_all("namespaces", selector, self._current.deadline)
            if not is_being_deleted(namespace)
        ]
        return list(dict.fromkeys([*named, *selected])), bool(selected)

    def put(self, namespace: str, config: DockerConfig, listed: _Object | None) -> tuple[str, str]:
        """Write the Secret of a namespace, and return its name and resourceVersion before and after.

        :param listed: the Secret if it was listed.
        :raises OwnershipConflict: it belongs to another owner, or to another delivery.
        """
        outcome, objects = self._current.outcome, self._objects(namespace)
        wanted = guest_secret(self._wanted, namespace, self._cluster, config)

        def write(fresh: bool) -> tuple[str, str]:
            existing = (None if fresh else listed) or objects.get(wanted.kind, wanted.name)
            if existing is None:
                self._check_namespace(objects, wanted.name)
            else:
                self._guard(objects, existing)
                outcome.before = self._current.parse_existing(docker_config_value(existing))
            after = _version(objects.apply(wanted, existing))
            # Check mode does not know the next version.
            is_intended = self._run.dry_run and differences(wanted.body, existing)
            return _version(existing), f"{wanted.name}/" if is_intended else after

        return self._run.retry(self._current, write)

    def link(self, namespace: str, account: str, secret: str, *, present: bool) -> bool:
        """Name a Secret in a service account, or not any more; return whether there is such an account."""
        return self._run.retry(
            self._current,
            lambda _fresh: link_service_account(
                self._api,
                self._run.settings,
                namespace,
                account,
                secret,
                self._current.outcome,
                self._current.deadline,
                present=present,
                dry_run=self._run.dry_run,
                waits=False,
            ),
        )

    def delete(self, namespace: str, name: str, listed: _Object) -> None:
        """Delete a Secret of this delivery."""
        objects = self._objects(namespace)
        self._run.retry(
            self._current, lambda fresh: objects.remove("secrets", name, None if fresh else listed)
        )

    def _check_namespace(self, objects: OwnedObjects, name: str) -> None:
        """In check mode, which does not try to write, find a missing namespace."""
        namespace = objects.namespace
        if not self._run.dry_run or namespace in self.further.new_namespaces:
            return
        if not self._api.has_namespace(namespace, objects.deadline):
            raise NamespaceMissing(
                f"{self._api.place(namespace, 'secrets', name)}: the namespace does not exist"
            )

    def _guard(self, objects: OwnedObjects, secret: _Object) -> None:
        place = self._api.place(objects.namespace, "secrets", secret["metadata"]["name"])
        remedy = "give one of the deliveries another secret_name"
        check_delivery(secret, DELIVERED_BY, self._wanted.set_name, place, remedy)
        objects.guard("secrets", secret, adopt=self._wanted.adopt, delete=False)
        foreign_keys = [key for key in secret.get("data") or () if key not in (KEY, _LEGACY_KEY)]
        if foreign_keys and owner_problem(secret["metadata"].get("labels") or {}, self._cluster):
            raise OwnershipConflict(
                f"{place} also holds {first_few([f'key {shown(key)}' for key in foreign_keys])}",
                "it was not changed; set another secret_name, or move that to a Secret of its own",
            )

    def _objects(self, namespace: str) -> OwnedObjects:
        return self._run.objects(namespace, self._cluster, self._current, self._api)


def _version(secret: _Object | None) -> str:
    return (
        f"{secret['metadata']['name']}/{secret['metadata']['resourceVersion']}" if secret is not None else ""
    )
