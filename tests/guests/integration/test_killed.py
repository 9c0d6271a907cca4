# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run is killed before its n-th write of a kind: the next run ends right, and touches nothing of others."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from tests.guests.integration.world import SETS, World
from tests.support.docker_configs import docker_config
from tests.support.nightly import some
from tests.tools.env import ROOT

# Runs the task with the parameters on its standard input.
_PROGRAM = """
import json, sys
import conftest
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import guest_cluster_pull_secret
from tests.support.kubernetes.running import run_task
run_task(guest_cluster_pull_secret, json.load(sys.stdin))
"""
_POINTS = [("create", number) for number in range(4)]
_POINTS += [("patch", number) for number in range(2)]
_POINTS += [("delete", number) for number in range(4)]


def _run_and_kill(world: World, params: dict[str, Any], verb: str, skip: int) -> int:
    """Return the exit code of the run, which is killed before a write."""
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM], stdin=subprocess.PIPE, text=True, cwd=ROOT, stderr=subprocess.PIPE
    )

    def kill() -> None:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()

    world.api.faults.add(verb=verb, act=kill, skip=skip, drop=True)
    process.communicate(json.dumps(params))
    return process.returncode


@pytest.mark.parametrize(("verb", "skip"), some(_POINTS, ("create", 1), ("delete", 1)))
def test_the_next_run_ends_right(world: World, verb: str, skip: int) -> None:
    rotated = [world.guest() for _number in range(2)]
    leaving = [world.guest() for _number in range(2)]
    world.run()
    foreign = world.api.namespace()
    world.api.put_secret(foreign, world.set_name, {"manifests.yaml": "e30="})
    joining = [world.guest() for _number in range(2)]
    for namespace, _name in leaving:
        world.select(namespace, selected=False)
    world.put_source(docker_config(registry_example_com="two"))
    params = world.params(prune_limit="100%", concurrency=1)
    world.api.reset()
    assert _run_and_kill(world, params, verb, skip) == -signal.SIGKILL
    world.api.reset()
    result = world.run(prune_limit="100%")
    assert not result.get("failed"), result
    for namespace, _name in [*rotated, *joining]:
        assert world.delivered(namespace) == docker_config(registry_example_com="two")
        assert world.api.get(namespace, SETS, world.set_name) is not None
    for namespace, _name in leaving:
        assert world.api.get(namespace, SETS, world.set_name) is None
        assert world.api.secret(namespace, world.set_name) is None
    assert world.api.secret(foreign, world.set_name)["data"] == {"manifests.yaml": "e30="}
    assert world.run()["changed"] is False
