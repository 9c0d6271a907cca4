# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether the adapter's turn has come for a cluster, and what it waits for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....clients.hyperfleet.statuses import AdapterStatus
from ....model.errors import ConfigurationError
from .expressions import Expression, compile_expression, evaluation_context
from .unmet_reasons import unavailable_reason, unmet_reason
from .view import ClusterTooLarge, view

__all__ = ["DEFAULT_PRECONDITIONS", "Preconditions", "UnmetPrecondition"]

DEFAULT_PRECONDITIONS = (
    'spec.provider == "gcp"',
    "spec.gcp.projectId != nil",
    "spec.pullSecret.data != nil",
    'status.adapters[validation].available == "True"',
    'status.adapters[dns].available == "True"',
    'status.adapters[placement].available == "True"',
)
"""Seed 002's, which are used where the configuration has none."""


@dataclass(frozen=True)
class UnmetPrecondition:
    """What a cluster waits for.

    :param expression: as it is in the configuration; a dependency's as if it were one.
    :param reason: for people: ``adapter dns is not Available (False: RecordsPending)``.
    """

    expression: str
    reason: str


class Preconditions:
    """Compiled once; thread-safe.

    :param expressions: in CEL, or as seed 002 writes them.
    :param dependencies: adapters that must be Available at the cluster's generation.
    :raises ConfigurationError: names the first wrong one by its place: ``preconditions[2].expression …``.
    """

    def __init__(self, expressions: Sequence[str], dependencies: Sequence[str] = ()) -> None:
        self._dependencies = tuple(dependencies)
        made: list[Expression] = []
        for index, source in enumerate(expressions):
            try:
                made.append(compile_expression(source))
            except ConfigurationError as error:
                if error.hint:
                    raise
                raise ConfigurationError(f"preconditions[{index}].expression {error}") from None
        self._expressions = tuple(made)
        self._roots = frozenset(root for expression in made for root in expression.roots)
        self._largest = min((expression.largest for expression in made), default=0)

    def unmet(
        self, cluster: Mapping[str, Any], statuses: Mapping[str, AdapterStatus]
    ) -> list[UnmetPrecondition]:
        """What does not hold of a cluster, in the order of the configuration; never raises.

        :param cluster: as the API gives it.
        :param statuses: the adapters', by their names.
        """
        try:
            return [*self._expressions_unmet(cluster, statuses), *self._dependencies_unmet(cluster, statuses)]
        except Exception as error:  # noqa: BLE001 - a cluster is a tenant's text: it must not stop the others
            return [UnmetPrecondition("", f"the cluster cannot be read ({type(error).__name__})")]

    def _dependencies_unmet(
        self, cluster: Mapping[str, Any], statuses: Mapping[str, AdapterStatus]
    ) -> list[UnmetPrecondition]:
        reasons = ((name, unavailable_reason(name, cluster, statuses)) for name in self._dependencies)
        return [
            UnmetPrecondition(f'status.adapters["{name}"].available == "True"', reason)
            for name, reason in reasons
            if reason is not None
        ]

    def _expressions_unmet(
        self, cluster: Mapping[str, Any], statuses: Mapping[str, AdapterStatus]
    ) -> list[UnmetPrecondition]:
        shared = self._view(cluster, statuses, self._largest)
        found = []
        for index, expression in enumerate(self._expressions):
            name = f"preconditions[{index}]"
            # Those with loops take small clusters only: they must not keep the others from a large one.
            seen = shared or self._view(cluster, statuses, expression.largest)
            if seen is None:
                found.append(
                    UnmetPrecondition(
                        expression.source,
                        f"the cluster's document in the API is too large or nested too deeply to evaluate {name}",
                    )
                )
            elif expression.whole.evaluate(seen[1]) is not True:
                found.append(
                    UnmetPrecondition(expression.source, _reason(name, expression, seen, cluster, statuses))
                )
        return found

    def _view(
        self, cluster: Mapping[str, Any], statuses: Mapping[str, AdapterStatus], largest: int
    ) -> tuple[dict[str, Any], Any] | None:
        """(values, the same as the evaluator has them)"""
        try:
            values = view(cluster, statuses, self._roots, largest)
        except ClusterTooLarge:
            return None
        return values, evaluation_context(values)


def _reason(
    name: str,
    expression: Expression,
    seen: tuple[dict[str, Any], Any],
    cluster: Mapping[str, Any],
    statuses: Mapping[str, AdapterStatus],
) -> str:
    for part in expression.parts:
        found = part.evaluate(seen[1])
        if found is not True:
            return unmet_reason(name, part, found, seen[0], cluster, statuses)
    return f"{name} is false"
