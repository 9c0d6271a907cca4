# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Secrets that carry our labels and belong to no cluster of the list: nothing removes them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional

from ...model.errors import PermissionDenied, PullSecretError
from ...model.naming import OURS, check_name, kubernetes_secret_address
from ...model.shown import shown
from ...places.kubernetes_secret.target import TYPE, KubernetesTarget
from ...places.secret_store import SecretMetadata, StoreInspector
from ..run import Run

if TYPE_CHECKING:
    from .inspect_clusters import InspectedTarget

__all__ = ["Unlisted"]

_SELECTOR = ",".join(f"{key}={value}" for key, value in OURS.items())
# The kubeconfig's context, and the kubeconfig.
_Server = tuple[Optional[str], Optional[str]]


class Unlisted:
    """Looks where the targets are, and where the options ``projects`` and ``namespaces`` say.

    :raises ConfigurationError: one of these options has no name.
    """

    def __init__(self, shared: Run, params: Mapping[str, Any], inspector: StoreInspector[Any]) -> None:
        self._shared = shared
        self._inspector = inspector
        self._projects = [
            check_name("project", str(name), "projects") for name in params.get("projects") or ()
        ]
        self._namespaces = [
            check_name("namespace", str(name), "namespaces") for name in params.get("namespaces") or ()
        ]
        self._seen: set[str] = set()

    def saw(self, identity: str) -> None:
        """A secret of the list was there: the same name in another spelling is not another secret."""
        self._seen.add(identity)

    def found(self, targets: Sequence[InspectedTarget], wrong: Collection[str]) -> dict[str, Any]:
        """``unlisted``, and in ``unlisted_failed`` why a place could not be listed.

        :param wrong: ids of clusters of the list that are described wrongly. Their secrets are nobody else's.
        """
        failed: list[str] = []
        found: dict[str, dict[str, Any]] = {}
        for kind, identity, secret in self._all(targets, failed):
            owner = secret.labels.get("cluster-id")
            if identity in self._seen or owner in wrong:
                continue
            found[identity] = {
                "kind": kind,
                "place": secret.address,
                "cluster_id": shown(owner) if owner else None,
                "created": secret.created,
            }
        entries = sorted(found.values(), key=lambda entry: (entry["kind"], entry["place"]))
        return {"unlisted": entries, "unlisted_failed": failed}

    def _all(
        self, targets: Sequence[InspectedTarget], failed: list[str]
    ) -> Iterator[tuple[str, str, SecretMetadata]]:
        listed = {target.stored.name for target in targets}
        for container in self._inspector.containers([target.stored for target in targets], self._projects):
            try:
                for secret in self._inspector.owned(container, self._shared.settings.deadline()):
                    if secret.address not in listed:
                        yield "secret_manager", secret.identity, secret
            except PullSecretError as error:
                failed.append(f"{container.name} cannot be listed: {error}")
        for server, mine in _servers(targets).items():
            namespaces = {namespace for namespace, _name in mine}
            try:
                for found in self._in_cluster(server, {*namespaces, *self._namespaces}):
                    metadata = found["metadata"]
                    if (metadata["namespace"], metadata["name"]) not in mine:
                        yield "management_secret", str(metadata.get("uid")), _described(metadata)
            except PullSecretError as error:
                failed.append(f"the Secrets of a management cluster cannot be listed: {error}")

    def _in_cluster(self, server: _Server, namespaces: Iterable[str]) -> list[dict[str, Any]]:
        """Ours in all namespaces; in those that are named, where nobody may list all."""
        deadline = self._shared.settings.deadline()
        client = self._shared.kubernetes.get(deadline, *server)
        try:
            found = list(client.list_all("secrets", _SELECTOR, deadline))
        except PermissionDenied:
            found = [
                secret
                for namespace in sorted(namespaces)
                for secret in client.list_all("secrets", _SELECTOR, deadline, namespace)
            ]
        # The adapter keeps Secrets of its own there, too.
        return [secret for secret in found if secret.get("type") == TYPE]


def _servers(targets: Sequence[InspectedTarget]) -> dict[_Server, set[tuple[str, str]]]:
    """Return the Secrets of the targets (namespace, name) by management cluster; without targets the task's own."""
    found: dict[_Server, set[tuple[str, str]]] = {}
    for target in targets:
        placed: KubernetesTarget = target.placed
        found.setdefault((placed.context, placed.kubeconfig), set()).add((placed.namespace, placed.name))
    return found or {(None, None): set()}


def _described(metadata: Mapping[str, Any]) -> SecretMetadata:
    return SecretMetadata(
        kubernetes_secret_address(metadata["namespace"], metadata["name"]),
        str(metadata.get("uid")),
        metadata.get("labels") or {},
        metadata.get("creationTimestamp"),
    )
