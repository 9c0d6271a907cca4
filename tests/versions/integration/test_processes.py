# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Two runs with different pull secrets, each in its own process: the playbook and the Job's program."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from tests.support.job.program import LIMIT, Program
from tests.support.nightly import some
from tests.support.processes import Ansible, Running
from tests.versions.integration.world import (
    CLUSTER,
    NAME,
    NAMESPACE,
    PROJECT,
    World,
    document,
    job_environment,
)


class Started:
    """A run in a process."""

    def __init__(self, process: Running | Popen[str]) -> None:
        self._process = process

    def wait(self) -> tuple[int, str]:
        """The exit code and the whole output."""
        if isinstance(self._process, Running):
            finished = self._process.wait()
            return finished.code, finished.output
        output, errors = self._process.communicate(timeout=LIMIT)
        return self._process.returncode, output + errors


class Processes:
    """Starts runs."""

    def __init__(self, world: World, ansible: Ansible) -> None:
        self._world = world
        self._ansible = ansible
        self.program = Program(world.directory, world.manager, world.kubernetes)
        ansible.env.update(
            SECRET_MANAGER_EMULATOR_HOST=world.manager.grpc,
            KUBECONFIG=str(world.directory / "kubeconfig"),
        )

    def start(self, way: str, word: str) -> Started:
        if way == "job":
            return Started(self.program.start(job_environment(word)))
        path = self._world.directory / f"{word}.json"
        path.write_text(document(word))
        variables: dict[str, Any] = {
            "cluster_id": CLUSTER,
            "gcp_project_id": PROJECT,
            "management_namespace": NAMESPACE,
            "source": {"file": str(path)},
        }
        return Started(self._ansible.start_playbook("hyperfleet.pull_secret.provision", variables))


@pytest.fixture
def processes(world: World, ansible: Ansible, tmp_path: Path) -> Iterator[Processes]:
    made = Processes(world, ansible)
    yield made
    made.program.pod.stop()


@pytest.mark.parametrize("there", some([True, False]), ids=lambda there: "update" if there else "first run")
@pytest.mark.parametrize(
    ("one", "other"),
    some(
        [("playbook", "playbook"), ("playbook", "job"), ("job", "playbook"), ("job", "job")],
        ("playbook", "job"),
    ),
)
@pytest.mark.nightly
def test_two_processes_end_with_the_newest_version(
    world: World, processes: Processes, one: str, other: str, there: bool
) -> None:
    if there:
        assert world.put("inline", "before").failure is None
    # The run that reaches the management cluster first is overtaken there.
    world.kubernetes.faults.add(verb="get", path=f"*/secrets/{NAME}", delay=3.0)
    runs = [processes.start(way, word) for way, word in ((one, "one"), (other, "two"))]
    ended = [run.wait() for run in runs]
    assert [code for code, _output in ended] == [0, 0], ended
    assert world.store.count("AddSecretVersion") == 2 + there
    assert world.is_right()
    newest = json.loads(world.store.payloads()[-1])
    assert world.placed() == newest
