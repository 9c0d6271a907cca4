# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Detects drift: whether a management Secret still is what a finished Job wrote.

If the Secret cannot be read, this is no failure: the Job's own result stays valid.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ....clients.kubernetes.client import KubernetesClient
from ....dockerconfig import DockerConfigError, load
from ....model.errors import DependencyMissing, PermissionDenied, PullSecretError, TimedOut, Unavailable
from ....model.naming import LAST_APPLIED, MANAGED_BY, kubernetes_secret_address, owner_problem
from ....places.kubernetes_secret.target import KEY, TYPE, has_last_applied, is_being_deleted
from ....runtime.retry import Deadline
from ..model import Order

__all__ = ["CHANGED", "MISSING", "DriftDetector", "find_drift"]

# Condition reasons.
MISSING = "ManagementSecretMissing"
CHANGED = "ManagementSecretChanged"

# From which number of clusters a LIST is cheaper than GETs, and how many clusters one LIST names.
_LIST_FROM = 3
_NAMED = 100
# Anybody who may write Secrets there may create some with these labels, in any number and size. Secrets that
# exceed these limits are read one by one: bytes of a page, Secrets of one LIST, bytes of a value and of all
# values.
_PAGE = 16 << 20
_MOST = 4 * _NAMED
_VALUE = 256 << 10
_VALUES = 32 << 20

_Drift = tuple[str, str]


class DriftDetector:
    """Compares the management Secrets of many clusters. Thread-safe once prepared."""

    def __init__(self, client: KubernetesClient) -> None:
        self._client = client
        self._listed: dict[tuple[str, str], Mapping[str, Any]] = {}
        self._unanswered = False

    def prepare(self, cluster_ids: Sequence[str], deadline: Deadline) -> None:
        """Read ahead if that saves requests and is permitted: the permission to list is optional.

        :param cluster_ids: those to check.
        """
        self._listed, self._unanswered = {}, False
        if len(cluster_ids) < _LIST_FROM:
            return
        wanted = sorted(cluster_ids)
        room = _VALUES
        try:
            for start in range(0, len(wanted), _NAMED):
                named = ",".join(wanted[start : start + _NAMED])
                selector = f"managed-by={MANAGED_BY},cluster-id in ({named})"
                found = self._client.list_all("secrets", selector, deadline, page=_NAMED, largest=_PAGE)
                for secret in itertools.islice(found, _MOST):
                    size = len((secret.get("data") or {}).get(KEY) or "")
                    if _may_be_ours(secret["metadata"]) and size <= min(_VALUE, room):
                        room -= size
                        self._keep(secret)
        except (TimedOut, Unavailable):
            self._unanswered = True
        except PullSecretError:
            return

    def _keep(self, secret: Mapping[str, Any]) -> None:
        """Return the fields that ``find_drift`` reads."""
        metadata = secret["metadata"]
        data = {KEY: (secret.get("data") or {}).get(KEY)}
        kept = {name: metadata.get(name) for name in ("labels", "deletionTimestamp")}
        self._listed[metadata["namespace"], metadata["name"]] = {
            "metadata": {**kept, "annotations": {LAST_APPLIED: ""} if has_last_applied(secret) else {}},
            "type": secret.get("type"),
            "data": data,
        }

    def drift(self, order: Order, document: bytes, deadline: Deadline) -> _Drift | None:
        """Return a condition reason and a message, or None without drift or if it is unknown."""
        listed = self._listed.pop((order.namespace, order.placed_as), None)
        if listed is not None and find_drift(listed, order, document) is None:
            return None
        if self._unanswered:
            return None
        try:
            # A Secret without its labels is in no LIST, and a LIST is some moments old.
            found = self._client.get(order.namespace, "secrets", order.placed_as, deadline)
        except DependencyMissing:
            found = None
        except PermissionDenied:
            return None
        except PullSecretError:
            # The other clusters of the batch do not wait for the same answer.
            self._unanswered = True
            return None
        return find_drift(found, order, document)


def find_drift(found: Mapping[str, Any] | None, order: Order, document: bytes) -> _Drift | None:
    """Return how a Secret differs from what the order's Job writes, or None if it does not."""
    where = kubernetes_secret_address(order.namespace, order.placed_as)
    if found is None:
        return MISSING, f"{where} is gone"
    if is_being_deleted(found):
        return MISSING, f"{where} is being deleted"
    if owner_problem(found["metadata"].get("labels") or {}, order.cluster_id) is not None:
        return CHANGED, f"{where} no longer has this cluster's labels"
    if found.get("type") != TYPE or not _holds(found, document):
        return CHANGED, f"{where} does not hold what was stored"
    if has_last_applied(found):
        return CHANGED, f"{where} has the annotation {LAST_APPLIED}, which may hold an old pull secret"
    return None


def _may_be_ours(metadata: Mapping[str, Any]) -> bool:
    """Return whether it has the name of its cluster's Secret. Others with these labels are ignored."""
    return bool(metadata["name"] == f"{(metadata.get('labels') or {}).get('cluster-id')}-pull-secret")


def _holds(found: Mapping[str, Any], document: bytes) -> bool:
    """Return whether its value means the same as the document."""
    try:
        value = base64.b64decode((found.get("data") or {}).get(KEY) or "", validate=True)
        # Nearly always true, and cheap.
        return bool(json.loads(value) == json.loads(document)) or load(value).same_meaning(load(document))
    except (binascii.Error, DockerConfigError, RecursionError, TypeError, ValueError):
        return False
