# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Changes are collected into events."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.api import Named
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.batches import Batches, engine_is_busy

SECRET = Named("kube-system", "additional-pull-secret")


class Taken:
    """A queue whose ``put`` returns when ``room`` is set."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.room = asyncio.Event()
        self.room.set()
        self.waiting = asyncio.Event()
        self.fails = 0
        self.on_put: Callable[[Any], None] = lambda _data: None

    async def put(self, data: Any) -> None:
        self.waiting.set()
        self.on_put(data)
        await self.room.wait()
        if self.fails:
            self.fails -= 1
            raise RuntimeError("no")
        self.events.append(data["kubernetes_secret"])

    async def until(self, count: int) -> None:
        async with asyncio.timeout(60):
            while len(self.events) < count:
                await asyncio.sleep(0.01)


class World:
    def __init__(self, most: int = 100, delay: float = 0.02) -> None:
        self.busy = False
        self.queue = Taken()
        self.batches = Batches(self.queue, delay, most, lambda: self.busy)

    async def __aenter__(self) -> World:
        self.task = asyncio.create_task(self.batches.run())
        return self

    async def __aexit__(self, *unused: object) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])


def test_a_cluster_is_named_once_and_its_last_change_counts() -> None:
    async def scenario() -> None:
        async with World() as world:
            world.batches.add(["cls-1"], SECRET, "ADDED", "1")
            world.batches.add(["cls-2"], SECRET, "DELETED", "3")
            world.batches.add(["cls-1"], SECRET, "MODIFIED", "2")
            await world.queue.until(1)
            secret = {"namespace": "kube-system", "name": "additional-pull-secret"}
            assert world.queue.events == [
                {
                    "clusters": ["cls-1", "cls-2"],
                    "changes": [
                        {"cluster_id": "cls-1", **secret, "type": "MODIFIED", "resourceVersion": "2"},
                        {"cluster_id": "cls-2", **secret, "type": "DELETED", "resourceVersion": "3"},
                    ],
                    "targets": [],
                }
            ]

    asyncio.run(scenario())


def test_a_batch_has_no_more_than_it_may_and_who_waits_longest_goes_first() -> None:
    async def scenario() -> None:
        async with World(most=2) as world:
            world.batches.add([f"cls-{number}" for number in range(5)])
            await world.queue.until(3)
            assert [event["clusters"] for event in world.queue.events] == [
                ["cls-0", "cls-1"],
                ["cls-2", "cls-3"],
                ["cls-4"],
            ]

    asyncio.run(scenario())


def test_who_changed_goes_before_who_is_looked_at_again_and_who_does_not_answer_comes_last() -> None:
    async def scenario() -> None:
        async with World() as world:
            silent = [f"silent-{number}" for number in range(20)]
            world.batches.troubled = lambda: silent
            # A change does not prove that the cluster answers.
            world.batches.add(silent, SECRET, "MODIFIED", "1")
            world.batches.add(["again-1", "again-2"])
            world.batches.add(["changed-1"], SECRET, "MODIFIED", "2")
            await world.queue.until(4)
            assert [event["clusters"] for event in world.queue.events] == [
                ["changed-1"],
                ["again-1", "again-2"],
                silent[:16],
                silent[16:],
            ]

    asyncio.run(scenario())


def test_a_secret_that_changes_all_the_time_keeps_nobody_waiting_for_ever() -> None:
    async def scenario() -> None:
        async with World(most=2) as world:
            world.batches.add([f"cls-{number}" for number in range(4)])

            def change_again(data: Any) -> None:
                world.batches.add(["restless"], SECRET, "MODIFIED", "1")

            world.queue.on_put = change_again
            change_again(None)
            await world.queue.until(5)
            assert [event["clusters"] for event in world.queue.events[:5]] == [
                ["restless"],
                ["cls-0", "cls-1"],
                ["restless"],
                ["cls-2", "cls-3"],
                ["restless"],
            ]

    asyncio.run(scenario())


def test_while_nothing_is_taken_the_next_batch_grows() -> None:
    async def scenario() -> None:
        async with World() as world:
            world.queue.room.clear()
            world.batches.add(["cls-1"])
            await world.queue.waiting.wait()
            for number in (2, 3, 1, 2):
                world.batches.add([f"cls-{number}"])
                await asyncio.sleep(
                    0.03
                )  # longer than the delay, after which each would be a batch of its own
            world.queue.room.set()
            await world.queue.until(2)
            assert [event["clusters"] for event in world.queue.events] == [
                ["cls-1"],
                ["cls-2", "cls-3", "cls-1"],
            ]

    asyncio.run(scenario())


def test_while_the_engine_is_busy_nothing_is_put() -> None:
    async def scenario() -> None:
        async with World() as world:
            world.busy = True
            world.batches.add(["cls-1"])
            await asyncio.sleep(0.1)  # five delays, in which nothing may be put
            assert not world.queue.waiting.is_set()
            world.batches.add(["cls-2"])
            world.busy = False
            await world.queue.until(1)
            assert world.queue.events[0]["clusters"] == ["cls-1", "cls-2"]

    asyncio.run(scenario())


def test_an_event_that_could_not_be_put_is_put_again(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        async with World() as world:
            world.queue.fails = 1
            world.batches.add(["cls-1"])
            await world.queue.until(1)
            assert world.queue.events[0]["clusters"] == ["cls-1"]

    asyncio.run(scenario())
    assert "RuntimeError" in caplog.text


def test_of_a_batchs_problems_the_last_word_counts() -> None:
    async def scenario() -> None:
        async with World() as world:
            world.batches.problem(["cls-1", "cls-2"], SECRET, "no connection")
            world.batches.problem(["cls-1"], SECRET, None)
            await world.queue.until(1)
            found = {problem["cluster_id"]: problem for problem in world.queue.events[0]["problems"]}
            assert found["cls-1"]["state"] == "solved"
            assert (found["cls-2"]["state"], found["cls-2"]["message"]) == ("failing", "no connection")
            assert len(world.queue.events) == 1

    asyncio.run(scenario())


def test_the_engine_is_busy_while_a_slot_for_actions_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.delitem(sys.modules, "ansible_rulebook.conf", raising=False)
        assert not engine_is_busy()
        slots = asyncio.Semaphore(25)
        settings = SimpleNamespace(max_actions_semaphore=slots, max_concurrent_actions=25)
        monkeypatch.setitem(sys.modules, "ansible_rulebook.conf", SimpleNamespace(settings=settings))
        assert not engine_is_busy()
        async with slots:
            assert engine_is_busy()
        assert not engine_is_busy()

    asyncio.run(scenario())
