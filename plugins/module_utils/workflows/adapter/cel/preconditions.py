# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Evaluates the preconditions of a cluster and explains those that do not hold."""

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
"""The default preconditions of the adapter contract."""


@dataclass(frozen=True)
class UnmetPrecondition:
    """A precondition that does not hold.

    :param expression: as it is in the configuration; a dependency has an equivalent expression.
    :param reason: for people: ``adapter dns is not Available (False: RecordsPending)``.
    """

    expression: str
    reason: str


class Preconditions:
    """Compiled preconditions. Thread-safe.

    :param expressions: in CEL, or in the adapter contract's notation.
    :param dependencies: adapters that must be Available at the cluster's generation.
    :raises ConfigurationError: names the first wrong one by its path: ``preconditions[2].expression …``.
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
        """Return the preconditions that do not hold, in the order of the configuration. Never raises.

        :param cluster: as the API returns it.
        :param statuses: the adapters' statuses, by name.
        """
        try:
            return [*self._expressions_unmet(cluster, statuses), *self._dependencies_unmet(cluster, statuses)]
        except Exception as error:  # noqa: BLE001 - the document is a tenant's and must not stop other clusters
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
            # Expressions with loops are limited to small clusters, so that they do not exclude large clusters
            # from the others.
            seen = shared or self._view(cluster, statuses, expression.largest)
            if seen is None:
                found.append(
                    UnmetPrecondition(
                        expression.source,
                        f"the cluster's document in the API is too large or nested too deeply to evaluate "
                        f"{name}",
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
        """(values, the same values in the evaluator's form)"""
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
