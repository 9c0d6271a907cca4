# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The role and the playbook on three real nodes: handlers, rescue, and a rollout that stops."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from tests.node.world import BAD, FILE, World, assert_silent, document
from tests.support.nightly import some
from tests.support.processes import Finished
from tests.tools import env

pytestmark = pytest.mark.real("nodes")

PLAYBOOK = "hyperfleet.pull_secret.node"
FAST = {
    "node_window": 3,
    "node_ready_timeout": 5,
    "node_backoff": 0.1,
    "node_restart_timeout": 20,
    "node_attempts": 2,
}


def play(world: World, *registries: str, check: bool = False, **variables: Any) -> Finished:
    source = world.directory / "source.json"
    source.write_text(json.dumps(document(*registries)))
    given = {**FAST, "node_source": {"file": str(source)}, **variables}
    return world.ansible.playbook(
        PLAYBOOK, given, flags=[*["--check"] * check, "-i", str(world.inventory), "--diff", "--forks", "5"]
    )


@pytest.mark.nightly
def test_a_roll_out_and_its_repetition(fleet: World) -> None:
    fleet.install()
    before = [fleet.kubelet(node) for node in fleet.nodes]
    checked = play(fleet, "quay.io", check=True, node_serial=3)
    foretold = checked.of("kubelet_auth_sync")[:3]
    assert [result["actions"] for result in foretold] == [["written", "restarted"]] * 3
    assert [fleet.kubelet(node) for node in fleet.nodes] == before
    assert fleet.beside() == []

    done = play(fleet, "quay.io")
    assert done.code == 0, done.output
    assert "registry quay.io" in done.output
    assert_silent(done.output)
    for node, old in zip(fleet.nodes, before, strict=True):
        assert fleet.auths(node) == {"quay.io"}
        assert fleet.kubelet(node)[0] == "active"
        assert fleet.kubelet(node) != old
    now = [fleet.kubelet(node) for node in fleet.nodes]
    again = play(fleet, "quay.io", node_serial=3)
    assert again.code == 0, again.output
    assert not any(result.get("changed") for result in again.of("kubelet_auth_sync"))
    assert [fleet.kubelet(node) for node in fleet.nodes] == now

    # Check mode names the node that has drifted, and no other.
    fleet.nodes[1].write(FILE, json.dumps(document("ecr.example")), 0o600)
    foretold = play(fleet, "quay.io", check=True, node_serial=3).of("kubelet_auth_sync")
    assert sorted(result["actions"] for result in foretold if result.get("actions")) == [
        ["written", "restarted"]
    ]
    assert play(fleet, "quay.io", node_serial=3).code == 0
    assert fleet.auths(fleet.nodes[1]) == {"ecr.example", "quay.io"}
    assert [fleet.kubelet(node) != old for node, old in zip(fleet.nodes, now, strict=True)] == [
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(("allowed", "reached"), [(None, False), (50, True)])
@pytest.mark.nightly
def test_one_failing_node_of_a_batch_stops_the_roll_out_unless_it_may(
    fleet: World, allowed: int | None, reached: bool
) -> None:
    fleet.install()
    first = copy.copy(fleet)
    first.nodes = fleet.nodes[:1]
    first.install("crash")
    more: dict[str, Any] = {} if allowed is None else {"node_max_fail_percentage": allowed}
    done = play(fleet, BAD, node_serial=2, **more)
    assert done.code != 0
    assert "config.json" not in fleet.beside()
    assert fleet.auths(fleet.nodes[1]) == {BAD}
    assert ("config.json" in fleet.beside(fleet.nodes[2])) == reached


@pytest.mark.nightly
def test_what_a_killed_run_left_is_foretold(fleet: World) -> None:
    """The file is already as wanted; only the restart is missing."""
    fleet.install()
    written = fleet.sync("quay.io", restart="deferred")
    assert written.code == 0, written.output
    checked = play(fleet, "quay.io", check=True, node_serial=3)
    assert checked.code == 0, checked.output
    assert [result["actions"] for result in checked.of("kubelet_auth_sync")[:3]] == [["restarted"]] * 3
    before = fleet.kubelet()
    assert play(fleet, "quay.io", node_serial=3).code == 0
    assert fleet.kubelet() != before


@pytest.mark.nightly
def test_a_run_that_ends_before_kubelets_health_is_checked(fleet: World) -> None:
    """The first handler restarts kubelet and finds it up. Kubelet ends two seconds later, after the run."""
    fleet.install("crash")
    fleet.put(document("ecr.example"))
    assert fleet.sync(BAD, restart="deferred").code == 0
    restarted = fleet.sync(state="restarted", rollback=False, window=0)
    assert restarted.code == 0, restarted.output
    assert [result["state"] for result in restarted.of("kubelet_auth_sync")] == ["pending"] * 3
    done = play(fleet, BAD, node_serial=3, node_max_fail_percentage=100)
    assert done.code != 0
    for node in fleet.nodes:
        assert fleet.auths(node) == {"ecr.example"}
        assert fleet.kubelet(node)[0] == "active"
        assert "kubelet ended" in fleet.ledger(node)["failed"]["reason"]
    assert_silent(done.output)


@pytest.mark.parametrize(
    "variable", ["node_window", "node_ready_timeout", "node_backoff", "node_restart_timeout"]
)
@pytest.mark.nightly
def test_an_invalid_time_is_found_before_the_write(fleet: World, variable: str) -> None:
    fleet.install()
    before = fleet.kubelet()
    wrong: dict[str, Any] = {variable: 1e300}
    done = play(fleet, "quay.io", **wrong)
    assert done.code != 0
    assert "must be a number of seconds" in done.output
    assert fleet.beside() == []
    assert fleet.kubelet() == before


@pytest.mark.nightly
def test_a_play_with_handlers_of_the_same_names(fleet: World) -> None:
    """The role does not notify these handlers."""
    fleet.install()
    before = [fleet.kubelet(node) for node in fleet.nodes]
    source = fleet.directory / "source.json"
    source.write_text(json.dumps(document("quay.io")))
    theirs = {"ansible.builtin.debug": {"msg": "the play's own"}}
    written: dict[str, Any] = {
        "hosts": "all",
        "gather_facts": False,
        "roles": ["hyperfleet.pull_secret.node"],
        "handlers": [{"name": name, **theirs} for name in ("Restart kubelet", "Check kubelet's health")],
    }
    done = fleet.ansible.playbook(
        [written], {**FAST, "node_source": {"file": str(source)}}, flags=["-i", str(fleet.inventory)]
    )
    assert done.code == 0, done.output
    assert "the play's own" not in done.output
    for node, old in zip(fleet.nodes, before, strict=True):
        assert fleet.kubelet(node) != old
        assert fleet.kubelet(node)[0] == "active"


@pytest.mark.parametrize("mode", ["crash", "unready"])
@pytest.mark.nightly
def test_a_failing_node_stops_the_roll_out(fleet: World, mode: str) -> None:
    fleet.install(mode)
    fleet.put(document("ecr.example"))
    before = [fleet.kubelet(node) for node in fleet.nodes]
    done = play(fleet, BAD)
    assert done.code != 0
    assert "file and kubelet were rolled back" in done.output
    # The first node is healthy again with its old file; the others were not touched.
    assert [fleet.auths(node) for node in fleet.nodes] == [{"ecr.example"}] * 3
    assert fleet.kubelet()[0] == "active"
    assert fleet.kubelet() != before[0]
    assert [fleet.kubelet(node) for node in fleet.nodes[1:]] == before[1:]
    assert fleet.ledger()["pending"] is None
    # The version that failed is held, and the rescue does not remove the good file.
    held = play(fleet, BAD, node_serial=1)
    assert "not tried again until it changes" in held.output
    assert fleet.auths() == {"ecr.example"}


@pytest.mark.parametrize("core", some(env.ENDS, "2.21"))
def test_the_rescue_is_reached_with_every_ansible_core(fleet: World, core: str) -> None:
    """Versions of ansible-core count a handler that fails while a block flushes handlers differently."""
    venv = env.core(core, [], "bare")
    if venv is None:
        pytest.skip(f"no Python here runs ansible-core {core}")
    fleet.ansible.python = env.ROOT / venv / "bin" / "python"
    fleet.install("crash")
    done = play(fleet, BAD)
    assert done.code != 0
    assert "file and kubelet were rolled back" in done.output
    assert "config.json" not in fleet.beside()
    assert fleet.kubelet()[0] == "active"
    assert [fleet.beside(node) for node in fleet.nodes[1:]] == [[], []]
    assert play(fleet, "quay.io", node_serial=3, node_window=0.2).code == 0
    assert play(fleet, "quay.io", check=True, node_serial=3).code == 0


@pytest.mark.nightly
def test_all_fail_at_once_and_are_rolled_back(fleet: World) -> None:
    fleet.install("crash")
    done = play(fleet, BAD, node_serial=3, node_max_fail_percentage=100)
    assert done.code != 0
    for node in fleet.nodes:
        assert "config.json" not in fleet.beside(node)
        assert fleet.kubelet(node)[0] == "active"


@pytest.mark.nightly
def test_a_wrong_source_does_not_roll_the_good_file_back(fleet: World) -> None:
    fleet.install()
    assert play(fleet, "quay.io", node_serial=3, node_window=0.5).code == 0
    now = fleet.kubelet()
    done = play(fleet, node_serial=3)
    assert done.code != 0
    assert "'auths' has no entry" in done.output
    assert fleet.auths() == {"quay.io"}
    assert fleet.kubelet() == now


@pytest.mark.nightly
def test_never_restarting_and_taking_out_again(fleet: World) -> None:
    fleet.install()
    fleet.put(document("ecr.example"))
    before = fleet.kubelet()
    done = play(fleet, "quay.io", node_serial=3, node_restart="never")
    assert done.code == 0, done.output
    assert done.of("kubelet_auth_sync")[0]["restart"]["effective"] == "within 5 minutes"
    assert fleet.auths() == {"ecr.example", "quay.io"}
    done = play(fleet, node_serial=3, node_restart="never", node_state="absent")
    assert done.code == 0, done.output
    assert fleet.auths() == {"ecr.example"}
    assert fleet.beside() == ["config.json"]
    assert fleet.kubelet() == before
