# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the nodes are to have: the secrets are read, one decides, and it is said what became of them."""

from __future__ import annotations

from typing import Any

from ...dockerconfig import DockerConfig, DockerConfigError, load
from ...model.errors import DependencyMissing, InvalidDocument, NotFound, PermissionDenied, PullSecretError
from ...model.outcome import Outcome
from ...places.kubernetes_secret.target import KEY, secret_value, value_of
from .cluster import Cluster
from .deployment import There
from .management import Management
from .merging import EMPTY, KEPT, Additional, Decision, decide, without_original
from .names import ADDITIONAL

__all__ = ["Deciding", "say"]

# What an original that is gone, wrong or somebody else's fails with; not a server that does not answer.
_UNREADABLE = (DependencyMissing, InvalidDocument, NotFound, PermissionDenied)
# A tenant's document may give rise to thousands of warnings.
_WARNINGS = 20


class Deciding:
    """For one cluster.

    :param seen: every docker config that is read is appended.
    """

    def __init__(self, cluster: Cluster, management: Management, outcome: Outcome, seen: list[bytes]) -> None:
        self._cluster = cluster
        self._management = management
        self._outcome = outcome
        self._seen = seen
        # What the secret held before the first write.
        self._before: DockerConfig | None = None

    def decide(self, tenants: dict[str, Any] | None, there: There) -> Decision | None:
        """What the nodes are to have; None where nothing is left to give them, and all goes.

        :param tenants: the additional secret.
        :raises PullSecretError: the original cannot be read, which only a removal does without.
        """
        held = self._held(there)
        if not self._outcome.written:
            self._before = held
        self._outcome.before = self._before
        try:
            data, where = self._management.original()
            self._seen.append(data)
            return decide(
                data,
                self._additional(tenants),
                where=where,
                held=held,
                held_registries=there.additional_registries(),
                precedence=self._cluster.precedence,
                policy=self._cluster.policy,
                drop=self._cluster.drop,
            )
        except _UNREADABLE as error:
            if self._cluster.present:
                raise
            left = without_original(held, there.additional_registries())
            told = "its entries that the nodes have stay" if left else "the nodes keep what they have"
            self._outcome.warnings.append(f"no original pull secret, {told}: {error.message}")
            return left

    def _held(self, there: There) -> DockerConfig | None:
        data = value_of(there.secret) if there.secret else None
        if data is None:
            return None
        self._seen.append(data)
        try:
            return load(data, allow_empty=True)
        except DockerConfigError:
            # It is written anew.
            return None

    def _additional(self, tenants: dict[str, Any] | None) -> Additional | None:
        if tenants is None:
            return None
        try:
            data = secret_value(tenants, KEY, "")
        except PullSecretError:
            return Additional(problem=f"the secret has no key {KEY}")
        self._seen.append(data)
        return Additional(data)


def say(decision: Decision, outcome: Outcome) -> None:
    """Tell what became of the additional secret."""
    outcome.provenance = decision.provenance
    outcome.extra["additional"] = decision.state
    outcome.extra.pop("conflicts", None)
    if decision.conflicts:
        outcome.extra["conflicts"] = list(decision.conflicts)
    outcome.warnings.extend(decision.warnings[:_WARNINGS])
    if len(decision.warnings) > _WARNINGS:
        outcome.warnings.append(f"and {len(decision.warnings) - _WARNINGS} more warnings of this kind")
    if decision.problem is not None:
        kept = "what it brought before is kept" if decision.state == KEPT else "it is left out"
        outcome.warnings.append(f"{ADDITIONAL} is not valid, and {kept}: {decision.problem}")
    elif decision.state == EMPTY:
        outcome.warnings.append(f"{ADDITIONAL} is empty")
