# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which Job is the current one, and what happens to the others."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter import model
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.jobs.job_state import (
    COMPLETE,
    FAILED,
    JobState,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.jobs.planning import (
    ENDING,
    HOLD,
    HOLD_SECONDS,
    KEEP,
    MAKE,
    Plan,
    make_plan,
    retry_pause,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.model import Observed

NOW = 1_000_000.0


def job(generation: int, content: str | None = "A", end: str | None = None, **more: Any) -> JobState:
    return JobState(
        f"j-{generation}",
        f"u-{generation}",
        "1",
        generation,
        content=content,
        template=more.pop("template", "T"),
        ended=end,
        ended_at=more.pop("ended_at", NOW),
        created=more.pop("created", NOW - 100 + generation),
        **more,
    )


def plan(jobs: Sequence[JobState], state: str = model.RUNNING, *, generation: int = 3, **more: Any) -> Plan:
    def observe(found: JobState) -> Observed:
        seen_as = {COMPLETE: model.SUCCEEDED, FAILED: model.FAILED}.get(found.ended or "", state)
        result = {"kind": more["kind"]} if "kind" in more else None
        return Observed(seen_as, "Reason", "", retry=more.get("retry", True), result=result)

    return make_plan(
        jobs,
        generation=generation,
        name=f"j-{generation}",
        content=more.get("content", "A"),
        template=lambda: more.get("template", "T"),
        observe=observe,
        keep=more.get("keep", 1),
        now=more.get("now", NOW),
    )


def short(made: Plan) -> tuple[str, list[str], list[str]]:
    return made.step, [job.name for job in made.delete], [job.name for job in made.clean]


@pytest.mark.parametrize(
    ("jobs", "step", "delete", "clean"),
    [
        ([], MAKE, [], []),
        # The same content, of this or an earlier generation, active or complete.
        ([job(3)], KEEP, [], []),
        ([job(3, end=COMPLETE)], KEEP, [], []),
        ([job(1)], KEEP, [], []),
        ([job(1, end=COMPLETE)], KEEP, [], []),
        # Other content: an active Job has to end first.
        ([job(2, "B")], ENDING, ["j-2"], []),
        ([job(2, "B", COMPLETE)], MAKE, [], []),
        ([job(2, "B", FAILED)], MAKE, [], []),
        ([job(2, "B", deleting=True)], ENDING, [], []),
        ([job(2, "B", COMPLETE, deleting=True)], MAKE, [], []),
        # The name is taken by a Job for other work: placement moved the cluster.
        ([job(3, "B", COMPLETE)], MAKE, ["j-3"], []),
        ([job(3, "B", COMPLETE, deleting=True)], ENDING, [], []),
        ([job(3, None)], ENDING, ["j-3"], []),
        # A later Job has overwritten the result of the first one.
        ([job(1, end=COMPLETE), job(2, "B", COMPLETE)], MAKE, [], ["j-1"]),
        ([job(1, end=COMPLETE), job(2, "B", FAILED)], MAKE, [], ["j-1"]),
        ([job(1, end=COMPLETE), job(2, "B", COMPLETE, deleting=True)], MAKE, [], []),
        # No other Job may be active beside the current one.
        ([job(1, "B"), job(3)], KEEP, ["j-1"], []),
        # Deleted by a user while active: its pod may still exist.
        ([job(3, deleting=True)], ENDING, [], []),
        # The generation is older than a Job's.
        ([job(4)], HOLD, [], []),
        ([job(3), job(4, "B", COMPLETE)], HOLD, [], []),
        ([job(4, deleting=True)], HOLD, [], []),
    ],
)
def test_what_is_there_decides(jobs: list[JobState], step: str, delete: list[str], clean: list[str]) -> None:
    for order in itertools.permutations(jobs):
        assert short(plan(order)) == (step, delete, clean)


@pytest.mark.parametrize(
    ("keep", "cleaned"), [(0, ["j-2", "j-1"]), (1, ["j-1"]), (2, []), (-1, ["j-2", "j-1"])]
)
def test_ended_jobs_of_older_generations_are_cleaned_but_the_newest(keep: int, cleaned: list[str]) -> None:
    old = [job(1, "C", COMPLETE), job(2, "B", FAILED)]
    assert plan([*old, job(3, end=COMPLETE)], keep=keep).clean == tuple(
        found for name in cleaned for found in old if found.name == name
    )
    assert [found.name for found in plan(old, keep=keep).clean] == cleaned


@pytest.mark.parametrize(
    ("planted", "beside", "step", "delete"),
    [
        # The Job is active with other content, so it has to end first.
        (job(10**17, "B", created=NOW - HOLD_SECONDS - 1), [], ENDING, ["j-100000000000000000"]),
        (job(10**17, "B", COMPLETE, created=NOW - HOLD_SECONDS - 1), [], MAKE, []),
        # The Job of the current generation takes precedence.
        (job(10**17, "B", created=NOW - HOLD_SECONDS - 1), [job(3)], KEEP, ["j-100000000000000000"]),
        (job(10**17, "B", COMPLETE, created=NOW - HOLD_SECONDS - 1), [job(3)], KEEP, []),
        (job(10**17, "B", COMPLETE, created=0.0), [job(2, end=COMPLETE)], KEEP, []),
        # The API was restored from a backup: the complete Job is kept.
        (job(5, end=COMPLETE, created=NOW - HOLD_SECONDS - 1), [], KEEP, []),
        # A run that read the cluster later created this Job.
        (job(4, "B", created=NOW - HOLD_SECONDS), [], HOLD, []),
        (job(4, "B", created=NOW + 60), [job(3)], HOLD, []),
    ],
)
def test_a_generation_that_the_api_does_not_know_is_waited_for_no_longer_than_a_run_lasts(
    planted: JobState, beside: list[JobState], step: str, delete: list[str]
) -> None:
    for order in itertools.permutations([planted, *beside]):
        made = plan(order)
        assert (made.step, [job.name for job in made.delete]) == (step, delete)


def test_a_failure_is_tried_again_after_its_pause() -> None:
    found = job(3, end=FAILED, failed=2, attempt=3)
    assert plan([found], now=NOW + retry_pause(4) - 1).step == KEEP
    again = plan([found], now=NOW + retry_pause(4))
    assert (again.step, again.delete, again.attempt) == (MAKE, (found,), 5)


def test_a_failure_of_an_earlier_generation_is_tried_again_under_the_present_name() -> None:
    again = plan([job(2, end=FAILED)], now=NOW + 1e6)
    assert (again.step, again.delete, again.attempt) == (MAKE, (), 2)


def test_an_invalid_pull_secret_is_tried_again_only_with_another_template() -> None:
    found = job(3, end=FAILED)
    assert plan([found], now=NOW + 1e9, retry=False, kind="invalid_document").step == KEEP
    assert plan([found], retry=False, kind="invalid_document", template="T2").step == MAKE


def test_what_a_person_must_mend_is_tried_again_slowly() -> None:
    found = job(3, end=FAILED)
    assert plan([found], now=NOW + 299, retry=False, kind="ownership").step == KEEP
    assert plan([found], now=NOW + 300, retry=False, kind="ownership").step == MAKE
    assert [retry_pause(tries, permanent=True) for tries in (1, 2, 3, 4)] == [300, 600, 1200, 1800]


def test_a_stuck_job_is_created_again_only_with_another_template() -> None:
    assert plan([job(3)], model.STUCK).step == KEEP
    first = plan([job(3)], model.STUCK, template="T2")
    assert short(first) == (ENDING, ["j-3"], [])
    # Another image changes neither an active nor a complete Job.
    assert plan([job(3)], template="T2").step == KEEP
    assert plan([job(3, end=COMPLETE)], template="T2").step == KEEP


def test_the_pause_grows_to_half_an_hour() -> None:
    assert [retry_pause(tries) for tries in (1, 2, 3, 4)] == [30, 60, 120, 240]
    assert retry_pause(10**9) == 1800
