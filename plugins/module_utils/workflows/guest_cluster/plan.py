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

from ...model.errors import ConfigurationError
from ...model.guest_cluster import GuestCluster, GuestPullSecret, HostNamespace
from ...model.shown import first_few
from .desired import further_objects
from .recorded import Recorded

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
    :param is_ending: whether an earlier run began it, and objects wait for their finalizers.
    """

    namespace: str
    set_name: str
    cluster: str
    reason: str
    record: _Object | None = None
    secret: _Object | None = None
    has_cluster: bool = False
    is_double: bool = False
    is_ending: bool = False

    @property
    def id(self) -> str:
        """``NAMESPACE/NAME``, in results."""
        return f"{self.namespace}/{self.cluster}"


@dataclass(frozen=True)
class GuestPlan:
    """The decision.

    :param refused: why nothing is removed, although something should be; None if nothing is refused.
    :param keeps_objects: why no further object is deleted in the guests that stay; None if they may be.
    :param notes: what else a person should know.
    """

    deliveries: Sequence[Delivery]
    removals: Sequence[Removal]
    refused: str | None = None
    keeps_objects: str | None = None
    notes: Sequence[str] = ()


def plan_guests(wanted: GuestPullSecret, host: Host) -> GuestPlan:
    """Return what should be where."""
    selected = [space for space in host.namespaces if re.fullmatch(wanted.pattern or ".*", space.name)]
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
    # One that is being deleted may be gone before it is reached.
    existing = {(guest.namespace, guest.name): guest.uid for guest in host.guests if not guest.is_deleting}
    delivered = {(guest.namespace, guest.name) for guest in guests}

    def removal_of(place: _Place) -> Removal:
        namespace, set_name = place
        cluster = _cluster_of(recorded[place])
        is_double = wanted.present and (namespace, cluster) in delivered
        record = Recorded.of(sets.get(place))
        uid = existing.get((namespace, cluster))
        return Removal(
            namespace,
            set_name,
            cluster,
            _reason(wanted, is_selected=namespace in living, is_double=is_double),
            sets.get(place),
            secrets.get(place),
            # Not one that was made again under its name.
            has_cluster=uid is not None and record.uid in ("", uid),
            is_double=is_double,
            is_ending=record.is_ending,
        )

    # What is in a terminating namespace goes with it.
    removals = [
        removal_of(place) for place in sorted(recorded) if place not in kept and place[0] not in terminating
    ]
    skipped = [f"namespace {name} is selected and is being deleted: skipped" for name in sorted(terminating)]
    if not wanted.present:
        is_selective = wanted.label_selector is not None or wanted.pattern is not None
        chosen = [each for each in removals if each.namespace in living or not is_selective]
        if others := len(removals) - len(chosen):
            skipped.insert(0, f"objects of this delivery stay in namespaces that are not selected: {others}")
        return GuestPlan([], chosen, notes=skipped)
    new = [removal for removal in removals if not removal.is_ending]
    refused = _refusal(wanted, new, len(recorded), living=living, has_guests=bool(guests))
    if refused or not wanted.prune:
        removals = [removal for removal in removals if removal.is_ending and wanted.prune]
    empty = sorted(living - {guest.namespace for guest in guests})
    notes = [
        *(() if living else ("no namespace is selected",)),
        *(f"namespace {name} is selected and has no Cluster" for name in empty),
        *skipped,
    ]
    keeps_objects = _objects_refusal(wanted, deliveries) if wanted.prune else None
    return GuestPlan(deliveries, removals, refused, keeps_objects, notes)


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
    if not removals or not wanted.prune:
        return None
    named = first_few([f"{removal.id}: {removal.reason}" for removal in removals])
    many = f"{len(removals)} of {recorded} guests ({named})"
    if not has_guests:
        # A label, a selector or a server that vanished by accident must not empty a fleet.
        missing = "the selected namespaces have no Cluster" if any(living) else "no namespace is selected"
        return (
            f"{many} would be removed, because {missing}; nothing was removed; check namespace_selector and "
            "namespace_pattern, or remove the last guests with state: absent"
        )
    if len(removals) > _most(wanted, recorded):
        return (
            f"{many} would be removed, more than prune_limit ({wanted.prune_percent}%); nothing was removed; check "
            "the labels of the namespaces, or confirm with prune_limit: 100%"
        )
    return None


def _objects_refusal(wanted: GuestPullSecret, deliveries: Sequence[Delivery]) -> str | None:
    """Return why no further object may be deleted in the guests that stay; None if they may."""
    if not wanted.is_direct or wanted.manifests is None:
        return None
    losing = [f"{each.id}: {first_few(lost)}" for each in deliveries if (lost := _lost_objects(wanted, each))]
    if len(losing) <= _most(wanted, sum(each.record is not None for each in deliveries)):
        return None
    return (
        f"objects would be deleted in {len(losing)} guests ({first_few(losing)}), more than prune_limit "
        f"({wanted.prune_percent}%); none was deleted; check objects and its files, or confirm with "
        "prune_limit: 100%"
    )


def _lost_objects(wanted: GuestPullSecret, delivery: Delivery) -> list[str]:
    recorded = Recorded.of(delivery.record, delivery.guest.uid)
    if not recorded.objects or delivery.guest.is_deleting:
        return []
    try:
        objects = further_objects(wanted, delivery.namespace, delivery.guest.name)
    except ConfigurationError:
        # The guest fails, and loses nothing.
        return []
    return [str(address) for address in recorded.lost([further.address for further in objects])]


def _most(wanted: GuestPullSecret, guests: int) -> int:
    """Return how many of the guests may lose something in one run."""
    return max(1, guests * wanted.prune_percent // 100)


def _reason(wanted: GuestPullSecret, *, is_selected: bool, is_double: bool) -> str:
    if not wanted.present:
        return "state is absent"
    if not is_selected:
        return "its namespace is not selected"
    return "another record is its Cluster's" if is_double else "its Cluster is gone"


def _cluster_of(owned: Mapping[str, Any]) -> str:
    return str((owned["metadata"].get("labels") or {}).get("cluster-id") or owned["metadata"]["name"])


def _by_place(objects: Iterable[_Object]) -> dict[_Place, _Object]:
    return {(item["metadata"]["namespace"], item["metadata"]["name"]): item for item in objects}
