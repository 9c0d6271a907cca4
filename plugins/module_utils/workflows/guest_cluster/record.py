# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of a guest with direct delivery: a ConfigMap on the host.

It has the name and resourceVersion of each pull secret that was written in the guest, by which a repair differs
from a rotation, the service accounts that name it, and the further objects.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...model.errors import OwnershipConflict
from ...model.guest_cluster import RECORD, ObjectAddress
from ...model.naming import owner_problem
from ...places.kubernetes_secret.compare import ExactMapping
from ...places.kubernetes_secret.owned_objects import DesiredObject
from ..run import Work
from .desired import host_metadata
from .guest_run import GuestRun
from .plan import Delivery, Removal

__all__ = ["GuestRecord", "Recorded"]

_KIND = "configmaps"
_ACCOUNTS = "hyperfleet.io/service-accounts"
_OBJECTS = "hyperfleet.io/objects"
_NOTHING = "-"


@dataclass(frozen=True)
class Recorded:
    """What a guest has.

    :param secrets: namespace to name and resourceVersion of the pull secret.
    :param objects: the further objects to the mark of what was written; empty if nothing was.
    :param accounts: the service accounts that name the pull secret.
    """

    secrets: Mapping[str, str] = field(default_factory=dict)
    objects: Mapping[ObjectAddress, str] = field(default_factory=dict)
    accounts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, record: Mapping[str, Any] | None) -> Recorded:
        """Return what a ConfigMap says."""
        if record is None:
            return cls()
        annotations = record["metadata"].get("annotations") or {}
        lines = [line.split() for line in str(annotations.get(_OBJECTS) or "").splitlines()]
        objects = {
            ObjectAddress(*("" if part == _NOTHING else part for part in parts[:-1])): parts[-1]
            for parts in lines
            if len(parts) == len(ObjectAddress._fields) + 1
        }
        accounts = frozenset(filter(None, str(annotations.get(_ACCOUNTS) or "").split(",")))
        return cls(dict(record.get("data") or {}), objects, accounts)

    def mark(self, address: ObjectAddress) -> str:
        """Return the mark of an object, whatever the version of its manifest was; empty without one."""
        marks = (mark for other, mark in self.objects.items() if other.identity == address.identity)
        return next((mark for mark in marks if mark != _NOTHING), "")

    def annotations(self) -> dict[str, str | None]:
        """Return the ConfigMap's annotations; None removes one."""
        lines = (
            " ".join(part or _NOTHING for part in (*address, mark)) for address, mark in self.objects.items()
        )
        return {_ACCOUNTS: ",".join(sorted(self.accounts)) or None, _OBJECTS: "\n".join(lines) or None}


class GuestRecord:
    """One guest's record."""

    def __init__(self, run: GuestRun, guest: Delivery | Removal, cluster: str, current: Work) -> None:
        self._run = run
        self._objects = run.objects(guest.namespace, cluster, current)
        self._name, self._cluster = guest.set_name, cluster
        self._current = current
        self._existing = guest.record
        self.recorded = Recorded.of(guest.record)

    def begin(self, objects: Collection[ObjectAddress]) -> None:
        """Write it before anything in the guest, so that the next run completes the work of one that is killed.

        :param objects: the further objects that the guest is about to get.
        """
        recorded = self.recorded
        known = {address.identity for address in recorded.objects}
        new = {address: _NOTHING for address in objects if address.identity not in known}
        accounts = recorded.accounts | set(self._run.wanted.service_accounts)
        wanted = Recorded(recorded.secrets, {**recorded.objects, **new}, accounts)
        if self._existing is None or wanted != recorded:
            self._write(wanted)

    def end(self, recorded: Recorded) -> None:
        """Write what the guest has now."""
        if not self._run.dry_run and recorded != self.recorded:
            self._write(recorded)

    def delete(self) -> None:
        """Delete it after everything in the guest."""
        self._run.retry(
            self._current,
            lambda fresh: self._objects.remove(_KIND, self._name, None if fresh else self._existing),
        )

    def _write(self, wanted: Recorded) -> None:
        def write(fresh: bool) -> None:
            existing = (None if fresh else self._existing) or self._objects.get(_KIND, self._name)
            if existing is not None:
                self._check(existing)
            # Another run may have linked or applied others meanwhile.
            other = Recorded.of(existing) if fresh else wanted
            objects = {**other.objects, **wanted.objects}
            written = Recorded(wanted.secrets, objects, wanted.accounts | other.accounts)
            self._existing = self._objects.apply(self._desired(written), existing)

        self._run.retry(self._current, write)
        self.recorded = wanted

    def _desired(self, recorded: Recorded) -> DesiredObject:
        metadata = host_metadata(self._run.wanted, self._objects.namespace, self._name, self._cluster)
        metadata["annotations"].update(recorded.annotations())
        return DesiredObject(
            _KIND, self._name, {"metadata": metadata, "data": ExactMapping(recorded.secrets)}
        )

    def _check(self, existing: Mapping[str, Any]) -> None:
        labels = existing["metadata"].get("labels") or {}
        if owner_problem(labels, self._cluster) or labels.get(RECORD) != self._run.wanted.set_name:
            raise OwnershipConflict(
                f"{self._objects.client.place(self._objects.namespace, _KIND, self._name)} exists but is not the "
                "record of this delivery",
                "it was not changed; delete it, or set another set_name",
            )
