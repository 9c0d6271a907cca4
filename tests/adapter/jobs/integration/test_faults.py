# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An API server that refuses, does not answer or loses answers, and runs at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    DependencyMissing,
    PermissionDenied,
    PullSecretError,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Deadline
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.jobs.jobs import Jobs
from tests.support.adapter_jobs.world import (
    CANARY,
    DOCUMENT,
    SUCCESS,
    World,
    config,
    said,
)

NAME, DATA = "pullsecret-c-1-gen1", "cluster-c-1-pullsecret-data"


def test_a_namespace_that_is_not_there(world: World) -> None:
    jobs = Jobs(world.client, config("no-such-namespace"))
    jobs.prepare(["c-1", "c-2", "c-3"], Deadline(20))
    with pytest.raises(DependencyMissing, match="namespace no-such-namespace does not exist"):
        jobs.apply(world.order(), DOCUMENT.encode(), Deadline(20))
    # The other clusters of the batch do not repeat the request.
    world.api.calls.clear()
    with pytest.raises(DependencyMissing):
        jobs.apply(world.order(cluster_id="c-2"), DOCUMENT.encode(), Deadline(20))
    assert world.api.calls.count() == 0
    removal = jobs.remove("c-1", Deadline(20))
    assert removal.gone
    assert jobs.cluster_ids(Deadline(20)) == set()


def test_a_quota_leaves_no_secret_behind(world: World) -> None:
    world.api.faults.add(
        verb="create",
        path="*/jobs",
        status=403,
        reason="Forbidden",
        message='jobs.batch "j" is forbidden: exceeded quota: jobs, requested: count/jobs.batch=1',
        times=None,
    )
    with pytest.raises(PermissionDenied, match="exceeded quota: jobs"):
        world.apply()
    assert world.secrets() == {}
    world.api.faults.clear()
    assert world.apply().state == "created"


@pytest.mark.parametrize("path", ["*/jobs", "*/secrets"])
def test_a_create_whose_answer_is_lost_is_one_create(world: World, path: str) -> None:
    world.apply(cluster_id="c-0")  # creates the Secret with the key of the digests
    world.api.faults.add(verb="create", path=path, drop=True, phase="after")
    made = world.apply()
    assert (made.made, made.job) == (True, NAME)
    assert f"created job {NAME}" in made.actions
    assert world.job_names() == ["pullsecret-c-0-gen1", NAME]


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("list", "*/jobs"),
        ("get", "*/secrets/*"),
        ("create", "*/secrets"),
        ("create", "*/jobs"),
    ],
)
@pytest.mark.parametrize("phase", ["before", "after"])
def test_wherever_a_run_ends_the_next_one_continues(world: World, verb: str, path: str, phase: str) -> None:
    world.api.faults.add(verb=verb, path=path, status=500, phase=phase, times=None)
    with pytest.raises(PullSecretError) as caught:
        world.apply()
    assert CANARY not in str(caught.value)
    world.api.faults.clear()
    after = world.adapter()
    world.apply(by=after)
    assert world.job_names() == [NAME]
    world.playing.finish(NAME, said(SUCCESS))
    assert world.apply(by=after).state == "succeeded"
    assert world.secrets() == {}


@pytest.mark.parametrize(("verb", "path"), [("delete", "*/secrets/*"), ("patch", "*/jobs/*")])
def test_a_result_that_could_not_be_annotated_is_reported(world: World, verb: str, path: str) -> None:
    world.apply()
    world.playing.finish(NAME, said(SUCCESS))
    world.api.faults.add(verb=verb, path=path, status=403, times=None)
    seen = world.apply()
    assert (seen.state, seen.result) == ("succeeded", SUCCESS)
    assert not any(action.startswith("noted") for action in seen.actions)
    world.api.faults.clear()
    assert f"noted the end of job {NAME}" in world.apply().actions
    assert world.secrets() == {}


def test_without_the_right_to_list_all_each_job_is_read(world: World) -> None:
    world.api.faults.add(verb="list", path="*/jobs", status=403, times=1)
    world.jobs.prepare(["c-1", "c-2", "c-3"], Deadline(20))
    assert world.apply().state == "created"


def test_many_runs_at_once_make_one_job(world: World) -> None:
    adapters = [world.adapter() for dummy in range(8)]
    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(lambda by: world.apply(by=by), adapters))
    assert sum(observed.made for observed in seen) == 1
    assert {observed.state for observed in seen} <= {"created", "pending"}
    assert world.job_names() == [NAME]
    assert list(world.secrets()) == [DATA]


def test_jobs_read_for_a_batch_are_used_for_one_apply(world: World) -> None:
    world.apply()
    world.jobs.prepare(["c-1", "c-2", "c-3"], Deadline(20))
    world.playing.finish(NAME, said(SUCCESS))
    # The Job was read before it finished and its pods after that: both states are correct.
    assert world.apply().state in ("running", "succeeded")
    assert world.apply().state == "succeeded"
