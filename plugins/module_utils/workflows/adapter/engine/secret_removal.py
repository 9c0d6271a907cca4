# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Removes the secrets of clusters that are being deleted, many at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Callable

from .decide import Remove
from .inline import InlineProvisioner, SecretDeletion

__all__ = ["SecretRemoval", "SecretRemovalResult", "remove_secrets"]

_FOREIGN = "ownership"
# Kinds of errors that mean: nothing of ours exists there.
_NOT_OURS = frozenset({_FOREIGN, "not_found"})


@dataclass(frozen=True)
class SecretRemoval:
    """One cluster whose Jobs are gone.

    :param made: whether something is known to have been created for it.
    """

    cluster_id: str
    places: Remove
    made: bool


@dataclass
class SecretRemovalResult:
    """What was removed, kept or could not be removed.

    :param failures: (kind, message).
    :param kept: names of what the policy keeps.
    :param foreign: names of objects of other owners, which stay.
    """

    actions: list[str] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)


def remove_secrets(
    provisioner: InlineProvisioner,
    wanted: Sequence[SecretRemoval],
    *,
    store: str,
    lacks_namespace: Callable[[str], bool],
) -> list[SecretRemovalResult]:
    """Remove the management Secrets, then the stored secrets.

    :param store: the deletion policy, ``delete`` or ``keep``.
    :param lacks_namespace: whether the management cluster has no such namespace.
    """
    removal_result = [SecretRemovalResult() for _one in wanted]
    placed = [
        (index, (one.cluster_id, place)) for index, one in enumerate(wanted) for place in one.places.placed
    ]
    results = provisioner.remove_placed([target for _index, target in placed])
    for (index, (_cluster_id, place)), removed in zip(placed, results):
        # Our permissions may have been deleted with the namespace. Without permissions the API server answers
        # 403 for any namespace. Where the configuration forbids writes, we need no permissions.
        refused = removed.kind == "permission_denied"
        if not refused or not (place in wanted[index].places.barred or lacks_namespace(place.namespace)):
            _note(removal_result[index], wanted[index], removed)
    stored = [
        (index, (one.cluster_id, secret)) for index, one in enumerate(wanted) for secret in one.places.secrets
    ]
    if store == "keep":
        for index, (_cluster_id, secret) in stored:
            removal_result[index].kept.append(secret)
        return removal_result
    results = provisioner.remove_stored([secret for _index, secret in stored])
    for (index, _secret), removed in zip(stored, results):
        _note(removal_result[index], wanted[index], removed)
    return removal_result


def _note(removal_result: SecretRemovalResult, one: SecretRemoval, removed: SecretDeletion) -> None:
    if removed.changed:
        removal_result.actions.append(f"deleted {removed.name}")
    if removed.kind == _FOREIGN:
        removal_result.foreign.append(removed.name)
    if removed.kind is None or removed.kind in _NOT_OURS:
        return
    # A project that was never set up for us refuses access, and holds nothing of ours.
    if removed.kind == "permission_denied" and not one.made:
        return
    removal_result.failures.append((removed.kind, _said(removed)))


def _said(removed: SecretDeletion) -> str:
    message: str | None = removed.message or removed.kind
    return f"{removed.name}: {message}"
