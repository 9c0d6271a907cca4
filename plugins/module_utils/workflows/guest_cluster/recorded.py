# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a guest has of a direct delivery, as its record on the host says. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...model.guest_cluster import ObjectAddress

__all__ = ["ENDING", "Recorded"]

ENDING = "!"
"""The mark of an object that is being deleted and is not gone yet, or that waits for one."""
_ACCOUNTS = "hyperfleet.io/service-accounts"
_OBJECTS = "hyperfleet.io/objects"
_UID = "hyperfleet.io/cluster-uid"
_NOTHING = "-"


@dataclass(frozen=True)
class Recorded:
    """What a guest has, or is about to get.

    :param secrets: namespace to name and resourceVersion of the pull secret; empty before it was written.
    :param objects: the further objects, in the order of their manifests, to the mark of what was written; empty
        before that.
    :param accounts: the service accounts that name the pull secret.
    :param uid: of the Cluster.
    """

    secrets: Mapping[str, str] = field(default_factory=dict)
    objects: Mapping[ObjectAddress, str] = field(default_factory=dict)
    accounts: frozenset[str] = frozenset()
    uid: str = ""

    @classmethod
    def of(cls, record: Mapping[str, Any] | None, uid: str = "") -> Recorded:
        """Return what a ConfigMap says.

        :param uid: of the Cluster: a new one of the same name has nothing of what the old one had.
        """
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
        secrets = {
            space: "" if value == _NOTHING else value for space, value in (record.get("data") or {}).items()
        }
        recorded = str(annotations.get(_UID) or "")
        if uid not in ("", recorded):
            secrets, objects = dict.fromkeys(secrets, ""), dict.fromkeys(objects, _NOTHING)
        return cls(secrets, objects, accounts, recorded)

    @property
    def has_secrets(self) -> bool:
        """Whether the pull secret was written in the guest."""
        return any(self.secrets.values())

    def mark(self, address: ObjectAddress) -> str:
        """Return the mark of an object, whatever the version of its manifest was; empty without one."""
        marks = (mark for other, mark in self.objects.items() if other.identity == address.identity)
        return next((mark for mark in marks if mark not in (ENDING, _NOTHING)), "")

    @property
    def is_ending(self) -> bool:
        """Whether nothing is left but what waits for its finalizers."""
        return bool(self.objects) and not self.secrets and set(self.objects.values()) == {ENDING}

    def without(self, kept: Collection[ObjectAddress], *, lasting: bool = False) -> list[ObjectAddress]:
        """Return the objects that are not among those that are kept, in whatever version.

        :param lasting: whether to leave out those that are being deleted.
        """
        identities = {address.identity for address in kept}
        return [
            address
            for address, mark in self.objects.items()
            if address.identity not in identities and not (lasting and mark == ENDING)
        ]

    def to_delete(self, kept: Collection[ObjectAddress]) -> list[ObjectAddress]:
        """Return the objects that are not kept, in the order in which to delete them.

        What was applied last may need what was applied before it, to end. A volume ends after the pods that use it,
        wherever its manifest is: claims go after their namespace's workloads, and volumes after the claims.
        """
        doomed = self.without(kept)
        workloads = [
            (address.namespace, position) for position, address in enumerate(doomed) if address.has_pods
        ]

        def rank(position: int) -> tuple[int, int]:
            address = doomed[position]
            if not address.is_claim:
                return position, 2
            used = [place for namespace, place in workloads if namespace == address.namespace]
            return min([position, *used]), 1

        ranks = {address: rank(position) for position, address in enumerate(doomed)}
        claims = [ranks[address][0] for address in doomed if address.is_claim]
        for address in doomed:
            if address.is_volume:
                ranks[address] = min([ranks[address][0], *claims]), 0
        return sorted(doomed, key=ranks.__getitem__)[::-1]

    def in_order(self, manifests: Collection[ObjectAddress]) -> list[ObjectAddress]:
        """Return the objects in the order of their manifests, and each other one behind what was before it."""
        order, identities = list(manifests), [address.identity for address in manifests]
        position = 0
        for address in self.objects:
            if address.identity not in identities:
                order.insert(position, address)
                identities.insert(position, address.identity)
            position = max(position, identities.index(address.identity) + 1)
        return order

    def lost(self, kept: Collection[ObjectAddress]) -> list[ObjectAddress]:
        """Return the objects that the guest has and would no longer have."""
        return [address for address in self.without(kept) if self.mark(address) and not address.stays]

    def and_planned(
        self, namespaces: Collection[str], objects: Collection[ObjectAddress], accounts: Collection[str]
    ) -> Recorded:
        """Return this and what the guest is about to get."""
        known = {address.identity: address for address in self.objects}
        addresses = [known.get(address.identity, address) for address in self.in_order(objects)]
        planned = {address: self.objects.get(address, _NOTHING) for address in addresses}
        secrets = {**dict.fromkeys(namespaces, ""), **self.secrets}
        return Recorded(secrets, planned, self.accounts.union(accounts), self.uid)

    def and_of(self, other: Recorded, known: Recorded) -> Recorded:
        """Return this and what another run has recorded, which is not in ``known``."""
        objects = {address: mark for address, mark in other.objects.items() if address not in known.objects}
        secrets = {space: value for space, value in other.secrets.items() if space not in known.secrets}
        accounts = self.accounts | (other.accounts - known.accounts)
        return Recorded({**secrets, **self.secrets}, {**objects, **self.objects}, accounts, self.uid)

    def data(self) -> dict[str, str]:
        """Return the ConfigMap's data."""
        return {namespace: value or _NOTHING for namespace, value in self.secrets.items()}

    def annotations(self) -> dict[str, str | None]:
        """Return the ConfigMap's annotations; None removes one."""
        lines = (
            " ".join(part or _NOTHING for part in (*address, mark)) for address, mark in self.objects.items()
        )
        accounts = ",".join(sorted(self.accounts))
        return {_ACCOUNTS: accounts or None, _OBJECTS: "\n".join(lines) or None, _UID: self.uid or None}
