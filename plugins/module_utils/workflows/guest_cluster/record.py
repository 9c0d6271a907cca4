# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of a guest with direct delivery: a ConfigMap on the host.

It has the name and resourceVersion of each Secret that was written in the guest, by which a repair differs from a
rotation, and the service accounts that name the Secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...model.errors import OwnershipConflict
from ...model.guest_cluster import RECORD, GuestPullSecret
from ...model.naming import owner_problem
from ...places.kubernetes_secret.conflict_retry import retry_when_overtaken
from ...places.kubernetes_secret.owned_objects import OwnedObjects
from ...runtime.run_settings import RunSettings
from ..run import Work
from .desired import accounts_in, record_of

__all__ = ["GuestRecord"]

_KIND = "configmaps"


class GuestRecord:
    """One guest's record.

    :param objects: those of the Cluster's namespace on the host.
    :param listed: the ConfigMap as it was listed; None if it was not there.
    """

    def __init__(
        self,
        settings: RunSettings,
        objects: OwnedObjects,
        wanted: GuestPullSecret,
        place: tuple[str, str],
        listed: dict[str, Any] | None,
        current: Work,
    ) -> None:
        self._settings = settings
        self._objects = objects
        self._wanted = wanted
        self._name, self._cluster = place
        self._current = current
        self._there = listed
        self.versions: dict[str, str] = dict((listed or {}).get("data") or {})
        self.accounts: frozenset[str] = accounts_in(listed)

    def begin(self) -> None:
        """Write it before anything in the guest, so that the next run completes the work of one that is killed."""
        accounts = self.accounts | set(self._wanted.service_accounts)
        if self._there is None or accounts != self.accounts:
            self._write(self.versions, accounts)

    def end(self, versions: Mapping[str, str], accounts: frozenset[str]) -> None:
        """Write what the guest has now."""
        if not self._objects.dry_run and (dict(versions), accounts) != (self.versions, self.accounts):
            self._write(versions, accounts)

    def delete(self) -> None:
        """Delete it after everything in the guest."""

        def delete(fresh: bool) -> None:
            self._current.outcome.restart()
            existing = (None if fresh else self._there) or self._objects.get(_KIND, self._name)
            if existing is not None:
                self._objects.guard(_KIND, existing, adopt=False, delete=True)
                self._objects.delete(_KIND, existing)

        retry_when_overtaken(self._settings, self._current.outcome, self._current.deadline, delete)

    def _write(self, versions: Mapping[str, str], accounts: frozenset[str]) -> None:
        place = self._objects.namespace, self._name, self._cluster

        def write(fresh: bool) -> None:
            self._current.outcome.restart()
            existing = (None if fresh else self._there) or self._objects.get(_KIND, self._name)
            if existing is not None:
                self._check(existing)
            # Another run may have linked others meanwhile.
            known = accounts | accounts_in(existing) if fresh else accounts
            self._there = self._objects.apply(record_of(self._wanted, place, versions, known), existing)

        retry_when_overtaken(self._settings, self._current.outcome, self._current.deadline, write)
        self._current.outcome.settle()
        self.accounts = accounts

    def _check(self, existing: Mapping[str, Any]) -> None:
        labels = existing["metadata"].get("labels") or {}
        if owner_problem(labels, self._cluster) or labels.get(RECORD) != self._wanted.set_name:
            raise OwnershipConflict(
                f"{self._objects.client.place(self._objects.namespace, _KIND, self._name)} exists but is not the "
                "record of this delivery",
                "it was not changed; delete it, or set another set_name",
            )
