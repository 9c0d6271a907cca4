# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is counted of a Job's end: each end once, by the Job's own status, with the work of all its pods."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.jobs.jobs import Jobs
from tests.support.adapter_jobs.world import DOCUMENT, FAILURE, SUCCESS, World, said

NAME = "pullsecret-c-1-gen1"


def calls(*counts: tuple[str, str, int]) -> list[dict[str, Any]]:
    return [
        {"operation": operation, "status_code": status, "count": count, "seconds": 0.25 * count}
        for operation, status, count in counts
    ]


def done(world: World) -> None:
    world.playing.finish(NAME, said(SUCCESS))


def exited(world: World) -> None:
    world.playing.finish(NAME, exit_code=1)


def out_of_memory(world: World) -> None:
    world.playing.finish(NAME, exit_code=137, reason="OOMKilled")


def too_late(world: World) -> None:
    if not world.api.real:
        return world.playing.fail(NAME, "DeadlineExceeded")
    # The real controller deletes the pod, and then ends the Job.
    world.playing.run(NAME)
    while not ((world.playing.job(NAME) or {}).get("status") or {}).get("conditions"):
        time.sleep(0.1)
    return None


def evicted(world: World) -> None:
    world.playing.evict(NAME)
    assert world.apply().ends == (), "the Job has not ended"
    world.playing.finish(NAME, said(SUCCESS))


@pytest.mark.parametrize(
    ("end", "result", "kind"),
    [
        (done, "success", None),
        (exited, "failure", "backoff_limit_exceeded"),
        (too_late, "failure", "deadline_exceeded"),
        (out_of_memory, "failure", "out_of_memory"),
        (evicted, "success", None),
    ],
)
@pytest.mark.both
def test_each_end_is_counted_once_by_the_jobs_own_status(
    world: World, end: Callable[[World], None], result: str, kind: str | None
) -> None:
    jobs = world.adapter(backoff_limit=0, deadline=2 if end is too_late else 600)
    assert world.apply(by=jobs).ends == ()
    end(world)
    (counted,) = looked(world, jobs)
    assert (counted["result"], counted.get("kind")) == (result, kind)
    again = world.apply(by=jobs)
    assert (again.ends, again.kind) == ((), kind)


def looked(world: World, jobs: Jobs) -> tuple[Any, ...]:
    """Look until an end is counted: the real controller takes a moment."""
    deadline = time.monotonic() + 180
    while not (ends := world.apply(by=jobs).ends):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return ends


def test_the_work_of_all_pods_counts(world: World) -> None:
    jobs = world.adapter(backoff_limit=1)
    world.apply(by=jobs)
    first = {
        **FAILURE,
        "versions_created": 1,
        "duration_seconds": 2.0,
        "gcp_api_calls": calls(("get_secret", "200", 1), ("access_secret_version", "503", 5)),
    }
    second = {**SUCCESS, "versions_created": 0, "gcp_api_calls": calls(("get_secret", "200", 2))}
    world.playing.finish(NAME, said(first), exit_code=1)
    assert world.apply(by=jobs).ends == ()
    world.playing.finish(NAME, said(second))
    (counted,) = looked(world, jobs)
    assert counted["versions_created"] == 1
    assert sorted(counted["program_seconds"]) == [1.5, 2.0]
    assert counted["gcp_api_calls"] == calls(("access_secret_version", "503", 5), ("get_secret", "200", 3))


def test_the_duration_is_from_the_jobs_start_to_its_end(world: World) -> None:
    world.apply()
    world.playing.run(NAME)
    time.sleep(1.1)  # the API's times are whole seconds
    world.playing.finish(NAME, said({**SUCCESS, "duration_seconds": 0.3}))
    (counted,) = looked(world, world.jobs)
    job = world.playing.job(NAME)
    assert job is not None
    began, ended = (datetime.fromisoformat(job["status"][name]) for name in ("startTime", "completionTime"))
    assert counted["duration_seconds"] == (ended - began).total_seconds() >= 1
    assert counted["program_seconds"] == [0.3]


def test_a_job_that_is_replaced_at_once_counts(world: World) -> None:
    """Its template was changed, so that the first look after its end creates another."""
    world.apply(by=world.adapter(backoff_limit=0))
    world.playing.finish(NAME, exit_code=1)
    replaced = world.apply(by=world.adapter(backoff_limit=0, deadline=500))
    assert replaced.state == "created"
    assert [counted["kind"] for counted in replaced.ends] == ["backoff_limit_exceeded"]


def test_an_earlier_job_that_ended_unseen_counts_and_shows_no_earlier_pull_secret(world: World) -> None:
    jobs = world.adapter(backoff_limit=0)
    world.apply(by=jobs)
    world.playing.finish(NAME, said({**FAILURE, "message": DOCUMENT}), exit_code=1)
    later = world.apply(2, DOCUMENT.replace("quay", "b"), by=jobs)
    assert later.made
    assert [counted["kind"] for counted in later.ends] == ["permission_denied"]
    found = world.playing.job(NAME)
    assert found is not None
    assert "auths" not in found["metadata"]["annotations"]["hyperfleet.io/result"]


def test_an_end_that_only_the_removal_sees_counts(world: World) -> None:
    world.apply(by=world.adapter(backoff_limit=0))
    world.playing.finish(NAME, exit_code=1)
    world.apply(cluster_id="c-2")
    removal = world.remove()
    assert [counted["kind"] for counted in removal.ends] == ["backoff_limit_exceeded"]
    # It had not ended.
    assert world.remove("c-2").ends == ()
