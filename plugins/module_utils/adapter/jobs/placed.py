# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether the Secret of the management cluster still is what a Job that has ended made of it.

A look is worth no failure: where it cannot be had, what the Job said holds.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.model import Order
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import (
    DockerConfigError,
    load,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import (
    DependencyMissing,
    PermissionDenied,
    PullSecretError,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.naming import MANAGED_BY, owner_problem
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.client import (
    KubernetesClient,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.target import (
    KEY,
    TYPE,
    ending,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.retry import Deadline

__all__ = ["CHANGED", "MISSING", "Placed", "drift_of"]

# Reasons of conditions.
MISSING = "ManagementSecretMissing"
CHANGED = "ManagementSecretChanged"

# From how many on a LIST is cheaper than a GET each, and how many are named in one.
_LIST_FROM = 3
_NAMED = 100

Drift = tuple[str, str]


class Placed:
    """The Secrets of many clusters; thread-safe once prepared."""

    def __init__(self, client: KubernetesClient) -> None:
        self._client = client
        self._listed: dict[tuple[str, str], Mapping[str, Any]] = {}
        self._unanswered = False

    def prepare(self, cluster_ids: Sequence[str], deadline: Deadline) -> None:
        """Read ahead, where that pays and we may: the right to list is not needed.

        :param cluster_ids: those that are worth a look.
        """
        self._listed, self._unanswered = {}, False
        if len(cluster_ids) < _LIST_FROM:
            return
        wanted = sorted(cluster_ids)
        try:
            for start in range(0, len(wanted), _NAMED):
                named = ",".join(wanted[start : start + _NAMED])
                selector = f"managed-by={MANAGED_BY},cluster-id in ({named})"
                for secret in self._client.list_all("secrets", selector, deadline, page=_NAMED):
                    self._listed[secret["metadata"]["namespace"], secret["metadata"]["name"]] = secret
        except PermissionDenied:
            return
        except PullSecretError:
            self._unanswered = True

    def drift(self, order: Order, document: bytes, deadline: Deadline) -> Optional[Drift]:
        """A condition's reason, and a sentence; None where all is well, or nobody can say."""
        listed = self._listed.pop((order.namespace, order.placed_as), None)
        if listed is not None and drift_of(listed, order, document) is None:
            return None
        if self._unanswered:
            return None
        try:
            # What has lost its labels is in no LIST, and a LIST is of a moment ago.
            found = self._client.get(order.namespace, "secrets", order.placed_as, deadline)
        except DependencyMissing:
            found = None
        except PermissionDenied:
            return None
        except PullSecretError:
            # The others of the batch do not wait for the same answer.
            self._unanswered = True
            return None
        return drift_of(found, order, document)


def drift_of(found: Optional[Mapping[str, Any]], order: Order, document: bytes) -> Optional[Drift]:
    """How a Secret differs from what the order's Job makes; None where it does not."""
    where = f"namespaces/{order.namespace}/secrets/{order.placed_as}"
    if found is None:
        return MISSING, f"{where} is gone"
    if ending(found):
        return MISSING, f"{where} is being deleted"
    if owner_problem(found["metadata"].get("labels") or {}, order.cluster_id) is not None:
        return CHANGED, f"{where} has not this cluster's labels any more"
    if found.get("type") != TYPE or not _holds(found, document):
        return CHANGED, f"{where} holds something else than was stored"
    return None


def _holds(found: Mapping[str, Any], document: bytes) -> bool:
    """Whether its value means what the document does."""
    try:
        value = base64.b64decode((found.get("data") or {}).get(KEY) or "", validate=True)
        # Nearly always; the rest is what costs.
        return bool(json.loads(value) == json.loads(document)) or load(value).same_meaning(load(document))
    except (binascii.Error, DockerConfigError, RecursionError, TypeError, ValueError):
        return False
