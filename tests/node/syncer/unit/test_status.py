# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The node's status; writing it never delays the node's work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.api import (
    MERGE_PATCH,
    ApiError,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.backoff import Backoff
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.status import (
    FAILED,
    IN_SYNC,
    PENDING,
    NodeStatus,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.wire import WireError
from tests.node.syncer.unit.scripted import Scripted, Talk

PATH = "/api/v1/namespaces/kube-system/configmaps/status"


class ConfigMap:
    """The API server's only ConfigMap."""

    def __init__(self) -> None:
        self.data: dict[str, Any] | None = None
        self.patches = 0
        self.fails: list[Exception] = []
        self.unanswered = 0

    def call(
        self, method: str, path: str, body: Any = None, content_type: str = "", accept: str = ""
    ) -> dict[str, Any]:
        assert path == PATH
        if self.fails:
            raise self.fails[0]
        if method == "PATCH":
            assert content_type == MERGE_PATCH
            assert list(body) == ["data"]
            self.patches += 1
            self.data = {**(self.data or {}), **body["data"]}
        return {"metadata": {}, **({} if self.data is None else {"data": self.data})}


class World:
    def __init__(self) -> None:
        self.now = 50.0
        self.api = ConfigMap()
        self.status = NodeStatus(
            self.api,  # type: ignore[arg-type]
            "kube-system",
            "status",
            "node-1",
            clock=lambda: self.now,
            backoff=Backoff(2, 60),
        )


@pytest.fixture
def world() -> World:
    return World()


def test_its_own_key_and_no_other(world: World) -> None:
    world.api.data = {"node-2": "kept"}
    world.status.say("7", PENDING, "waiting")
    world.status.flush()
    assert world.api.data == {
        "node-2": "kept",
        "node-1": '{"resourceVersion":"7","state":"pending","message":"waiting"}',
    }


def test_what_was_written_is_not_written_again(world: World) -> None:
    assert world.status.due_at is None
    for _time in range(3):
        world.status.say("7", IN_SYNC)
        world.status.flush()
    assert world.api.patches == 1
    world.status.say("8", IN_SYNC)
    world.status.flush()
    assert world.api.patches == 2


def test_what_was_written_is_written_again_now_and_then(world: World) -> None:
    """The ConfigMap may have been deleted and created again."""
    world.status.say("7", IN_SYNC)
    world.status.flush()
    said = dict(world.api.data or {})
    for lost in range(1, 4):
        world.api.data = {}
        due = world.status.due_at
        assert due is not None
        assert 300 <= due - world.now <= 450
        world.now = due - 1
        world.status.flush()
        assert world.api.patches == lost, "too early"
        world.now = due
        world.status.flush()
        assert world.api.data == said


def test_a_write_that_is_done_late_is_put_right(tmp_path: Path) -> None:
    """The server is silent. It gets a second and a newer write, and only then executes the first one."""
    held: dict[str, str] = {}
    late: list[dict[str, str]] = []

    def data(talk: Talk) -> dict[str, str]:
        written: dict[str, str] = json.loads(talk.request().body)["data"]
        return written

    def goes_silent(talk: Talk) -> None:
        held.update(data(talk))
        talk.answer({})
        late.append(data(talk))

    def answers(talk: Talk) -> None:
        while True:
            held.update(data(talk))
            talk.answer({})

    now = 50.0
    with Scripted(goes_silent, answers) as server:
        status = NodeStatus(
            server.api(tmp_path),
            "kube-system",
            "status",
            "node-1",
            clock=lambda: now,
            backoff=Backoff(2, 60),
        )
        for version in ("7", "8", "9"):
            status.say(version, IN_SYNC)
            status.flush()
        assert json.loads(held["node-1"])["resourceVersion"] == "9"
        held.update(late[0])
        assert json.loads(held["node-1"])["resourceVersion"] == "8"
        due = status.due_at
        assert due is not None
        assert due - now <= 20
        now = due
        status.flush()
        assert json.loads(held["node-1"])["resourceVersion"] == "9"
        # Until no late write is possible any more.
        for _time in range(10):
            due = status.due_at
            assert due is not None
            now = due
            status.flush()
        assert now >= 50 + 75
        due = status.due_at
        assert due is not None
        assert due - now >= 300


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_what_a_server_failed_to_do_may_be_done_late(world: World, status: int) -> None:
    world.api.fails = [ApiError(status, "", "not in time")]
    world.status.say("7", IN_SYNC)
    world.status.flush()
    world.api.fails = []
    world.status.say("8", IN_SYNC)
    world.status.flush()
    due = world.status.due_at
    assert due is not None
    assert 10 <= due - world.now <= 20


def test_nodes_that_said_it_at_once_do_not_say_it_again_at_once() -> None:
    worlds = [World() for _node in range(50)]
    for world in worlds:
        world.status.say("7", IN_SYNC)
        world.status.flush()
    assert len({world.status.due_at for world in worlds}) > 25


def test_what_cannot_be_said_again_is_said_later(world: World) -> None:
    world.status.say("7", IN_SYNC)
    world.status.flush()
    world.now += 500
    world.api.fails = [ApiError(404, "NotFound", "there is no such ConfigMap")]
    world.status.flush()
    assert not world.status.is_said
    due = world.status.due_at
    assert due is not None
    assert due - world.now <= 60
    world.api.fails = []
    world.now = due
    world.status.flush()
    assert (world.api.patches, world.status.is_said) == (2, True)


@pytest.mark.parametrize("status", [404, 409, 422, 429, 500, 503, 504])
def test_whatever_was_refused_is_tried_until_it_is_said(world: World, status: int) -> None:
    world.api.fails = [ApiError(status, "", "not now")]
    world.status.say("7", IN_SYNC)
    waits = []
    for _try in range(12):
        world.status.flush()
        due = world.status.due_at
        assert due is not None
        waits.append(due - world.now)
        world.now = due
    assert 0 < min(waits) <= 2
    assert 30 <= max(waits) <= 60
    world.api.fails = []
    world.status.flush()
    assert world.status.is_said


@pytest.mark.parametrize("problem", [WireError("no answer"), ApiError(403, "Forbidden", "not for you")])
def test_what_cannot_be_written_is_written_later(world: World, problem: Exception) -> None:
    world.api.fails = [problem]
    world.status.say("7", IN_SYNC)
    world.status.flush()
    assert world.status.trouble == str(problem)
    world.api.fails = []
    world.status.flush()
    assert world.api.patches == 0, "not at once"
    due = world.status.due_at
    assert due is not None
    assert due > world.now
    world.now = due
    world.status.flush()
    assert (world.api.patches, world.status.trouble, world.status.is_said) == (1, "", True)


def test_the_last_word_counts(world: World) -> None:
    world.api.fails = [WireError("no answer")]
    world.status.say("7", PENDING)
    world.status.flush()
    world.api.fails = []
    world.status.say("7", IN_SYNC)
    world.status.flush()
    assert world.api.data is not None
    assert json.loads(world.api.data["node-1"])["state"] == IN_SYNC


def test_the_server_may_ask_for_patience(world: World) -> None:
    world.api.fails = [ApiError(429, "TooManyRequests", "slow down", 300)]
    world.status.say("7", IN_SYNC)
    world.status.flush()
    assert world.status.due_at == world.now + 300


def test_invalid_reports_of_other_nodes_fail_no_node(world: World) -> None:
    world.api.data = {"node-2": "[" * 100_000, "node-3": "{", "node-4": "5"}
    assert world.status.failed_elsewhere("7") == ""


def test_the_other_node_that_failed(world: World) -> None:
    def value(version: str, state: str) -> str:
        return json.dumps({"resourceVersion": version, "state": state, "message": ""})

    assert world.status.failed_elsewhere("7") == ""
    world.api.data = {
        "node-1": value("7", FAILED),
        "node-2": value("6", FAILED),
        "node-3": value("7", IN_SYNC),
        "node-4": "not json",
        "node-5": "[]",
        "Not a node": value("7", FAILED),
    }
    assert world.status.failed_elsewhere("7") == "", (
        "neither our own status, nor other versions, nor unknown formats count"
    )
    world.api.data["node-6"] = value("7", FAILED)
    assert world.status.failed_elsewhere("7") == "node-6"
    world.api.fails = [WireError("no answer")]
    with pytest.raises(WireError):
        world.status.failed_elsewhere("7")


def test_a_message_has_an_end(world: World) -> None:
    world.status.say("7", FAILED, "x" * 5000)
    world.status.flush()
    assert world.api.data is not None
    assert len(world.api.data["node-1"]) < 600


def test_what_failed_is_said_with_what_was_said_before(world: World) -> None:
    """The next holder of the slot needs it, although nothing else has changed."""
    world.status.failed_with("1")
    assert world.status.due_at is None, "no status was set"
    world.status.say("3", PENDING)
    world.status.flush()
    world.status.failed_with("2")
    world.status.flush()
    assert world.api.data is not None
    assert json.loads(world.api.data["node-1"])["failedWith"] == "2"
    world.status.failed_with("1", by_node=True)
    assert world.status.is_said
    world.status.failed_with("2", by_node=True)
    world.status.flush()
    assert "failedWith" not in json.loads(world.api.data["node-1"])
