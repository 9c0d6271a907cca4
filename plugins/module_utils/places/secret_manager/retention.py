# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which old versions of a secret go: a decision, without I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Retention", "Version", "plan_retention"]


@dataclass(frozen=True)
class Version:
    """What the decision needs of a version.

    :param created: seconds since the epoch.
    :param state: ``ENABLED``, ``DISABLED`` or ``DESTROYED``.
    """

    number: int
    state: str
    created: float


@dataclass(frozen=True)
class Retention:
    """How many versions stay and what becomes of the others.

    :param keep: how many of the newest enabled versions stay as they are, 1 at least.
    :param disable: whether older enabled ones are disabled.
    :param destroy_after: seconds after which a disabled, superseded version is destroyed; None for never.
    """

    keep: int
    disable: bool = True
    destroy_after: float | None = None


def plan_retention(versions: Sequence[Version], rule: Retention, now: float) -> list[tuple[int, str]]:
    """``(number, "disable" | "destroy")`` for each version that has to change.

    Only versions older than the kept ones are touched.  An enabled version is never destroyed:
    it is disabled first, and destroyed by a later run once ``destroy_after`` has passed since its
    successor was created, which is the moment that it stopped being in use.
    """
    ordered = sorted(versions, key=lambda version: version.number, reverse=True)
    enabled = [version.number for version in ordered if version.state == "ENABLED"]
    if not enabled:
        return []
    oldest_kept = enabled[: rule.keep][-1]
    plan: list[tuple[int, str]] = []
    for successor, version in zip(ordered, ordered[1:]):
        if version.number >= oldest_kept:
            continue
        if version.state == "ENABLED" and rule.disable:
            plan.append((version.number, "disable"))
        elif (
            version.state == "DISABLED"
            and rule.destroy_after is not None
            and now - successor.created >= rule.destroy_after
        ):
            plan.append((version.number, "destroy"))
    return plan
