# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Work that an earlier version left, while the current Secret cannot be written."""

from __future__ import annotations

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.systemd.manager import (
    GONE,
    SystemdError,
)
from tests.node.syncer.unit.fleet import HOUR, MINUTE, Fleet, full, full_at_the_end, picky
from tests.node.syncer.world import document


@pytest.mark.parametrize("trouble", ["gone", "full"])
def test_a_kubelet_that_is_down_is_tried_until_it_is_well(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    node = fleet.node()
    fleet.settle(node, "in-sync", fleet.put(document("example-good")))
    node.kubelet.on_restart = lambda _number: "failed"
    version = fleet.put(document("example-new"))
    fleet.settle(node, "failed", version)
    node.start()
    if trouble == "gone":
        node.deliver(None)
    else:
        full(monkeypatch, node)
        fleet.put(document("example-newer"))
    tried = len(node.runs)
    fleet.run(HOUR)
    assert len(node.runs) > tried + 3
    assert node.status["state"] == "failed"
    node.kubelet.on_restart = lambda _number: "done"
    fleet.run(HOUR, lambda: node.kubelet.now.active == "active")
    assert node.kubelet.now.active == "active"
    assert node.password == "example-good"
    if trouble == "gone":
        fleet.settle(node, "pending", "", within=MINUTE)
        assert node.status["message"] == "the Secret does not exist"


def test_a_held_node_stays_held_when_the_next_secret_is_refused(fleet: Fleet) -> None:
    """The failed node reports an error for the next Secret and keeps its ``failedWith``."""
    nodes = fleet.held_nodes()
    before = [node.kubelet.restarts for node in nodes]
    fleet.put(b"no JSON")
    fleet.run(6 * HOUR)
    assert [node.kubelet.restarts for node in nodes] == before
    version = fleet.put(document("example-better"))
    for node in fleet.nodes:
        fleet.settle(node, "in-sync", version, within=HOUR)
        assert "failedWith" not in node.status


@pytest.mark.parametrize("content", [b"no JSON", None])
def test_a_new_syncer_restarts_nothing_of_which_it_does_not_know_how_others_fared(
    fleet: Fleet, content: bytes | None
) -> None:
    nodes = fleet.held_nodes()
    before = [node.kubelet.restarts for node in nodes]
    for node in nodes:
        node.start()
    if content is None:
        for node in nodes:
            node.deliver(None)
    else:
        fleet.put(content)
    fleet.run(6 * HOUR)
    assert [node.kubelet.restarts for node in nodes] == before
    version = fleet.put(document("example-better"))
    for node in fleet.nodes:
        fleet.settle(node, "in-sync", version, within=HOUR)


def test_a_node_that_has_begun_a_restart_is_not_held(fleet: Fleet) -> None:
    """Its kubelet is down with content that meanwhile failed on another node, so it must be rolled back."""
    first, second = fleet.node(), fleet.node()
    version = fleet.put(document("example-good"))
    for node in (first, second):
        fleet.settle(node, "in-sync", version, within=HOUR)

    def lost(_number: int) -> str:
        second.kubelet.now = second.kubelet.now._replace(active="failed", sub="failed")
        raise SystemdError("kubelet.service", GONE)

    first.kubelet.on_restart, second.kubelet.on_restart = picky(first), lost
    first.bus_is_away = True
    version = fleet.put(document("example-bad"))
    fleet.run(HOUR, lambda: len(second.runs) > 1)
    # Its syncer is replaced before the result is known, and the other node learns it first.
    second.bus_is_away, first.bus_is_away = True, False
    second.start()
    fleet.settle(first, "failed", version, within=HOUR)
    assert second.kubelet.now.active == "failed"
    second.bus_is_away = False
    second.kubelet.on_restart = picky(second)
    fleet.put(document("example-bad"))
    fleet.run(HOUR)
    assert (second.kubelet.now.active, second.password) == ("active", "example-good")


def test_a_failure_is_not_said_of_a_version_that_could_not_be_written(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = fleet.node()
    node.kubelet.on_restart = picky(node)
    fleet.settle(node, "in-sync", fleet.put(document("example-good")))
    runs = len(node.runs)
    fleet.put(document("example-bad"))
    fleet.run(HOUR, lambda: len(node.runs) > runs)
    with monkeypatch.context() as meanwhile:
        full(meanwhile, node)
        version = fleet.put(document("example-fine"))
    said: list[str] = []

    def listen() -> bool:
        if node.status["resourceVersion"] == version and "by" not in node.status:
            said.append(node.status["state"])
        return bool(said and said[-1] == "in-sync")

    fleet.run(HOUR, listen)
    assert said[-1] == "in-sync"
    assert "failed" not in said


def test_a_file_that_was_never_replaced_is_no_reason_to_restart(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = fleet.node()
    fleet.settle(node, "in-sync", fleet.put(document("example-good")))
    restarts = node.kubelet.restarts

    with monkeypatch.context() as meanwhile:
        full_at_the_end(meanwhile)
        fleet.put(document("example-new"))
        fleet.run(MINUTE)
    fleet.put(b"no JSON")
    fleet.run(HOUR)
    assert (node.kubelet.restarts, node.password) == (restarts, "example-good")


@pytest.mark.parametrize("trouble", ["refused", "full"])
def test_what_can_be_neither_done_nor_rolled_back_keeps_nothing_busy(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    node = fleet.waiting_node()
    node.path.with_name("config.json.hyperfleet-backup").unlink()
    node.kubelet.now, node.bus_is_away = node.kubelet.now._replace(load="masked"), False
    runs = len(node.runs)
    if trouble == "refused":
        fleet.put(b"no JSON")
    else:
        full(monkeypatch, node)
        fleet.put(document("example-newer"))
    fleet.run(MINUTE)
    assert len(node.runs) - runs < 10
    fleet.run(HOUR)
    assert len(node.runs) - runs < 50
    assert (node.status["state"], node.status["resourceVersion"]) == ("failed", "3")


def test_a_restart_that_has_not_begun_is_not_made_for_what_cannot_be_written(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = fleet.waiting_node()
    restarts, node.bus_is_away = node.kubelet.restarts, False
    with monkeypatch.context() as meanwhile:
        full(meanwhile, node)
        version = fleet.put(document("example-newer"))
        fleet.run(HOUR)
        assert node.kubelet.restarts == restarts
    fleet.settle(node, "in-sync", version)


def test_a_restart_that_cannot_be_made_is_not_said_of_a_secret_that_is_refused(fleet: Fleet) -> None:
    fleet.waiting_node()
    version = fleet.put(b"no JSON")
    fleet.run(6 * HOUR)
    assert {state for _node, about, state in fleet.api.said if about == version} == {"failed"}


def test_a_roll_back_that_may_not_be_ended_keeps_no_syncer_silent(fleet: Fleet) -> None:
    node = fleet.node()
    fleet.settle(node, "in-sync", fleet.put(document("example-good")))
    node.kubelet.on_restart = lambda _number: "failed"
    fleet.settle(node, "failed", fleet.put(document("example-new")))
    node._settings = node._settings._replace(restart="never")
    node.start()
    node.deliver(None)
    fleet.settle(node, "pending", "")
    assert node.status["message"] == "the Secret does not exist"
