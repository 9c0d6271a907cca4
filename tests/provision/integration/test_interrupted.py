# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Killed runs and concurrent runs: nothing is lost and nothing is done twice."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.docker_configs import docker_config
from tests.support.processes import family
from tests.support.provision import World, recap, rows

ONE = docker_config(quay_io="one")
MANY = 60


def until(condition: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + 180
    while not condition():
        assert time.monotonic() < deadline, f"timed out waiting for {what}"
        time.sleep(0.01)


def kill_all(pid: int) -> list[int]:
    """Send SIGKILL to a process and its descendants, the parent first."""
    members = family(pid)
    for member in members:
        try:
            os.kill(member, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return members


def check_each_once(world: World, clusters: list[dict[str, Any]]) -> None:
    assert [world.versions(cluster) for cluster in clusters] == [1] * len(clusters)
    assert all(world.placed_config(cluster) == ONE for cluster in clusters)


@pytest.mark.cores
def test_killed_in_the_middle_and_run_again(world: World) -> None:
    clusters = [world.cluster() for _number in range(MANY)]
    variables = {"clusters": clusters, "provision_concurrency": 4, "provision_api_timeout": 5}
    # After a third no call is answered before the run is killed.
    world.manager.faults.add("AddSecretVersion", skip=MANY // 3, delay=600, phase="after")
    running = world.start(variables)
    until(lambda: sum(map(world.versions, clusters)) >= MANY // 3, "a third of the versions")
    members = kill_all(running.process.pid)
    assert len(members) > 1, "the module's process must have been killed too"
    killed = running.wait()
    assert killed.code == -signal.SIGKILL
    before = sum(map(world.versions, clusters))
    assert 0 < before < MANY, "the run must have been killed in the middle"

    # The second run is killed in its second half.
    world.manager.faults.clear()
    world.api.faults.add(verb="create", skip=MANY // 3, delay=600, times=None)
    running = world.start(variables)
    until(lambda: world.api.calls.count("create") >= MANY // 3, "a third of the Secrets")
    kill_all(running.process.pid)
    running.wait()
    assert any(world.placed(cluster) is None for cluster in clusters), (
        "the run must have been killed in the middle"
    )

    world.api.faults.clear()
    finished = world.provision(variables)
    assert finished.code == 0, finished.output
    check_each_once(world, clusters)
    assert recap(world.provision(variables))["changed"] == 0
    assert not list(world.ansible.directory.rglob("pull-secret-*")), "killed runs left files behind"


@pytest.mark.nightly
def test_two_runs_at_once(world: World) -> None:
    clusters = [world.cluster() for _number in range(20)]
    world.manager.faults.add("AddSecretVersion", delay=0.02)
    runs = [world.start({"clusters": clusters}) for _number in range(2)]
    finished = [running.wait() for running in runs]
    assert [run.code for run in finished] == [0, 0], "".join(run.output for run in finished)
    check_each_once(world, clusters)
    created = [call for call in world.api.calls.matching("create") if call.status == 201]
    assert len(created) == len(clusters)


@pytest.mark.nightly
def test_a_slow_batch_shows_how_far_it_is(world: World) -> None:
    clusters = [world.cluster() for _number in range(12)]
    world.manager.faults.add("AddSecretVersion", delay=1.2)
    finished = world.provision({"clusters": clusters, "provision_concurrency": 4, "provision_api_timeout": 5})
    assert finished.code == 0, finished.output
    shown = re.findall(r"^gcp_pull_secret: (\d+)/12\b", finished.stdout, re.MULTILINE)
    assert shown, finished.stdout
    assert all(0 < int(number) <= 12 for number in shown)


# Another path to the same Python: the collection cannot know that, and starts a module process.
ANOTHER_PYTHON = {"ansible_python_interpreter": str(Path(sys.executable).with_name("python3"))}


@pytest.mark.nightly
def test_a_terminated_module_finishes_what_is_begun_and_tells_the_rest(world: World) -> None:
    clusters = [world.cluster() for _number in range(30)]
    variables = {"clusters": clusters, "provision_concurrency": 2}
    world.manager.faults.add("AddSecretVersion", skip=4, delay=1.0)
    running = world.start({**variables, **ANOTHER_PYTHON})
    until(lambda: sum(map(world.versions, clusters)) >= 4, "some versions")
    members = family(running.process.pid)
    assert len(members) > 2, "no module process was started"
    os.kill(members[-1], signal.SIGTERM)
    finished = running.wait()
    assert finished.code != 0
    table = rows(finished)
    kinds = {row["kind"] for row in table.values()}
    assert kinds == {None, "stopped"}, kinds
    done = [name for name, row in table.items() if row["kind"] is None]
    assert {name: world.versions(name) for name in done} == dict.fromkeys(done, 1)
    world.manager.faults.clear()
    assert world.provision(variables).code == 0
    check_each_once(world, clusters)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
@pytest.mark.nightly
def test_a_signalled_playbook_leaves_no_process_behind(world: World, number: signal.Signals) -> None:
    """By Ctrl-C, a supervisor or the kernel: the worker finishes what it has begun and ends too."""
    # So many clusters that the worker's result would fill a pipe that no process reads any more.
    clusters = [world.cluster() for _number in range(300)]
    variables = {"clusters": clusters, "provision_concurrency": 4}
    fault = world.manager.faults.add("AddSecretVersion", delay=0.2)
    running = world.start(variables)
    until(lambda: fault.hits >= 8, "some versions")
    members = family(running.process.pid)
    assert len(members) == 2, "expected one worker and no module process"
    running.process.send_signal(number)
    assert running.wait().code != 0
    until(lambda: not any(Path(f"/proc/{member}").exists() for member in members), "the worker's end")
    begun = fault.hits
    # Only what was begun was done, and it was done completely.
    assert begun < len(clusters)
    assert sum(map(world.versions, clusters)) == begun
    world.manager.faults.clear()
    # No cluster has to wait for a claim of the previous run.
    assert world.provision({**variables, "provision_concurrency": 16, "provision_timeout": 15}).code == 0
    check_each_once(world, clusters)
