# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which Job is a cluster's present one, and what is to be done about all of them.  Pure.

The rules, in their order:

1. A Job of a later generation than the order's: the order is old, and nothing is written for it.  But the
   API said the order's generation in this very run: a Job that is older than any run can be was not made by
   one that has read later, and counts as the oldest of all.
2. A Job that is being deleted and has not ended still has a pod: it is waited for.
3. The newest Job counts, and only it, when it was made for the same content, whatever its generation: an
   edit of a label makes no new Job, and going back to an earlier pull secret does.
4. A Job that counts is left alone while it goes on, unless it is stuck and would be made otherwise today.
   One that failed is replaced: at once if it would be made otherwise today, else after a pause that grows,
   and never where another try cannot help.
5. No new Job is made as long as another of the cluster's goes on: that one is deleted first, and gone with
   its pods before the next is made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Callable

from .. import model
from ..model import Observed
from . import job_state
from .job_state import JobState

__all__ = ["ENDING", "HOLD", "HOLD_SECONDS", "KEEP", "MAKE", "Plan", "make_plan", "retry_pause"]

HOLD = "hold"  # the order is old
ENDING = "ending"  # what is there has to go first
KEEP = "keep"  # the current Job counts
MAKE = "make"  # a Job is to be made

# Seconds from a Job's making on for which it may be of a run that has read the cluster after this one: what
# is taken for a run that hangs (/readyz).  Both clocks may differ by a part of it.
HOLD_SECONDS = 900.0
_FIRST_PAUSE, _LONGEST_PAUSE = 30.0, 1800.0


@dataclass(frozen=True)
class Plan:
    """What is to be done.

    :param current: the Job that counts, or that is in the way.
    :param observed: what is seen of it, or of the one that is replaced.
    :param delete: those to delete first, with the end of their pods waited for where they go on.
    :param clean: ended ones that nobody needs; not worth a failure.
    :param attempt: the number of a new Job's first pod.
    """

    step: str
    current: JobState | None = None
    observed: Observed | None = None
    delete: tuple[JobState, ...] = ()
    clean: tuple[JobState, ...] = ()
    attempt: int = 1


def retry_pause(tries: int) -> float:
    """Seconds after a Job's failure until it is replaced, by the number of its last pod."""
    return min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(tries - 1, 10))


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
    """The plan for one cluster.

    :param jobs: all of the cluster's that are ours.
    :param name: that a new Job would have; :param content: and :param template: its marks.
    :param observe: what is seen of a Job.
    :param keep: how many ended Jobs stay beside the one that counts.
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
    # What is being deleted may be newer than what is left.
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
    return observed.retry and now >= job.ended_at + retry_pause(job.tries)


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
