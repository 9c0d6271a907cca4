# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decides which Job of a cluster is current, and what to do with all of them. Pure.

The rules, in order:

1. If a Job has a later generation than the order, the order is old and nothing is written. But a Job that is
   older than a run can last was not created by a run that read the cluster later. Such a Job counts as the
   oldest of all.
2. A Job that is being deleted and has not ended still has a pod. Wait for it.
3. The newest Job is current if it was created for the same content, whatever its generation. The edit of a
   label creates no new Job. Going back to an earlier pull secret does.
4. A running current Job is left unchanged, unless it is stuck and its template has changed. A failed Job is
   replaced: at once if its template has changed, otherwise after a growing pause. The pause is longer for a
   failure that a person must mend elsewhere, such as a secret of another owner. A Job whose pull secret is
   invalid is never replaced: another pull secret makes another Job.
5. No new Job is created while another Job of the cluster runs. That Job is deleted first, and its pods must
   be gone before the next is created.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Callable

from ....model.errors import InvalidDocument
from .. import model
from ..model import Observed
from . import job_state
from .job_state import JobState

__all__ = ["ENDING", "HOLD", "HOLD_SECONDS", "KEEP", "MAKE", "Plan", "make_plan", "retry_pause"]

HOLD = "hold"  # the order is old
ENDING = "ending"  # an earlier Job must end first
KEEP = "keep"  # the current Job stays
MAKE = "make"  # create a Job

# Seconds for which a Job may be of a run that read the cluster after this one. A longer run counts as hanging
# (/readyz). Includes the difference of both clocks.
HOLD_SECONDS = 900.0
_FIRST_PAUSE, _LONGEST_PAUSE = 30.0, 1800.0
_FIRST_SLOW_PAUSE = 300.0


@dataclass(frozen=True)
class Plan:
    """What to do.

    :param current: the current Job, or the one that must end first.
    :param observed: the observation of it, or of the Job that it replaces.
    :param delete: Jobs to delete first; for running ones, wait until their pods are gone.
    :param clean: ended Jobs that are no longer needed; a failure to delete them is ignored.
    :param attempt: the number of a new Job's first pod.
    """

    step: str
    current: JobState | None = None
    observed: Observed | None = None
    delete: tuple[JobState, ...] = ()
    clean: tuple[JobState, ...] = ()
    attempt: int = 1


def retry_pause(tries: int, *, permanent: bool = False) -> float:
    """Return the seconds after a Job's failure until it is replaced, by the number of its last pod.

    :param permanent: whether a person must mend something first.
    """
    first = _FIRST_SLOW_PAUSE if permanent else _FIRST_PAUSE
    return min(_LONGEST_PAUSE, first * 2.0 ** min(tries - 1, 10))


def make_plan(
    jobs: Iterable[JobState],
    *,
    generation: int,
    name: str,
    content: str,
    template: Callable[[], str],
    observe: Callable[[JobState], Observed],
    keep: int,
    now: float,
) -> Plan:
    """Return the plan for one cluster.

    :param jobs: all of the cluster's Jobs that are ours.
    :param name: the name of a new Job.
    :param content: a new Job's mark.
    :param template: its other mark.
    :param observe: returns the observation of a Job.
    :param keep: how many ended Jobs stay beside the current one.
    :param now: seconds since 1970.
    """
    found = list(jobs)
    later = next(
        (job for job in found if job.generation > generation and now - job.created <= HOLD_SECONDS), None
    )
    if later is not None:
        return Plan(HOLD, later)
    ordered = job_state.newest_first(found, generation)
    ending = next((job for job in ordered if job.deleting and (job.ended is None or job.name == name)), None)
    alive = [job for job in ordered if not job.deleting]
    newest = alive[0] if alive else None
    # A Job that is being deleted may be newer than the others.
    counts = newest is not None and newest.content == content and ordered[0] is newest
    if newest is None or not counts:
        if ending is not None:
            return Plan(ENDING, ending)
        return _make(alive, name, keep, attempt=1)
    observed = observe(newest)
    if _remake(newest, observed, template, now):
        if ending is not None:
            return Plan(ENDING, ending)
        attempt = newest.tries + 1 if newest.ended else newest.tries
        return _make(alive, name, keep, attempt=attempt, observed=observed)
    others = [job for job in alive if job is not newest]
    going_on = tuple(job for job in others if job.ended is None)
    ended = [job for job in others if job.ended is not None]
    return Plan(KEEP, newest, observed, delete=going_on, clean=tuple(ended[max(0, keep) :]))


def _remake(job: JobState, observed: Observed, template: Callable[[], str], now: float) -> bool:
    if observed.state == model.STUCK:
        return job.template != template()
    if observed.state != model.FAILED:
        return False
    if job.template != template():
        return True
    if (observed.result or {}).get("kind") == InvalidDocument.kind:
        return False
    return now >= job.ended_at + retry_pause(job.tries, permanent=not observed.retry)


def _make(
    alive: list[JobState], name: str, keep: int, *, attempt: int, observed: Observed | None = None
) -> Plan:
    going_on = tuple(job for job in alive if job.ended is None)
    if going_on:
        return Plan(ENDING, going_on[0], delete=going_on)
    same_name = tuple(job for job in alive if job.name == name)
    others = [job for job in alive if job.name != name]
    clean = tuple(others[max(0, keep) :])
    return Plan(MAKE, None, observed, delete=same_name, clean=clean, attempt=attempt)
