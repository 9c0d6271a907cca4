# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The clusters and their adapters' reports, in memory, with the rules of the real API."""

from __future__ import annotations

import copy
import threading
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from .conditions import Condition, Report, aggregate
from .problems import ApiError
from .requests import check_mandatory
from .search import Predicate
from .times import Clock, format_time

__all__ = ["PREFIX", "Cluster", "Store"]

PREFIX = "/api/hyperfleet/v1"


@dataclass
class Cluster:
    """One cluster. Its dicts are replaced, never changed."""

    id: str
    name: str
    spec: dict[str, Any] = field(repr=False)  # may hold the pull secret
    labels: dict[str, str]
    created: datetime
    updated: datetime
    required: tuple[str, ...]
    generation: int = 1
    deleted: datetime | None = None
    reports: dict[str, Report] = field(default_factory=dict)

    @property
    def conditions(self) -> list[Condition]:
        if not self.required:
            return []
        deleting = self.deleted is not None
        return aggregate(self.generation, deleting=deleting, required=self.required, reports=self.reports)

    @property
    def finished(self) -> bool:
        """A deleted cluster goes when every required adapter is Finalized at its current generation."""
        reports = [self.reports.get(name) for name in self.required]
        return self.deleted is not None and all(
            report and report.generation == self.generation and report.is_true("Finalized")
            for report in reports
        )

    def shown(self) -> dict[str, Any]:
        """The cluster as the API answers with it."""
        document = {
            "kind": "Cluster",
            "id": self.id,
            "href": f"{PREFIX}/clusters/{self.id}",
            "name": self.name,
            "generation": self.generation,
            "labels": self.labels,
            "spec": self.spec,
            "created_time": format_time(self.created),
            "updated_time": format_time(self.updated),
            "status": {"conditions": self.conditions},
        }
        if self.deleted is not None:
            document["deleted_time"] = format_time(self.deleted)
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
        return [self._put(copy.deepcopy(dict(given))).id for given in clusters]

    def create(self, *, name: str, spec: dict[str, Any], labels: dict[str, str]) -> dict[str, Any]:
        with self._lock:
            if any(cluster.name == name for cluster in self._clusters.values()):
                raise ApiError("CNF-001", "This Cluster already exists")
            return self._put({"name": name, "spec": spec, "labels": labels}).shown()

    def _put(self, given: Mapping[str, Any]) -> Cluster:
        now, chosen = self.clock(), str(given.get("id") or uuid.uuid4())
        cluster = Cluster(
            chosen,
            str(given.get("name") or chosen),
            given.get("spec") or {},
            given.get("labels") or {},
            now,
            now,
            self.required,
            int(given.get("generation") or 1),
        )
        with self._lock:
            self._clusters[chosen] = cluster
        return cluster

    def get(self, cluster_id: str) -> dict[str, Any]:
        with self._lock:
            return self._find(cluster_id).shown()

    def select(
        self, wanted: Predicate | None, by_id: bool, start: int, size: int
    ) -> tuple[list[dict[str, Any]], int]:
        """(the clusters of one page, how many there are in all); the newest come first if not by id."""
        with self._lock:
            found = [one for one in reversed(self._clusters.values()) if wanted is None or wanted(one)]
            if by_id:
                found.sort(key=lambda cluster: cluster.id)
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
                cluster.updated = self.clock()
            return cluster.shown()

    def delete(self, cluster_id: str) -> dict[str, Any]:
        with self._lock:
            if cluster_id not in self._clusters:
                raise ApiError("NTF-001", "Cluster not found")
            cluster = self._clusters[cluster_id]
            if cluster.deleted is None:
                # The real API looks at its clock twice.
                cluster.deleted = self.clock()
                cluster.updated = cluster.deleted + timedelta(microseconds=8)
                cluster.generation += 1
            if not self.required:
                del self._clusters[cluster_id]
            return cluster.shown()

    def statuses(self, cluster_id: str) -> list[Report]:
        with self._lock:
            return list(self._find(cluster_id).reports.values())

    def report(self, cluster_id: str, new: Report) -> tuple[Report | None, bool]:
        """(the stored report, whether it is the adapter's first); (None, False) when it is discarded."""
        with self._lock:
            cluster = self._find(cluster_id)
            old = cluster.reports.get(new.adapter)
            if new.generation > cluster.generation:
                return None, False
            if old is not None and (new.generation, new.observed) < (old.generation, old.observed):
                return None, False
            check_mandatory(new)
            created = old.created if old is not None else new.observed
            report = replace(new, created=created, conditions=_with_transitions(new, old))
            if old is not None and report.condition("Available")["status"] == "Unknown":
                return None, False
            cluster.reports[new.adapter] = report
            if cluster.finished:
                del self._clusters[cluster_id]
            return report, old is None

    def _find(self, cluster_id: str) -> Cluster:
        try:
            return self._clusters[cluster_id]
        except KeyError:
            raise ApiError("NTF-001", f"Cluster with id='{cluster_id}' not found") from None


def _with_transitions(new: Report, old: Report | None) -> tuple[Condition, ...]:
    """Each condition with when its status last changed, by the adapters' clocks."""
    result = []
    for condition in new.conditions:
        before = old.condition(condition["type"]) if old is not None else {}
        same = before.get("status") == condition["status"]
        since = before["last_transition_time"] if same else new.observed
        result.append({**condition, "last_transition_time": since})
    return tuple(result)
