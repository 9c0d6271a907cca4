# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of a guest with direct delivery: a ConfigMap on the host.

It has the name and resourceVersion of each pull secret that was written in the guest, by which a repair differs
from a rotation, the service accounts that name it, and the further objects. Nothing else is deleted in the guest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...model.errors import OwnershipConflict
from ...model.guest_cluster import RECORD
from ...model.naming import owner_problem
from ...places.kubernetes_secret.compare import ExactMapping
from ...places.kubernetes_secret.owned_objects import DesiredObject
from ..run import Work
from .desired import host_metadata
from .guest_run import GuestRun
from .plan import Delivery, Removal
from .recorded import Recorded

__all__ = ["GuestRecord"]

_KIND = "configmaps"


class GuestRecord:
    """One guest's record."""

    def __init__(self, run: GuestRun, guest: Delivery | Removal, cluster: str, current: Work) -> None:
        self._run = run
        self._objects = run.objects(guest.namespace, cluster, current, shown="record")
        self._name, self._cluster = guest.set_name, cluster
        self._current = current
        self._existing = guest.record
        self._uid = guest.guest.uid if isinstance(guest, Delivery) else ""
        self.recorded = self._known = Recorded.of(guest.record, self._uid)
        self._others = Recorded()

    def delete(self) -> None:
        """Delete it after everything in the guest."""
        self._run.retry(
            self._current,
            lambda fresh: self._objects.remove(_KIND, self._name, None if fresh else self._existing),
        )

    def write(self, recorded: Recorded) -> None:
        """Write what the guest has, and before that what it is about to get.

        So the next run completes the work of one that is killed.
        """
        wanted = replace(recorded, uid=self._uid or self.recorded.uid)
        # In the order of the manifests.
        if self._existing is not None and _content(wanted) == _content(self.recorded):
            return
        self._known = wanted.and_of(self._known, Recorded())

        def write(fresh: bool) -> None:
            existing = (None if fresh else self._existing) or self._objects.get(_KIND, self._name)
            if existing is not None:
                self._check(existing)
            if fresh:
                self._others = Recorded.of(existing)
            written = wanted.and_of(self._others, self._known)
            self._existing = self._objects.apply(self._desired(written), existing)

        self._run.retry(self._current, write)
        self.recorded = wanted

    def _desired(self, recorded: Recorded) -> DesiredObject:
        metadata = host_metadata(self._run.wanted, self._objects.namespace, self._name, self._cluster)
        metadata["annotations"].update(recorded.annotations())
        return DesiredObject(_KIND, self._name, {"metadata": metadata, "data": ExactMapping(recorded.data())})

    def _check(self, existing: Mapping[str, Any]) -> None:
        labels = existing["metadata"].get("labels") or {}
        if owner_problem(labels, self._cluster) or labels.get(RECORD) != self._run.wanted.set_name:
            raise OwnershipConflict(
                f"{self._objects.client.place(self._objects.namespace, _KIND, self._name)} exists but is not the "
                "record of this delivery",
                "it was not changed; delete it, or set another set_name",
            )


def _content(recorded: Recorded) -> tuple[Mapping[str, str], Mapping[str, str | None]]:
    return recorded.data(), recorded.annotations()
