# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Job as the API server returns it, reduced to the fields that the adapter uses. Pure."""

from __future__ import annotations

import calendar
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .. import names

__all__ = ["COMPLETE", "FAILED", "JobState", "newest_first", "read_job", "seconds_of"]

COMPLETE = "Complete"
FAILED = "Failed"

_Object = Mapping[str, Any]


@dataclass(frozen=True)
class JobState:
    """One Job.

    :param version: its ``resourceVersion``.
    :param attempt: the number of its first pod.
    :param failed: how many of its pods have failed.
    :param content: digest of the content it was created for.
    :param template: hash of how it is run; both are None if it is not ours.
    :param data_uid: of the Secret with its data.
    :param ended: ``Complete``, ``Failed``, or None while it runs.
    :param reason: of its end, as Kubernetes has it.
    :param ended_at: seconds since 1970.
    :param created: seconds since 1970.
    :param started: RFC 3339.
    :param deleting: it exists only until its pods are gone.
    :param recorded: the recorded outcome, not checked.
    """

    name: str
    uid: str
    version: str
    generation: int
    attempt: int = 1
    failed: int = 0
    content: str | None = None
    template: str | None = None
    data_uid: str | None = None
    ended: str | None = None
    reason: str = ""
    ended_at: float = 0.0
    created: float = 0.0
    started: str | None = None
    deleting: bool = False
    suspended: bool = False
    recorded: Any = None

    @property
    def seconds(self) -> float | None:
        """Return the seconds from its start to its end, or None if it has not ended or never started."""
        began = seconds_of(self.started)
        return max(0.0, self.ended_at - began) if began and self.ended_at else None

    @property
    def tries(self) -> int:
        """Return the number of its newest pod."""
        done = self.failed - 1 if self.ended == FAILED else self.failed
        return self.attempt + max(0, done)


def read_job(found: _Object) -> JobState:
    """Read the Job from the response of a GET, a LIST or a write."""
    metadata = found["metadata"]
    annotations: Mapping[str, str] = metadata.get("annotations") or {}
    status = found.get("status") or {}
    end = _end(status)
    return JobState(
        name=str(metadata["name"]),
        uid=str(metadata.get("uid") or ""),
        version=str(metadata.get("resourceVersion") or ""),
        generation=names.generation_from_annotations(annotations, str(metadata["name"])),
        attempt=_attempt(annotations.get(names.ATTEMPT)),
        failed=_whole(status.get("failed")),
        content=annotations.get(names.CONTENT),
        template=annotations.get(names.TEMPLATE),
        data_uid=annotations.get(names.DATA_UID),
        ended=end.get("type"),
        reason=str(end.get("reason") or ""),
        ended_at=seconds_of(end.get("lastTransitionTime")),
        created=seconds_of(metadata.get("creationTimestamp")),
        started=status.get("startTime") or None,
        deleting=bool(metadata.get("deletionTimestamp")),
        suspended=bool((found.get("spec") or {}).get("suspend")),
        recorded=_json(annotations.get(names.RESULT)),
    )


def newest_first(jobs: Iterable[JobState], generation: int) -> list[JobState]:
    """Sort by generation, then by age.

    :param generation: the current one; Jobs that claim a later one sort last.
    """

    def rank(job: JobState) -> tuple[int, float, str]:
        return (job.generation if job.generation <= generation else -1, job.created, job.name)

    return sorted(jobs, key=rank, reverse=True)


def seconds_of(moment: Any) -> float:
    """Return seconds since 1970 for ``2026-01-02T03:04:05Z``, or 0 for anything else."""
    try:
        return float(calendar.timegm(time.strptime(str(moment)[:19], "%Y-%m-%dT%H:%M:%S")))
    except ValueError:
        return 0.0


def _end(status: _Object) -> Mapping[str, Any]:
    for condition in status.get("conditions") or ():
        if condition.get("type") in (COMPLETE, FAILED) and condition.get("status") == "True":
            return dict(condition)
    return {}


def _attempt(text: Any) -> int:
    number = str(text or "")
    return max(1, int(number)) if number.isascii() and number.isdigit() and len(number) <= 9 else 1


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _json(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
