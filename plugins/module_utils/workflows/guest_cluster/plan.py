# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decides what should be where: which guests get the pull secret, under which names, and from which it is
removed. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...model.guest_cluster import GuestCluster, GuestPullSecret, HostNamespace
from ...model.shown import first_few

__all__ = ["Delivery", "GuestPlan", "Host", "Removal", "plan_guests"]

_Object = dict[str, Any]
# The namespace and the name of a ClusterResourceSet and of its Secret.
_Place = tuple[str, str]


@dataclass(frozen=True)
class Host:
    """What the host has.

    :param namespaces: those that the label selector selects.
    :param sets: the ClusterResourceSets (with direct delivery: the ConfigMaps) that carry the delivery's label.
    :param secrets: the Secrets that carry it.
    """

    namespaces: Sequence[HostNamespace]
    guests: Sequence[GuestCluster]
    sets: Sequence[_Object]
    secrets: Sequence[_Object]


@dataclass(frozen=True)
class Delivery:
    """A guest that gets the pull secret.

    :param set_name: the name of the guest's ClusterResourceSet and of its Secret.
    :param record: the ClusterResourceSet; with direct delivery, the ConfigMap.
    """

    guest: GuestCluster
    set_name: str
    record: _Object | None = None
    secret: _Object | None = None

    @property
    def id(self) -> str:
        """``NAMESPACE/NAME``, in results."""
        return self.guest.id

    @property
    def namespace(self) -> str:
        """The namespace on the host."""
        return self.guest.namespace


@dataclass(frozen=True)
class Removal:
    """A guest that left, or whose namespace is no longer selected.

    :param cluster: the Cluster's name, as the objects' label has it.
    :param has_cluster: whether the Cluster is there, selected or not.
    :param is_double: whether another record of this delivery is the Cluster's.
    """

    namespace: str
    set_name: str
    cluster: str
    reason: str
    record: _Object | None = None
    secret: _Object | None = None
    has_cluster: bool = False
    is_double: bool = False

    @property
    def id(self) -> str:
        """``NAMESPACE/NAME``, in results."""
        return f"{self.namespace}/{self.cluster}"


@dataclass(frozen=True)
class GuestPlan:
    """The decision.

    :param without_cluster: selected namespaces that have no Cluster.
    :param terminating: selected namespaces that are being deleted.
    :param refused: why nothing is removed, although something should be; None if nothing is refused.
    :param notes: what else a person should know.
    """

    deliveries: Sequence[Delivery]
    removals: Sequence[Removal]
    without_cluster: Sequence[str] = ()
    terminating: Sequence[str] = ()
    refused: str | None = None
    notes: Sequence[str] = ()


def plan_guests(wanted: GuestPullSecret, host: Host) -> GuestPlan:
    """Return what should be where."""
    selected = [space for space in host.namespaces if _matches(wanted.pattern, space.name)]
    living = {space.name for space in selected if not space.is_terminating}
    terminating = {space.name for space in selected if space.is_terminating}
    guests = [guest for guest in host.guests if guest.namespace in living]
    sets, secrets = _by_place(host.sets), _by_place(host.secrets)
    recorded = {**secrets, **sets}
    deliveries = [
        Delivery(guest, name, sets.get((guest.namespace, name)), secrets.get((guest.namespace, name)))
        for guest, name in _named(wanted.set_name, guests, recorded)
    ]
    kept = {(delivery.namespace, delivery.set_name) for delivery in deliveries} if wanted.present else set()
    there = {(guest.namespace, guest.name) for guest in host.guests}
    delivered = {(guest.namespace, guest.name) for guest in guests}
    removals = [
        Removal(
            place[0],
            place[1],
            _cluster_of(recorded[place]),
            _reason(wanted, place[0], living, guests, _cluster_of(recorded[place])),
            sets.get(place),
            secrets.get(place),
            has_cluster=(place[0], _cluster_of(recorded[place])) in there,
            is_double=wanted.present and (place[0], _cluster_of(recorded[place])) in delivered,
        )
        for place in sorted(recorded)
        # What is in a terminating namespace goes with it.
        if place not in kept and place[0] not in terminating
    ]
    refused: str | None = None
    if not wanted.present:
        everything = len(removals)
        if wanted.label_selector is not None or wanted.pattern is not None:
            removals = [removal for removal in removals if removal.namespace in living]
        others = everything - len(removals)
        notes = (
            [f"objects of this delivery stay in namespaces that are not selected: {others}"] if others else []
        )
        return GuestPlan([], removals, terminating=sorted(terminating), notes=notes)
    if not wanted.prune:
        removals = []
    elif removals:
        refused = _refusal(wanted, removals, len(recorded), living=living, has_guests=bool(guests))
    with_guests = {guest.namespace for guest in guests}
    return GuestPlan(
        deliveries,
        [] if refused else removals,
        without_cluster=sorted(living - with_guests),
        terminating=sorted(terminating),
        refused=refused,
        notes=[] if living else ["no namespace is selected"],
    )


def _matches(pattern: str | None, name: str) -> bool:
    return pattern is None or re.fullmatch(pattern, name) is not None


def _named(
    set_name: str, guests: Sequence[GuestCluster], recorded: Mapping[_Place, _Object]
) -> list[tuple[GuestCluster, str]]:
    """Return each guest with the name of its objects. A selector is immutable, so an existing name stays."""
    existing = {(place[0], _cluster_of(item)): place[1] for place, item in recorded.items()}
    sizes = Counter(guest.namespace for guest in guests)
    named = []
    for guest in guests:
        is_alone = sizes[guest.namespace] == 1 and (guest.namespace, set_name) not in recorded
        new = set_name if is_alone else f"{set_name}-{guest.name}"
        named.append((guest, existing.get((guest.namespace, guest.name), new)))
    return named


def _refusal(
    wanted: GuestPullSecret,
    removals: Sequence[Removal],
    recorded: int,
    *,
    living: Iterable[str],
    has_guests: bool,
) -> str | None:
    """Return why nothing may be removed; None if it may."""
    named = first_few([f"{removal.id}: {removal.reason}" for removal in removals])
    many = f"{len(removals)} of {recorded} guests ({named})"
    if not has_guests:
        # A label, a selector or a server that vanished by accident must not empty a fleet.
        missing = "the selected namespaces have no Cluster" if any(living) else "no namespace is selected"
        return (
            f"{many} would be removed, because {missing}; nothing was removed; check namespace_selector and "
            "namespace_pattern, or remove the last guests with state: absent"
        )
    if len(removals) > max(1, recorded * wanted.prune_percent // 100):
        return (
            f"{many} would be removed, more than prune_limit ({wanted.prune_percent}%); nothing was removed; check "
            "the labels of the namespaces, or confirm with prune_limit: 100%"
        )
    return None


def _reason(
    wanted: GuestPullSecret,
    namespace: str,
    living: Iterable[str],
    guests: Iterable[GuestCluster],
    cluster: str,
) -> str:
    if not wanted.present:
        return "state is absent"
    if namespace not in living:
        return "its namespace is not selected"
    if any(guest.namespace == namespace and guest.name == cluster for guest in guests):
        return "another record is its Cluster's"
    return "its Cluster is gone"


def _cluster_of(owned: Mapping[str, Any]) -> str:
    return str((owned["metadata"].get("labels") or {}).get("cluster-id") or owned["metadata"]["name"])


def _by_place(objects: Iterable[_Object]) -> dict[_Place, _Object]:
    return {(item["metadata"]["namespace"], item["metadata"]["name"]): item for item in objects}
