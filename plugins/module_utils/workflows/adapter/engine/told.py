# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A report on a cluster with its four conditions, and what the run itself says of it.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

from ....clients.hyperfleet.statuses import AdapterStatus, Condition, Report
from ..model import Order
from .memory import carried, holds

__all__ = ["Said", "Subject", "Told", "before", "make_told", "short"]

_LONGEST = 1000
Said = tuple[str, str, str]
"""Of one condition: status, reason, message."""
_ADAPTER_WELL = ("True", "Healthy", "The adapter works")
_STAYS = ("False", "NotDeleting", "The cluster is not being deleted")


@dataclass(frozen=True)
class Subject:
    """Of which cluster something is said, and what was said last.

    :param adapter: our name.
    :param generation: of the cluster as it was read.
    :param goes: whether it is being deleted.
    """

    cluster_id: str
    adapter: str
    generation: int
    own: Optional[AdapterStatus] = None
    traceparent: Optional[str] = None
    goes: bool = False

    def holds(self, order: Optional[Order] = None, content: Optional[str] = None) -> bool:
        """Whether its pull secret is known to be in its places, whatever a look of now shows."""
        return not self.goes and holds(self.own, self.generation, order, content)


@dataclass(frozen=True)
class Told:
    """A report, and what the run itself says of it.

    :param state: a word of the model or of this module.
    :param reason: why it is, or is not, available.
    :param again: seconds until a look is worth it, or None where only an event is.
    """

    report: Report
    state: str
    reason: str
    message: str
    again: Optional[float] = None


def make_told(
    subject: Subject,
    state: str,
    *,
    applied: Said,
    available: Said,
    health: Optional[Said] = None,
    finalized: Optional[Said] = None,
    data: Optional[Mapping[str, Any]] = None,
    metadata: Optional[Mapping[str, Any]] = None,
    again: Optional[float] = None,
    why: Optional[Said] = None,
) -> Told:
    """:param why: what the run itself says; None is what is said of Available."""
    traced = {"traceparent": subject.traceparent} if subject.traceparent else {}
    if finalized is None:
        finalized = ("False", *available[1:]) if subject.goes else _STAYS
    report = Report(
        adapter=subject.adapter,
        generation=subject.generation,
        conditions=(
            Condition("Applied", *applied),
            Condition("Available", *available),
            Condition("Health", *(health or _ADAPTER_WELL)),
            Condition("Finalized", *finalized),
        ),
        data=carried(subject.own, data or {}),
        metadata={**(metadata or {}), **traced},
    )
    _status, reason, message = why or available
    return Told(report, state, reason, message, again)


def before(message: str) -> str:
    """What was found now, of what was stored before."""
    return short(f"It was stored before, and is looked at again: {message}")


def short(text: str) -> str:
    """As long as a condition's message may be."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
