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
from tests.lab.session import STAND_IN
from tests.support.docker_configs import docker_config, held
from tests.support.kubernetes.running import api_server
from tests.support.kubernetes.world import Api
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
# The first delivery, and the one after a rotation, a new namespace and a guest that left.
_DIRECT = [("first", "host", "create", 0), ("first", "host", "create", 1), ("first", "host", "patch", 0)]
_DIRECT += [("first", "guest", "create", number) for number in range(2)]
_DIRECT += [("then", "guest", verb, 0) for verb in ("patch", "create", "delete")]
_DIRECT += [("then", "host", "patch", 0), ("then", "host", "delete", 0), ("then", "other", "delete", 1)]


def _run_and_kill(api: Api, params: dict[str, Any], verb: str, skip: int) -> int:
    """Return the exit code of the run, which is killed before a write."""
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM], stdin=subprocess.PIPE, text=True, cwd=ROOT, stderr=subprocess.PIPE
    )

    def kill() -> None:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()

    api.faults.add(verb=verb, act=kill, skip=skip, drop=True)
    process.communicate(json.dumps(params))
    return process.returncode


@pytest.mark.parametrize(("verb", "skip"), some(_POINTS, ("delete", 1)))
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
    assert _run_and_kill(world.api, params, verb, skip) == -signal.SIGKILL
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


@pytest.mark.parametrize(
    ("phase", "where", "verb", "skip"),
    some(_DIRECT, ("then", "guest", "delete", 0)),
)
def test_the_next_direct_run_ends_right(
    world: World, guest: Api, phase: str, where: str, verb: str, skip: int
) -> None:
    with api_server(STAND_IN) as other:
        kept, left, joined, foreign = (guest.namespace() for _number in range(4))
        for name in (kept, left, joined):
            other.namespace(name)
        guest.put_secret(foreign, "pull-secret", {"own": "e30="})
        world.reach(*world.guest(), guest)
        leaving, _name = world.reach(*world.guest(), other)
        options: dict[str, Any] = {"delivery": "direct", "prune_limit": "100%", "concurrency": 1}
        spaces = [kept, left]
        if phase == "then":
            world.run(**options, secret_namespaces=spaces)
            world.select(leaving, selected=False)
            spaces = [kept, joined]
        world.put_source(docker_config(registry_example_com="two"))
        api = {"host": world.api, "guest": guest, "other": other}[where]
        params = world.params(**options, secret_namespaces=spaces)
        api.reset()
        assert _run_and_kill(api, params, verb, skip) == -signal.SIGKILL
        api.reset()
        result = world.run(**options, secret_namespaces=spaces)
        assert not result.get("failed"), result
        for space in (kept, left, joined):
            secret = guest.secret(space, "pull-secret")
            assert (secret is not None) is (space in spaces)
            assert secret is None or held(secret) == docker_config(registry_example_com="two")
            assert (other.secret(space, "pull-secret") is not None) is (phase == "first" and space in spaces)
        assert guest.secret(foreign, "pull-secret")["data"] == {"own": "e30="}
        assert world.run(**options, secret_namespaces=spaces)["changed"] is False
