# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event source with a real RabbitMQ: it redelivers messages until their run has ended, whatever fails."""

from __future__ import annotations

import asyncio
import re
import runpy
from collections.abc import Sequence
from pathlib import Path

import aio_pika
import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from tests.lab.rabbitmq import PASSWORD, RabbitMQ
from tests.support.adapter_events.engine import Engine
from tests.support.adapter_events.sentinel import Sentinel
from tests.support.adapter_events.source import SOURCE, cloud_event, running
from tests.support.relay import Relay
from tests.support.waiting import until

pytestmark = [pytest.mark.real("root", "apt-get"), pytest.mark.alone, pytest.mark.usefixtures("no_password")]


def clusters(count: int) -> list[str]:
    return [f"cls-{number}" for number in range(count)]


def events(names: Sequence[str]) -> list[bytes]:
    return [cloud_event(name) for name in names]


@pytest.mark.parametrize("kind", ["topic", "fanout"])
def test_many_events_are_few_runs_and_nothing_is_left(broker: RabbitMQ, tmp_path: Path, kind: str) -> None:
    async def scenario() -> None:
        sentinel = Sentinel(broker, kind)
        async with running(sentinel.broker(exchangeType=kind), tmp_path, batch={"window": 0.5}) as engine:
            await sentinel.listens()
            await sentinel.publish(*events(clusters(300) * 2))
            await engine.settled(600)
            assert set(engine.clusters) == set(clusters(300))
            assert len(engine.batches) <= 10
        assert await sentinel.left() == 0

    asyncio.run(scenario())


@pytest.mark.nightly
def test_messages_are_acknowledged_after_the_run_and_not_before(broker: RabbitMQ, tmp_path: Path) -> None:
    async def scenario() -> None:
        sentinel = Sentinel(broker)
        async with running(sentinel.broker(), tmp_path, Engine(lambda _number: "hold")) as engine:
            await sentinel.listens()
            await sentinel.publish(*events(clusters(5)))
            await engine.until(lambda engine: len(engine.at_work) == 5)
            assert await sentinel.left() == 0
        # The source has stopped: RabbitMQ delivers the messages to the next one.
        assert await sentinel.left() == 5
        async with running(sentinel.broker(), tmp_path) as engine:
            await engine.settled(5)
            assert sorted(engine.clusters) == clusters(5)
        assert await sentinel.left() == 0

    asyncio.run(scenario())


@pytest.mark.nightly
def test_garbage_is_acknowledged(broker: RabbitMQ, tmp_path: Path) -> None:
    async def scenario() -> None:
        sentinel = Sentinel(broker)
        async with running(sentinel.broker(), tmp_path) as engine:
            await sentinel.listens()
            await sentinel.publish(b"", b"garbage", b'{"data": {}}', cloud_event("cls-1"))
            binary = {"cloudEvents:type": "any"}
            await sentinel.publish(b'{"id": "cls-2"}', **binary)
            await engine.settled(2)
            assert set(engine.clusters) == {"cls-1", "cls-2"}
            assert engine.told.words == ["not_json", "not_json", "no_id"]
        assert await sentinel.left() == 0

    asyncio.run(scenario())


@pytest.mark.nightly
def test_after_a_lost_connection_redelivered_messages_are_the_same_clusters(
    broker: RabbitMQ, tmp_path: Path
) -> None:
    async def scenario() -> None:
        sentinel = Sentinel(broker)
        async with Relay(broker.port) as relay:
            url = broker.url.replace(str(broker.port), str(relay.port))
            engine = Engine(lambda number: "hold" if number == 0 else "end")
            async with running(sentinel.broker(url=url), tmp_path, engine):
                await sentinel.listens()
                await sentinel.publish(*events(clusters(3)))
                await engine.until(lambda engine: len(engine.at_work) == 3)
                await sentinel.publish(*events(["cls-2", "cls-3"]))
                # Cut the connection during a run, while messages wait.
                relay.cut()
                await until(lambda: relay.accepted >= 2)
                await sentinel.listens()
                # RabbitMQ delivered all messages again.
                await until(lambda: engine.told.events == 10)
                engine.go.set()
                await engine.until(lambda engine: engine.ended == 2)
                assert sorted(engine.batches[1]) == clusters(4)
                # The source cannot acknowledge messages of the lost connection.
                await engine.settled(10)
                assert len(engine.batches) == 2
                assert engine.told.connected == [True, False, True]
            assert await sentinel.left() == 0

    asyncio.run(scenario())


@pytest.mark.parametrize("crash", [False, True])
def test_a_broker_that_is_restarted_is_found_again(broker: RabbitMQ, tmp_path: Path, crash: bool) -> None:
    async def scenario() -> None:
        sentinel = Sentinel(broker)
        engine = Engine(lambda number: "hold" if number == 0 else "end")
        async with running(sentinel.broker(), tmp_path, engine):
            await sentinel.listens()
            await sentinel.publish(*events(["cls-0"]))
            await engine.until(lambda engine: len(engine.at_work) == 1)
            await sentinel.publish(*events(["cls-1"]))
            await asyncio.to_thread(broker.kill if crash else broker.down)
            await asyncio.to_thread(broker.up)
            engine.go.set()
            await sentinel.listens()
            await sentinel.publish(*events(["cls-2"]))
            await engine.until(lambda engine: {"cls-1", "cls-2"} <= set(engine.clusters))
            await engine.settled(5)
        assert await sentinel.left() == 0

    asyncio.run(scenario())


@pytest.mark.nightly
def test_a_deleted_queue_is_created_again(broker: RabbitMQ, tmp_path: Path) -> None:
    async def scenario() -> None:
        sentinel = Sentinel(broker)
        async with running(sentinel.broker(queue="other"), tmp_path) as engine:
            own = Sentinel(broker)
            own.topic = "other"
            await own.listens()
            connection = await aio_pika.connect(broker.url)
            async with connection:
                channel = await connection.channel()
                await channel.queue_delete("other-sub")
            await own.listens()
            await sentinel.publish(*events(["cls-1"]))
            await engine.until(lambda engine: engine.clusters == ["cls-1"])

    asyncio.run(scenario())


@pytest.mark.nightly
def test_an_exchange_of_another_type_is_a_clear_error(broker: RabbitMQ, tmp_path: Path) -> None:
    async def scenario() -> None:
        sentinel = Sentinel(broker, "fanout")
        await sentinel.publish()
        main = runpy.run_path(str(SOURCE))["main"]
        arguments = {"broker": sentinel.broker(), "run_dir": str(tmp_path / "runs")}
        async with asyncio.timeout(60):
            await main(Engine(), arguments)

    with pytest.raises(ConfigurationError) as error:
        asyncio.run(scenario())
    assert re.search(
        "the exchange clusters-.* of RabbitMQ exists but is not a durable topic", str(error.value)
    )
    assert "set exchange_type" in str(error.value)


@pytest.mark.nightly
def test_a_wrong_password_is_reported_without_it_and_the_right_one_is_found(
    broker: RabbitMQ, tmp_path: Path, no_password: pytest.LogCaptureFixture
) -> None:
    address = tmp_path / "url"
    address.write_text(broker.url.replace(PASSWORD, "wrong-s3cret"))

    async def scenario() -> None:
        sentinel = Sentinel(broker)
        described = sentinel.broker(urlFile=str(address))
        del described["url"]
        async with running(described, tmp_path) as engine:
            await until(lambda: "the user or the password is refused" in no_password.text)
            address.write_text(broker.url)
            await sentinel.listens()
            await sentinel.publish(*events(["cls-1"]))
            await engine.until(lambda engine: engine.clusters == ["cls-1"])

    asyncio.run(scenario())
    assert "wrong-s3cret" not in no_password.text
    assert f"127.0.0.1:{broker.port}" in no_password.text
