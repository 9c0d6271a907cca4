# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A killed run: started work is finished or repeated, nothing is done twice, and the event source notices."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.adapter.world import FAST, World
from tests.lab.supervisor import is_running
from tests.support.nightly import some
from tests.support.processes import Ansible, Running

_MANY = 60
# Like ansible-runner: the program has its own terminal and ignores SIGHUP when that closes.
_RUNNER = """#!{python}
import os, pty, signal, sys
pid, terminal = pty.fork()
if pid == 0:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
while os.read(terminal, 65536):
    pass
"""


def wait_for(met: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 180
    while not met():
        assert time.monotonic() < deadline, f"waited 60 s for {what}"
        time.sleep(0.02)


def is_free(lock: Path) -> bool:
    with open(lock, "a", encoding="ascii") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def started(world: World, ansible: Ansible, run: Path, clusters: list[str], at_work: int) -> Running:
    """Start a run and keep it active with a slow API."""
    (run / "lock").touch()
    world.kubernetes.faults.add(method="POST", path="*/jobs", delay=1.0, times=None)
    running = ansible.start_playbook(
        "hyperfleet.pull_secret.adapter",
        {
            "adapter_config": str(world.config()),
            "cluster_ids": clusters,
            "adapter_run": str(run),
            "adapter_retry": FAST["retry"],
            "adapter_concurrency": 4,
        },
    )
    wait_for(lambda: len(world.jobs()) >= at_work, "the first jobs")
    assert not is_free(run / "lock"), "the lock must be taken: the event source probes it"
    return running


@pytest.mark.parametrize("how", some([signal.SIGKILL, signal.SIGTERM]))
def test_what_a_killed_run_did_not_do_the_next_does(
    world: World, ansible: Ansible, tmp_path: Path, how: signal.Signals
) -> None:
    clusters = [world.cluster() for _number in range(_MANY)]
    run = tmp_path / "run"
    run.mkdir()
    running = started(world, ansible, run, clusters, 3)
    os.kill(running.process.pid, how)
    # Ansible's worker finishes what it has started, and only then releases the lock.
    wait_for(lambda: is_free(run / "lock"), "the end of the run")
    running.wait()
    world.kubernetes.faults.clear()
    document = json.loads((run / "result.json").read_text())
    outcomes = {entry["id"]: entry["outcome"] for entry in document["clusters"]}
    assert sorted(outcomes) == sorted(clusters), "the result must list every cluster"
    done = [cluster for cluster, outcome in outcomes.items() if outcome == "reported"]
    assert 0 < len(done) < _MANY
    assert {entry["again"] for entry in document["clusters"] if entry["outcome"] == "failed"} == {2.0}
    assert sorted(world.jobs()) == sorted(f"pullsecret-{cluster}-gen1" for cluster in done)

    handled = world.handle(*clusters)
    assert {one.outcome for one in handled} == {"reported"}
    assert {one.cluster_id for one in handled if one.job_created} == set(clusters) - set(done)
    assert len(world.jobs()) == _MANY
    assert {world.said(cluster)[:4] for cluster in clusters} == {"TFTF"}


@pytest.mark.nightly
def test_a_worker_that_is_killed_leaves_no_result_and_no_lock(
    world: World, ansible: Ansible, tmp_path: Path
) -> None:
    clusters = [world.cluster() for _number in range(_MANY)]
    running = started(world, ansible, tmp_path, clusters, 3)
    for child in children(running.process.pid):
        os.kill(child, signal.SIGKILL)
    running.process.kill()
    running.wait()
    wait_for(lambda: is_free(tmp_path / "lock"), "the end of the run")
    assert not (tmp_path / "result.json").exists()
    world.kubernetes.faults.clear()
    assert {one.outcome for one in world.handle(*clusters)} == {"reported"}
    assert len(world.jobs()) == _MANY
    assert len(world.data_secrets()) == _MANY


@pytest.mark.parametrize(
    "leaves", ["where its task begins", "while the adapter logs", "when the pipe is full"]
)
@pytest.mark.nightly
def test_a_playbook_that_is_read_by_head_ends(world: World, ansible: Ansible, leaves: str) -> None:
    """The thread of ansible-playbook that prints for the workers dies when it cannot write a line."""
    clusters = [world.cluster() for _number in range(_MANY * 5)]
    world.kubernetes.faults.add(method="POST", path="*/jobs", delay=0.3, times=20)
    given = {
        "adapter_config": str(world.config()),
        "cluster_ids": clusters,
        "adapter_concurrency": 4,
    }
    running = ansible.start_playbook("hyperfleet.pull_secret.adapter", given)
    stdout = running.process.stdout
    assert stdout is not None
    line = stdout.readline()
    while not (
        "Reconcile and report" in line
        if leaves == "where its task begins"
        else line.startswith('{"timestamp"')
    ):
        line = stdout.readline()
    if leaves == "when the pipe is full":
        wait_for(lambda: len(world.jobs()) == len(clusters), "all jobs, while the log is not read")
    stdout.close()
    try:
        running.process.wait(60)
    finally:
        running.process.kill()
        running.process.wait()
    assert running.process.returncode != -signal.SIGKILL
    assert len(world.jobs()) == len(clusters)


@pytest.mark.nightly
def test_a_run_without_a_reader_of_its_log_ends(world: World, ansible: Ansible, tmp_path: Path) -> None:
    """The log is larger than a pipe. If the run waited for a reader, it would keep the lock for ever."""
    clusters = [world.cluster() for _number in range(2 * _MANY)]
    run = tmp_path / "run"
    run.mkdir()
    running = started(world, ansible, run, clusters, 1)
    os.kill(running.process.pid, signal.SIGSTOP)
    world.kubernetes.faults.clear()
    wait_for(lambda: len(world.jobs()) == 2 * _MANY, "all jobs, although the log is not read")
    running.process.kill()
    running.wait()
    wait_for(lambda: is_free(run / "lock"), "the end of the run")
    document = json.loads((run / "result.json").read_text())
    assert {entry["outcome"] for entry in document["clusters"]} == {"reported"}


def test_a_run_whose_rulebook_was_killed_leaves_no_ansible_playbook(
    world: World, ansible: Ansible, tmp_path: Path
) -> None:
    """Without a reader the printing thread of ansible-playbook dies; the playbook would then hang."""
    clusters = [world.cluster() for _number in range(2 * _MANY)]
    run, programs = tmp_path / "run", tmp_path / "bin"
    run.mkdir()
    programs.mkdir()
    (programs / "python").write_text(_RUNNER.format(python=str(ansible.python)))
    (programs / "python").chmod(0o700)
    (programs / "ansible-playbook").symlink_to(ansible.python.parent / "ansible-playbook")
    ansible.python = programs / "python"
    running = started(world, ansible, run, clusters, 1)
    begun = children(running.process.pid)
    begun += [worker for one in begun for worker in children(one)]
    running.process.kill()
    running.wait()
    world.kubernetes.faults.clear()
    wait_for(lambda: is_free(run / "lock"), "the end of the run")
    wait_for(lambda: not any(is_running(one) for one in begun), "the end of ansible-playbook")
    document = json.loads((run / "result.json").read_text())
    assert {entry["outcome"] for entry in document["clusters"]} == {"reported"}
