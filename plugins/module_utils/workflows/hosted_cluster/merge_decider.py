# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the original, additional and current secret, and decides what the nodes get."""

from __future__ import annotations

from typing import Any

from ...dockerconfig import DockerConfig, DockerConfigError, load
from ...model.errors import DependencyMissing, InvalidDocument, NotFound, PermissionDenied, PullSecretError
from ...model.outcome import Outcome
from ...places.document_forms import docker_config_of
from ...places.kubernetes_secret.target import (
    KEY,
    applied_values,
    docker_config_value,
    secret_value,
)
from .cluster import HostedCluster
from .control_plane import ControlPlane
from .decision import EMPTY, KEPT, AdditionalSecret, MergeDecision, decide_merge, without_original
from .deployment import ExistingObjects
from .names import ADDITIONAL

__all__ = ["MergeDecider", "report_decision"]

# Errors of an original that is missing, invalid or another owner's, but not of a server that does not answer.
_UNREADABLE = (DependencyMissing, InvalidDocument, NotFound, PermissionDenied)
# A tenant's document may cause thousands of warnings.
_WARNINGS = 20


class MergeDecider:
    """Decides for one cluster.

    :param documents_read: receives every docker config that is read.
    """

    def __init__(
        self,
        cluster: HostedCluster,
        control_plane: ControlPlane,
        outcome: Outcome,
        documents_read: list[bytes],
    ) -> None:
        self._cluster = cluster
        self._control_plane = control_plane
        self._outcome = outcome
        self._documents_read = documents_read
        # The content of the secret before the first write.
        self._before: DockerConfig | None = None

    def decide(self, tenants: dict[str, Any] | None, there: ExistingObjects) -> MergeDecision | None:
        """Return what the nodes get, or None if nothing is left for them and everything is removed.

        :param tenants: the additional secret.
        :raises PullSecretError: the original cannot be read. A removal does not need it.
        """
        current = self._current(there)
        if not self._outcome.written:
            self._before = current
        self._outcome.before = self._before
        try:
            data, where = self._control_plane.original()
            return decide_merge(
                docker_config_of(data, where, self._documents_read),
                self._additional(tenants),
                where=where,
                current=current,
                current_registries=there.additional_registries(),
                precedence=self._cluster.precedence,
                policy=self._cluster.policy,
                drop=self._cluster.drop,
            )
        except _UNREADABLE as error:
            if self._cluster.present:
                raise
            left = without_original(current, there.additional_registries())
            kept = "the entries they already have from it" if left else "their current file"
            self._outcome.warnings.append(
                f"cannot read the original pull secret; the nodes keep {kept}: {error.message}"
            )
            return left

    def _current(self, there: ExistingObjects) -> DockerConfig | None:
        self._documents_read.extend(applied_values(there.secret) if there.secret else ())
        data = docker_config_value(there.secret) if there.secret else None
        if data is None:
            return None
        self._documents_read.append(data)
        try:
            return load(data, allow_empty=True)
        except DockerConfigError:
            # It is written again.
            return None

    def _additional(self, tenants: dict[str, Any] | None) -> AdditionalSecret | None:
        if tenants is None:
            return None
        try:
            data = secret_value(tenants, KEY, "")
            return AdditionalSecret(docker_config_of(data, "", self._documents_read))
        except PullSecretError as error:
            # Its owner knows where it is.
            return AdditionalSecret(problem=str(error).removeprefix(": "))


def report_decision(decision: MergeDecision, outcome: Outcome) -> None:
    """Put the result for the additional secret into the outcome."""
    outcome.provenance = decision.provenance
    outcome.extra["additional"] = decision.state
    outcome.extra.pop("conflicts", None)
    if decision.conflicts:
        outcome.extra["conflicts"] = list(decision.conflicts)
    outcome.warnings.extend(decision.warnings[:_WARNINGS])
    if len(decision.warnings) > _WARNINGS:
        outcome.warnings.append(f"and {len(decision.warnings) - _WARNINGS} more warnings of this kind")
    if decision.problem is not None:
        kept = "its previous entries are kept" if decision.state == KEPT else "it is left out"
        outcome.warnings.append(f"{ADDITIONAL} is not valid, and {kept}: {decision.problem}")
    elif decision.state == EMPTY:
        outcome.warnings.append(f"{ADDITIONAL} is empty")
