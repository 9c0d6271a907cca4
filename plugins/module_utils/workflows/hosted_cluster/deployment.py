# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads, repairs and removes all our objects in a hosted cluster, in an order that is safe if the run is
killed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...clients.kubernetes.errors import Overtaken
from ...model.naming import LAST_APPLIED
from ...model.outcome import Outcome
from ...places.kubernetes_secret.owned_objects import DesiredObject, OwnedObjects
from ...places.kubernetes_secret.target import (
    APPLIED_REMOVED,
    KEY,
    TYPE,
    docker_config_value,
    encode_docker_config,
    has_last_applied,
)
from ...places.writing import parse_held, same_meaning
from ...runtime.retry import Deadline
from .cluster import HostedCluster, SyncerSpec
from .decision import MergeDecision
from .desired import account_objects, daemon_set, slots_of
from .names import ADDITIONAL_REGISTRIES, GLOBAL, STATUS, SYNCER, ownership_labels, slot_number

__all__ = ["ExistingObjects", "SyncerDeployment"]

_Object = dict[str, Any]
_NAMES = {
    "serviceaccounts": SYNCER,
    "roles": SYNCER,
    "rolebindings": SYNCER,
    "configmaps": STATUS,
    "secrets": GLOBAL,
    "daemonsets": SYNCER,
}
# The first object that is created, the one that runs, and the last that is removed. Most hosted clusters have
# none of them.
_FIRST = ("serviceaccounts", "daemonsets", "secrets")
# The syncers before the objects they need. The secret is last, because it shows that there is something to
# remove.
_REMOVAL = ("daemonsets", "rolebindings", "roles", "serviceaccounts", "configmaps")


# In a Lease's metadata.
_KEPT = ("name", "namespace", "uid", "resourceVersion", "deletionTimestamp")
# Maximum characters of a node's report. Syncers write less than 1,000.
_REPORT = 4096


@dataclass(frozen=True)
class ExistingObjects:
    """Existing objects with our names, of any owner.

    :param single: by kind.
    :param leases: by the number of the slot.
    """

    single: Mapping[str, _Object]
    leases: Mapping[int, _Object]

    @property
    def secret(self) -> _Object | None:
        return self.single.get("secrets")

    @property
    def syncers(self) -> _Object | None:
        """The DaemonSet, unless it is being deleted."""
        found = self.single.get("daemonsets")
        return None if found is None or found["metadata"].get("deletionTimestamp") else found

    @property
    def slots(self) -> int:
        """The number of slots that the syncers know, or 0 without syncers."""
        return slots_of(self.syncers) if self.syncers is not None else 0

    @property
    def deployed(self) -> bool:
        """Whether nodes may have received a secret."""
        return self.secret is not None or self.syncers is not None

    def __bool__(self) -> bool:
        return bool(self.single or self.leases)

    def of(self, wanted: DesiredObject) -> _Object | None:
        """Return the existing object for a wanted one."""
        number = slot_number(wanted.name) if wanted.kind == "leases" else None
        return self.leases.get(number) if number is not None else self.single.get(wanted.kind)

    def additional_registries(self) -> list[str]:
        """The registries of the global secret that came from the additional one."""
        text = ((self.secret or {}).get("metadata", {}).get("annotations") or {}).get(ADDITIONAL_REGISTRIES)
        try:
            names = json.loads(text or "[]")
        except (ValueError, RecursionError):
            return []
        return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


class SyncerDeployment:
    """Reads and writes the syncer's objects of one cluster."""

    def __init__(
        self, cluster: HostedCluster, objects: OwnedObjects, outcome: Outcome, deadline: Deadline
    ) -> None:
        self._cluster = cluster
        self._objects = objects
        self._outcome = outcome
        self._deadline = deadline

    def read(self, *, tenants: bool) -> ExistingObjects:
        """Read all objects with our names, of any owner; nothing if no run of ours can have left any.

        :param tenants: whether there is an additional secret.
        """
        single = {kind: self._objects.get(kind, _NAMES[kind]) for kind in _FIRST}
        if not tenants and not any(single.values()):
            return ExistingObjects({}, {})
        for kind in _NAMES:
            if kind not in single:
                single[kind] = self._objects.get(kind, _NAMES[kind])
        leases: dict[int, _Object] = {}
        for lease in self._objects.every("leases", self._cluster.namespace):
            number = slot_number(lease["metadata"]["name"])
            if number is not None:
                leases[number] = _small(lease)
        return ExistingObjects({kind: found for kind, found in single.items() if found is not None}, leases)

    def guard(self, there: ExistingObjects, *, delete: bool = False) -> None:
        """Refuse to write anything if one of the objects belongs to another owner.

        :raises OwnershipConflict: names the first one.
        """
        everything = [*there.single.items(), *(("leases", lease) for lease in there.leases.values())]
        for kind, found in everything:
            self._objects.guard(kind, found, adopt=self._cluster.adopt and not delete, delete=delete)

    def put_all(
        self,
        there: ExistingObjects,
        decision: MergeDecision,
        syncer: SyncerSpec,
        slots: int,
        nodes: list[str],
    ) -> str | None:
        """Write all objects, first those that the syncer needs, and return the secret's version."""
        version = self.put_secret(there, decision, slots)
        wanted = daemon_set(self._cluster, syncer, slots)
        self._objects.apply(wanted, there.of(wanted))
        for number, lease in there.leases.items():
            if number >= slots:
                self._objects.delete("leases", lease)
        self._forget(there, nodes)
        return version

    def put_secret(self, there: ExistingObjects, decision: MergeDecision, slots: int) -> str | None:
        """Write the objects that syncers need to follow the secret, then the secret. Return its version, or
        None if it was not created.

        :param slots: 1 or more, because a Role's rule without names allows all objects of a kind.
        """
        for wanted in account_objects(self._cluster, max(1, slots)):
            self._objects.apply(wanted, there.of(wanted))
        held = parse_held(docker_config_value(there.secret), decision.config) if there.secret else None
        body: dict[str, Any] = {
            "metadata": {
                "name": GLOBAL,
                "namespace": self._cluster.namespace,
                "labels": ownership_labels(self._cluster.id),
                "annotations": {ADDITIONAL_REGISTRIES: decision.added or None, LAST_APPLIED: None},
            },
            "type": TYPE,
        }
        if not same_meaning(held, decision.config) or (there.secret or {}).get("type") != TYPE:
            body["data"] = {KEY: encode_docker_config(decision.config)}
        if there.secret is not None and has_last_applied(there.secret):
            self._outcome.did(APPLIED_REMOVED)
        stored = self._objects.apply(DesiredObject("secrets", GLOBAL, body, fixed=["type"]), there.secret)
        self._outcome.after = decision.config
        return stored["metadata"]["resourceVersion"] if stored else None

    def remove(self, there: ExistingObjects) -> None:
        """:raises OwnershipConflict: one of them belongs to another owner, also with ``adopt``."""
        self.guard(there, delete=True)
        for kind in _REMOVAL:
            if kind in there.single:
                self._objects.delete(kind, there.single[kind])
        for _number, lease in sorted(there.leases.items()):
            self._objects.delete("leases", lease)
        if there.secret is not None:
            self._objects.delete("secrets", there.secret)
        self._outcome.after = None

    def _forget(self, there: ExistingObjects, nodes: list[str]) -> None:
        """Remove the reports of deleted nodes. Each node writes only its own."""
        status = there.single.get("configmaps")
        there_are = set(nodes)
        gone = sorted(
            name
            for name, report in ((status or {}).get("data") or {}).items()
            # Data that no syncer writes would leave no room for reports.
            if name not in there_are or len(report) > _REPORT
        )
        if status is None or not gone:
            return
        body = {
            "metadata": {"name": STATUS, "resourceVersion": status["metadata"]["resourceVersion"]},
            "data": dict.fromkeys(gone),
        }
        self._outcome.did("removed reports of nodes that are gone")
        if self._objects.dry_run:
            return
        try:
            self._objects.client.patch(self._cluster.namespace, "configmaps", STATUS, body, self._deadline)
        except Overtaken:
            # A syncer has reported meanwhile. The next run removes the rest.
            self._outcome.restart()
            return
        self._outcome.settle()


def _small(lease: Mapping[str, Any]) -> _Object:
    """Return the fields of a Lease that we use. A tenant may create thousands, each of a megabyte."""
    metadata = lease["metadata"]
    kept = {key: metadata[key] for key in _KEPT if key in metadata}
    theirs = metadata.get("labels") or {}
    kept["labels"] = {key: theirs[key] for key in ownership_labels("x") if key in theirs}
    return {"metadata": kept}
