# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The values of a cluster that preconditions can read: everything but its pull secret, with the adapters'
statuses. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Callable

from ....clients.hyperfleet.statuses import AdapterStatus
from ....model.cluster_document import PULL_SECRET_NAMES

__all__ = ["ROOTS", "ClusterTooLarge", "is_current", "view"]

_MARKER = "(not shown)"
"""Replaces the pull secret, so that expressions can test it but not read it."""

_DEEPEST = 60
# The length of text that counts as one value.
_TEXT = 64
_INT64 = 2**63


class ClusterTooLarge(Exception):
    """The cluster is too large, or nested too deeply, for the expression."""


def is_current(status: AdapterStatus, cluster: Mapping[str, Any]) -> bool:
    """Return whether a status is about the cluster's current generation."""
    generation = cluster.get("generation")
    return generation is None or status.generation == generation


def view(
    cluster: Mapping[str, Any], statuses: Mapping[str, AdapterStatus], roots: Iterable[str], largest: int
) -> dict[str, Any]:
    """Return a copy of the values of the names in ``roots``.

    :param largest: the maximum number of values.
    :raises ClusterTooLarge: it is larger, or nested too deeply for an evaluator that uses the stack.
    """
    copier = _Copier(largest)
    return {root: copier.copy(ROOTS[root](cluster, statuses), 0) for root in roots}


class _Copier:
    def __init__(self, largest: int) -> None:
        self._left = largest

    def copy(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            self._left -= 1 + len(value) // _TEXT
            self._check(depth)
            return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
        self._left -= 1
        self._check(depth)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return value if -_INT64 <= value < _INT64 else math.copysign(math.inf, value)
        if isinstance(value, float):
            return value
        if isinstance(value, Mapping):
            return {self.copy(str(key), depth): self.copy(item, depth + 1) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.copy(item, depth + 1) for item in value]
        return None

    def _check(self, depth: int) -> None:
        if self._left < 0 or depth > _DEEPEST:
            raise ClusterTooLarge


def _spec(cluster: Mapping[str, Any], _statuses: Mapping[str, AdapterStatus]) -> Any:
    spec = cluster.get("spec")
    if not isinstance(spec, Mapping):
        return {}
    return {name: _hidden(value) if name in PULL_SECRET_NAMES else value for name, value in spec.items()}


def _hidden(held: Any) -> Any:
    if isinstance(held, Mapping):
        return {name: _MARKER if name == "data" and value else value for name, value in held.items()}
    return _MARKER if held else held


def _status(cluster: Mapping[str, Any], statuses: Mapping[str, AdapterStatus]) -> dict[str, Any]:
    own = cluster.get("status")
    return {
        "conditions": [],
        **(own if isinstance(own, Mapping) else {}),
        "adapters": {name: _adapter(status, cluster) for name, status in statuses.items()},
    }


def _adapter(status: AdapterStatus, cluster: Mapping[str, Any]) -> dict[str, Any]:
    current = is_current(status, cluster)
    return {
        "available": _said(status, "Available") if current else "False",
        "applied": _said(status, "Applied"),
        "health": _said(status, "Health"),
        "finalized": _said(status, "Finalized"),
        "data": status.data,
        "observed_generation": status.generation,
        "current": current,
    }


def _said(status: AdapterStatus, condition: str) -> str:
    found = status.conditions.get(condition)
    return found.status if found is not None else "Unknown"


def _cluster(cluster: Mapping[str, Any], statuses: Mapping[str, AdapterStatus]) -> dict[str, Any]:
    return {**cluster, "spec": _spec(cluster, statuses), "status": _status(cluster, statuses)}


def _metadata(cluster: Mapping[str, Any], _statuses: Mapping[str, AdapterStatus]) -> dict[str, Any]:
    own = cluster.get("metadata")
    rest = {name: value for name, value in cluster.items() if name not in ("metadata", "spec", "status")}
    return {**rest, **(own if isinstance(own, Mapping) else {})}


def _field(name: str, absent: Any = None) -> Callable[[Mapping[str, Any], Mapping[str, AdapterStatus]], Any]:
    def read(cluster: Mapping[str, Any], _statuses: Mapping[str, AdapterStatus]) -> Any:
        found: Any | None = cluster.get(name)
        return absent if found is None else found

    return read


ROOTS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, AdapterStatus]], Any]] = {
    "spec": _spec,
    "status": _status,
    "cluster": _cluster,
    "metadata": _metadata,
    "generation": _field("generation"),
    "name": _field("name"),
    "labels": _field("labels", {}),
    "id": _field("id"),
    "nil": lambda _cluster, _statuses: None,
}
"""The names that an expression may use."""
