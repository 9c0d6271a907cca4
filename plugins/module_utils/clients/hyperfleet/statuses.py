# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An adapter's report on a cluster, and the status that is read. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["AdapterStatus", "Condition", "Report", "Reported"]


@dataclass(frozen=True)
class Condition:
    """One condition.

    :param status: ``True``, ``False`` or ``Unknown``.
    :param reason: CamelCase, a constant.
    :param message: for people; never a value of a secret.
    """

    type: str
    status: str
    reason: str
    message: str


@dataclass(frozen=True)
class AdapterStatus:
    """An adapter's latest status of a cluster.

    :param generation: of the cluster that it is about.
    :param observed_time: RFC 3339; None if the API has none.
    :param dated: whether the API reports the generation; the contract's form does not.
    :param transitions: by condition (its status, since when in RFC 3339), if known.
    """

    adapter: str
    generation: int
    conditions: Mapping[str, Condition]
    data: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    observed_time: str | None = None
    dated: bool = True
    transitions: Mapping[str, tuple[str, str]] = field(default_factory=dict, compare=False)

    def is_true(self, condition: str) -> bool:
        """Return whether a condition is ``True``."""
        found = self.conditions.get(condition)
        return found is not None and found.status == "True"


@dataclass(frozen=True)
class Report:
    """A report on a cluster.

    :param generation: of the cluster when it was read, never an event's.
    """

    adapter: str
    generation: int
    conditions: tuple[Condition, ...]
    data: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reported:
    """The result of a report.

    :param accepted: False if the API discarded the complete report (204).
    :param status: the HTTP status.
    :param observed_time: the time that it was sent with.
    """

    accepted: bool
    status: int
    observed_time: str
