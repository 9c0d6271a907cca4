# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What adapters say of a cluster: the report that is sent, and the status that is read.  Pure."""

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
    """What an adapter said last of a cluster.

    :param generation: of the cluster that it was said of.
    :param observed_time: RFC 3339; None where the API gives none.
    :param dated: whether the API says of which generation; the contract's form does not.
    :param transitions: by condition (the status that it had, since when in RFC 3339), where known.
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
        """Whether a condition was said to be ``True``."""
        found = self.conditions.get(condition)
        return found is not None and found.status == "True"


@dataclass(frozen=True)
class Report:
    """What is to be said of a cluster.

    :param generation: the one that the cluster had when it was read, never an event's.
    """

    adapter: str
    generation: int
    conditions: tuple[Condition, ...]
    data: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reported:
    """What became of a report.

    :param accepted: False where the API discarded the whole of it (204).
    :param status: of HTTP.
    :param observed_time: the time that it was sent with.
    """

    accepted: bool
    status: int
    observed_time: str
