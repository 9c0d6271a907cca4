# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event source with Google's Pub/Sub emulator."""

from __future__ import annotations

import asyncio
import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.lab.pubsub import PubSub
from tests.support.adapter_events.engine import Engine
from tests.support.adapter_events.source import cloud_event, running
from tests.support.waiting import until

pytestmark = [
    pytest.mark.real("java", "pubsub-emulator"),
    pytest.mark.alone,
    pytest.mark.usefixtures("no_password"),
]


class Topic(PubSub):
    """A topic of this test, with its own subscription."""

    def __init__(self, of: PubSub, *, ack_deadline: int = 10) -> None:
        super().__init__(of.emulator, topic=f"clusters-{uuid.uuid4().hex[:8]}")
        self.name = f"sub-{uuid.uuid4().hex[:8]}"
        self.create(self.name, ack_deadline=ack_deadline)

    def broker(self, **changed: Any) -> dict[str, Any]:
        described = {
            "type": "gcp-pubsub",
            "projectId": self.project,
            "subscription": self.name,
            "endpoint": f"http://{self.emulator.host}",
        }
        return {**described, **changed}


def test_events_are_runs_and_nothing_is_left(emulator: PubSub, tmp_path: Path) -> None:
    async def scenario() -> None:
        topic = Topic(emulator)
        async with running(topic.broker(), tmp_path, batch={"window": 0.5}) as engine:
            topic.publish(*(cloud_event(f"cls-{one}") for one in range(300)))
            # Binary content mode: the attributes of the event are attributes of the message.
            topic.publish(b'{"id": "cls-300"}', attributes={"ce-type": "any", "ce-id": "1"})
            topic.publish(b"garbage")
            await engine.settled(301)
            assert set(engine.clusters) == {f"cls-{one}" for one in range(301)}
            assert len(engine.clusters) == 301
            assert engine.told.words == ["not_json"]
        assert topic.left(topic.name) == 0

    asyncio.run(scenario())


@pytest.mark.nightly
def test_what_waits_longer_than_the_deadline_is_not_delivered_again(emulator: PubSub, tmp_path: Path) -> None:
    async def scenario() -> None:
        topic = Topic(emulator, ack_deadline=10)
        engine = Engine(lambda number: "hold" if number == 0 else "end")
        async with running(topic.broker(ackDeadline=10), tmp_path, engine):
            topic.publish(cloud_event("cls-1"))
            await engine.until(lambda engine: bool(engine.at_work))
            topic.publish(cloud_event("cls-2"))
            await until(lambda: engine.told.events == 2)
            await asyncio.sleep(14)  # until the ack deadline has passed; Pub/Sub allows no less than 10 s
            engine.go.set()
            await engine.settled(2)
            assert engine.told.events == 2
            assert engine.clusters == ["cls-1", "cls-2"]

    asyncio.run(scenario())


@pytest.mark.nightly
def test_what_was_not_done_comes_again_at_once_after_the_end(emulator: PubSub, tmp_path: Path) -> None:
    async def scenario() -> None:
        topic = Topic(emulator, ack_deadline=600)
        engine = Engine(lambda _number: "hold")
        async with running(topic.broker(), tmp_path, engine):
            topic.publish(cloud_event("cls-1"))
            await engine.until(lambda engine: bool(engine.at_work))
        async with running(topic.broker(), tmp_path) as engine:
            await engine.settled(1)
            assert engine.clusters == ["cls-1"]
        assert topic.left(topic.name) == 0

    asyncio.run(scenario())


@pytest.mark.nightly
def test_the_source_pulls_no_more_than_prefetch(emulator: PubSub, tmp_path: Path) -> None:
    async def scenario() -> None:
        topic = Topic(emulator)
        engine = Engine(lambda number: "hold" if number == 0 else "end")
        async with running(topic.broker(prefetch=5), tmp_path, engine):
            topic.publish(*(cloud_event(f"cls-{one}") for one in range(5)))
            await engine.until(lambda engine: bool(engine.at_work))
            await until(lambda: engine.told.events == 5)
            # One response may contain more messages than requested; the source pulls no further ones.
            for one in range(5, 20):
                topic.publish(cloud_event(f"cls-{one}"))
            await asyncio.sleep(1.0)  # nothing may happen, so there is no state to wait for
            assert engine.told.events == 5
            engine.go.set()
            await until(lambda: len(set(engine.clusters)) == 20)

    asyncio.run(scenario())


@pytest.mark.nightly
def test_a_subscription_that_comes_late_and_a_service_that_was_away(
    emulator: PubSub, tmp_path: Path, no_password: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        topic = Topic(emulator)
        path = topic.subscription_path("late")
        async with running(topic.broker(subscription="late"), tmp_path) as engine:
            await until(lambda: f"{path}: NotFound" in no_password.text)
            topic.subscribe("late")
            await until(lambda: engine.told.connected[-1:] == [True])
            topic.publish(cloud_event("cls-1"))
            await engine.settled(1)
            # The emulator keeps nothing when it stops.
            emulator.emulator.down()
            await until(lambda: engine.told.connected[-1] is False)
            await asyncio.to_thread(emulator.emulator.up)
            again = PubSub(emulator.emulator, topic=topic.topic)
            again.create("late")
            await until(lambda: engine.told.connected[-1] is True)
            again.publish(cloud_event("cls-2", data=json.dumps({"id": "cls-2"})))
            await engine.settled(2)
            assert engine.clusters == ["cls-1", "cls-2"]

    asyncio.run(scenario())
