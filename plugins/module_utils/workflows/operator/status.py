# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The status of a custom resource after a run. Pure.

A target that failed is tried again later, and the run ends successfully: the operator would repeat a failed run at
once, for all targets of the object.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...model.kubernetes_time import kubernetes_time
from ...model.managed_object import ManagedObject
from ...model.summary import failure_text

__all__ = ["WAITING", "TargetRow", "next_status"]

WAITING = "waiting"

# The API server allows 32,768 characters of a condition's message; people read less.
_LONGEST_MESSAGE = 1024
_MOST_TARGETS = 100
_FIRST_ATTEMPT_SECONDS, _LAST_ATTEMPT_SECONDS = 30, 1800


@dataclass(frozen=True)
class TargetRow:
    """What a run did for one target.

    :param reason: why it failed; empty if it did not.
    :param detail: what else is to be said of it.
    """

    id: str
    version: str = ""
    digest: str = ""
    state: str = ""
    reason: str = ""
    kind: str = ""
    detail: str = ""
    is_changed: bool = False

    @property
    def has_failed(self) -> bool:
        """Whether it failed."""
        return bool(self.reason)

    def shown(self) -> dict[str, str]:
        """Return its entry in the status."""
        texts = {
            "id": self.id,
            "state": "failed" if self.has_failed else self.state or "current",
            "version": self.version,
            "digest": self.digest,
            "reason": (self.reason or self.detail)[:_LONGEST_MESSAGE],
        }
        return {name: text for name, text in texts.items() if text}


def next_status(item: ManagedObject, rows: Sequence[TargetRow], noun: str, now: float) -> dict[str, Any]:
    """Return the status of a custom resource.

    :param noun: what the targets are, in the plural.
    :param now: seconds since the epoch.
    """
    failed = [row for row in rows if row.has_failed]
    waiting = [row for row in rows if row.state == WAITING and not row.has_failed]
    reason, message = _reason(rows, failed, waiting, noun)
    ready = "False" if failed or waiting else "True"
    status: dict[str, Any] = {
        "observedGeneration": item.generation,
        "conditions": [
            _condition(item, "Ready", ready, reason, message, now),
            _condition(item, "Degraded", "True" if failed else "False", reason, message, now),
        ],
        "summary": {
            "total": len(rows),
            "changed": sum(row.is_changed and not row.has_failed for row in rows),
            "failed": len(failed),
        },
        # Those that need somebody first, for those that are left out.
        "targets": [row.shown() for row in sorted(rows, key=_is_right)[:_MOST_TARGETS]],
    }
    if failed or waiting:
        attempts = int(item.status.get("attempts") or 0) + 1
        pause = min(_FIRST_ATTEMPT_SECONDS * 2 ** min(attempts - 1, 10), _LAST_ATTEMPT_SECONDS)
        status.update(attempts=attempts, nextAttempt=kubernetes_time(now + pause))
    return status


def _reason(
    rows: Sequence[TargetRow], failed: Sequence[TargetRow], waiting: Sequence[TargetRow], noun: str
) -> tuple[str, str]:
    if failed:
        kinds = {row.kind for row in failed}
        word = next(iter(kinds)) if len(kinds) == 1 else ""
        text = (
            failed[0].reason
            if len(rows) == 1
            else failure_text([(row.id, row.reason) for row in failed], len(rows), noun)
        )
        return _camel(word) or "Failed", text
    if waiting:
        first = waiting[0].detail or "see its row in targets"
        text = (
            first
            if len(rows) == 1
            else f"{len(waiting)} of {len(rows)} {noun} wait; {waiting[0].id}: {first}"
        )
        return "Waiting", text
    return "UpToDate", f"{len(rows)} {noun} up to date" if len(rows) != 1 else "up to date"


def _is_right(row: TargetRow) -> bool:
    return not row.has_failed and row.state != WAITING


def _camel(word: str) -> str:
    return "".join(part.capitalize() for part in word.split("_"))


def _condition(
    item: ManagedObject, name: str, status: str, reason: str, message: str, now: float
) -> dict[str, Any]:
    conditions: Iterable[Mapping[str, Any]] = item.status.get("conditions") or ()
    before: Mapping[str, Any] = next((each for each in conditions if each.get("type") == name), {})
    since = before.get("lastTransitionTime") if before.get("status") == status else None
    return {
        "type": name,
        "status": status,
        "reason": reason,
        "message": message[:_LONGEST_MESSAGE],
        "lastTransitionTime": since or kubernetes_time(now),
    }
