# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The clusters and their adapters' reports, in memory, with the rules of the real API."""

from __future__ import annotations

import copy
import secrets
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, ClassVar

from .conditions import Condition, Report, aggregate, is_true
from .problems import ApiError
from .requests import StatusReport, check_mandatory
from .search import Predicate
from .times import Clock, format_time, microseconds

__all__ = ["ORDERS", "PREFIX", "Cluster", "Store", "uuid7"]

PREFIX = "/api/hyperfleet/v1"
ACTOR = "system@hyperfleet.local"
_COLUMNS = {
    "id": "id",
    "name": "name",
    "generation": "generation",
    "created_time": "created",
    "updated_time": "updated",
}
ORDERS = frozenset(_COLUMNS)


def uuid7(now: int) -> str:
    """An RFC 9562 UUID of version 7 for an instant in nanoseconds."""
    value = (now // 1_000_000) << 80 | 7 << 76 | secrets.randbits(12) << 64 | 2 << 62 | secrets.randbits(62)
    text = f"{value:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


@dataclass
class Cluster:
    """One cluster; its times are nanoseconds. Its dicts are replaced, never changed."""

    kind: ClassVar[str] = "Cluster"
    created_by: ClassVar[str] = ACTOR
    updated_by: ClassVar[str] = ACTOR

    id: str
    name: str
    spec: dict[str, Any] = field(repr=False)  # may hold the pull secret
    labels: dict[str, str]
    created: int
    updated: int
    generation: int = 1
    deleted: int | None = None
    conditions: list[Condition] = field(default_factory=list)
    reports: dict[str, Report] = field(default_factory=dict)

    def shown(self) -> dict[str, Any]:
        """The cluster as the API answers with it."""
        times = ("created_time", "last_updated_time", "last_transition_time")
        document = {
            "kind": self.kind,
            "id": self.id,
            "href": f"{PREFIX}/clusters/{self.id}",
            "name": self.name,
            "generation": self.generation,
            "labels": self.labels,
            "spec": self.spec,
            "created_by": self.created_by,
            "created_time": format_time(self.created),
            "updated_by": self.updated_by,
            "updated_time": format_time(self.updated),
            "status": {
                "conditions": [
                    {key: format_time(value) if key in times else value for key, value in condition.items()}
                    for condition in self.conditions
                ]
            },
        }
        if self.deleted is not None:
            document.update(deleted_by=ACTOR, deleted_time=format_time(self.deleted))
        return document


class Store:
    """All clusters. Its methods may be called from many threads; do not change what they return."""

    def __init__(self, clock: Clock, required_adapters: Sequence[str]) -> None:
        self.clock = clock
        self.required = tuple(required_adapters)
        self._lock = threading.RLock()
        self._clusters: dict[str, Cluster] = {}

    def __len__(self) -> int:
        return len(self._clusters)

    def reset(self) -> None:
        with self._lock:
            self._clusters.clear()

    def seed(self, clusters: Iterable[Mapping[str, Any]]) -> list[str]:
        """Put clusters ({"id"?, "name"?, "spec"?, "labels"?, "generation"?}) and return their ids."""
        ids = []
        for given in clusters:
            now = microseconds(self.clock())
            chosen = str(given.get("id") or uuid7(now))
            cluster = Cluster(
                chosen,
                str(given.get("name") or chosen),
                copy.deepcopy(dict(given.get("spec") or {})),
                dict(given.get("labels") or {}),
                now,
                now,
                int(given.get("generation") or 1),
            )
            with self._lock:
                self._aggregate(cluster)
                self._clusters[chosen] = cluster
            ids.append(chosen)
        return ids

    def create(self, *, name: str, spec: dict[str, Any], labels: dict[str, str]) -> dict[str, Any]:
        with self._lock:
            if any(cluster.name == name for cluster in self._clusters.values()):
                raise ApiError("CNF-001", "This Cluster already exists")
            now = self.clock()
            stamp = microseconds(now)
            cluster = Cluster(uuid7(now), name, spec, labels, stamp, stamp)
            self._aggregate(cluster)
            self._clusters[cluster.id] = cluster
            return cluster.shown()

    def get(self, cluster_id: str) -> dict[str, Any]:
        with self._lock:
            return self._find(cluster_id).shown()

    def select(
        self, wanted: Predicate | None, order: Sequence[tuple[str, bool]], start: int, size: int
    ) -> tuple[list[dict[str, Any]], int]:
        """(the clusters of one page, how many there are in all); `order`: (column, descending) pairs."""
        with self._lock:
            found = [cluster for cluster in self._clusters.values() if wanted is None or wanted(cluster)]
            found.sort(key=lambda cluster: cluster.id)
            for column, descending in reversed(order):
                found.sort(key=attrgetter(_COLUMNS[column]), reverse=descending)
            return [cluster.shown() for cluster in found[start : start + size]], len(found)

    def patch(self, cluster_id: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        with self._lock:
            cluster = self._find(cluster_id)
            if cluster.deleted is not None:
                raise ApiError("CNF-003", f"Cluster '{cluster_id}' is marked for deletion")
            new = {"spec": cluster.spec, "labels": cluster.labels, **changes}
            if new != {"spec": cluster.spec, "labels": cluster.labels}:
                cluster.spec, cluster.labels = new["spec"], new["labels"]
                cluster.generation += 1
                cluster.updated = microseconds(self.clock())
                self._aggregate(cluster)
            return cluster.shown()

    def delete(self, cluster_id: str) -> dict[str, Any]:
        with self._lock:
            if cluster_id not in self._clusters:
                raise ApiError("NTF-001", "Cluster not found")
            cluster = self._clusters[cluster_id]
            if cluster.deleted is None:
                cluster.deleted = microseconds(self.clock())
                cluster.updated = microseconds(self.clock())
                cluster.generation += 1
                self._aggregate(cluster)
            if not self.required:
                del self._clusters[cluster_id]
            return cluster.shown()

    def statuses(self, cluster_id: str) -> list[Report]:
        with self._lock:
            return list(self._find(cluster_id).reports.values())

    def report(self, cluster_id: str, new: StatusReport) -> tuple[Report | None, bool]:
        """(the stored report, whether it is the adapter's first); (None, False) when it is discarded."""
        with self._lock:
            cluster = self._find(cluster_id)
            old = cluster.reports.get(new.adapter)
            if new.generation > cluster.generation:
                return None, False
            if old is not None and (new.generation, new.observed) < (old.generation, old.observed):
                return None, False
            check_mandatory(new)
            available = next(c for c in new.conditions if c["type"] == "Available")
            if old is not None and available["status"] == "Unknown":
                return None, False
            report = Report(
                new.adapter,
                new.generation,
                new.observed,
                old.created if old is not None else new.observed,
                _with_transitions(new, old),
                new.data,
                new.metadata,
            )
            cluster.reports[new.adapter] = report
            if self._finished(cluster, report):
                del self._clusters[cluster_id]
            elif available["status"] != "Unknown":
                self._aggregate(cluster)
            return report, old is None

    def _finished(self, cluster: Cluster, report: Report) -> bool:
        """A deleted cluster goes when every required adapter is Finalized at its current generation."""
        if cluster.deleted is None or not is_true(report, "Finalized"):
            return False
        reports = [cluster.reports.get(name) for name in self.required]
        return all(
            r is not None and r.generation == cluster.generation and is_true(r, "Finalized") for r in reports
        )

    def _aggregate(self, cluster: Cluster) -> None:
        if self.required:
            cluster.conditions = aggregate(
                generation=cluster.generation,
                updated=cluster.updated,
                deleting=cluster.deleted is not None,
                required=self.required,
                reports=cluster.reports,
                previous=cluster.conditions,
            )

    def _find(self, cluster_id: str) -> Cluster:
        try:
            return self._clusters[cluster_id]
        except KeyError:
            raise ApiError("NTF-001", f"Cluster with id='{cluster_id}' not found") from None


def _with_transitions(new: StatusReport, old: Report | None) -> tuple[Condition, ...]:
    """Each condition with when its status last changed, by the adapters' clocks."""
    result = []
    for condition in new.conditions:
        before = old.condition(condition["type"]) if old is not None else None
        same = before is not None and before["status"] == condition["status"]
        since = before["last_transition_time"] if before is not None and same else new.observed
        result.append({**condition, "last_transition_time": since})
    return tuple(result)
