# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Secret from which a Job's pod reads its pull secret. It exists as long as a Job needs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....clients.kubernetes.client import KubernetesClient
from ....clients.kubernetes.errors import ObjectAlreadyExists, Overtaken
from ....model.errors import OwnershipConflict
from ....model.naming import LAST_APPLIED
from ....places.kubernetes_secret.target import delete_preconditions, is_being_deleted
from ....runtime.retry import Deadline
from .. import names
from ..model import Order
from .manifests import data_secret

__all__ = ["DataSecrets"]


class DataSecrets:
    """The data Secrets of one adapter in its namespace. Thread-safe."""

    def __init__(self, client: KubernetesClient, namespace: str, adapter: str) -> None:
        self._client = client
        self._namespace = namespace
        self._adapter = adapter

    def ensure(self, order: Order, document: bytes, actions: list[str], deadline: Deadline) -> str:
        """Make the Secret hold the document, and return its uid.

        :param actions: receives a description of each write.
        :raises OwnershipConflict: the name belongs to another owner.
        :raises Overtaken: another client is writing it, or it is being deleted; look again.
        """
        wanted = data_secret(order, document, self._adapter)
        name = str(wanted["metadata"]["name"])
        try:
            made = self._client.create(self._namespace, "secrets", wanted, deadline)
            actions.append(f"created secret {name}")
            return _uid(made)
        except ObjectAlreadyExists as error:
            found = self._client.get(self._namespace, "secrets", name, deadline)
            if found is None or is_being_deleted(found):
                raise Overtaken(error.message) from None
        self._guard(found, order.cluster_id)
        patch = _difference(found, wanted)
        if patch:
            patch["metadata"] = {
                **patch.get("metadata", {}),
                "resourceVersion": delete_preconditions(found)["resourceVersion"],
            }
            self._client.patch(self._namespace, "secrets", name, patch, deadline)
            actions.append(f"updated secret {name}")
        return _uid(found)

    def drop(self, cluster_id: str, uid: str | None, actions: list[str], deadline: Deadline) -> None:
        """Delete the Secret. Does nothing if it does not exist or is not ours.

        :param uid: its uid when it was created, which saves a read of its owner.
        """
        name = names.data_secret_name(cluster_id)
        if uid:
            try:
                if self._client.delete(self._namespace, "secrets", name, {"uid": uid}, deadline):
                    actions.append(f"deleted secret {name}")
                return
            except Overtaken:
                # Another Secret of that name, created by a later run or by another owner.
                pass
        found = self._client.get(self._namespace, "secrets", name, deadline)
        if found is None or is_being_deleted(found) or not self._is_ours(found, cluster_id):
            return
        if self._client.delete(self._namespace, "secrets", name, delete_preconditions(found), deadline):
            actions.append(f"deleted secret {name}")

    def _guard(self, found: Mapping[str, Any], cluster_id: str) -> None:
        if not self._is_ours(found, cluster_id):
            place = self._client.place(self._namespace, "secrets", str(found["metadata"]["name"]))
            raise OwnershipConflict(
                f"{place} exists but was not made by the adapter {self._adapter} for this cluster",
                "it was left as it is; rename or delete it",
            )

    def _is_ours(self, found: Mapping[str, Any], cluster_id: str) -> bool:
        return names.is_ours(found["metadata"].get("labels") or {}, self._adapter, cluster_id, names.DATA)


def _difference(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the merge patch to the wanted content, or an empty one."""
    patch: dict[str, Any] = {}
    if found.get("data") != wanted["data"]:
        others = {key: None for key in found.get("data") or {} if key not in wanted["data"]}
        patch["data"] = {**others, **wanted["data"]}
    annotations = {**wanted["metadata"]["annotations"], LAST_APPLIED: None}
    for kind, values in (("labels", wanted["metadata"]["labels"]), ("annotations", annotations)):
        there = found["metadata"].get(kind) or {}
        different = {key: value for key, value in values.items() if there.get(key) != value}
        if different:
            patch.setdefault("metadata", {})[kind] = different
    return patch


def _uid(secret: Mapping[str, Any]) -> str:
    return str(secret["metadata"].get("uid") or "")
