# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``cloud_event``: what it publishes, what the event source reads of it, and how it fails."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import aio_pika
import pytest

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.cloud_events import read_message
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import cloud_event
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import validated_by_spec
from conftest import COLLECTIONS_PATH
from tests.lab.pubsub import PubSub
from tests.lab.rabbitmq import PASSWORD, RabbitMQ
from tests.lab.supervisor import free_ports
from tests.support.adapter_events.source import running

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
NEEDS_RABBITMQ = pytest.mark.real("root", "apt-get")


def publish(broker: dict[str, Any], *, check_mode: bool = False, **options: Any) -> dict[str, Any]:
    params = validated_by_spec(cloud_event.spec(), {"broker": broker, **options})
    return cloud_event.run(params, check_mode=check_mode, diff=False)


def address_file(directory: Path, broker: RabbitMQ) -> str:
    path = directory / "address"
    path.write_text(broker.url)
    return str(path)


def topic() -> str:
    return f"published-{uuid.uuid4().hex[:8]}"


async def bound_queue(broker: RabbitMQ, name: str, **arguments: Any) -> None:
    connection = await aio_pika.connect(broker.url)
    async with connection:
        channel = await connection.channel()
        exchange = await channel.declare_exchange(name, "topic", durable=True)
        queue = await channel.declare_queue(f"{name}-sub", durable=True, arguments=arguments)
        await queue.bind(exchange, routing_key="")


async def bodies(broker: RabbitMQ, name: str) -> list[bytes]:
    connection = await aio_pika.connect(broker.url)
    found = []
    async with connection:
        channel = await connection.channel()
        queue = await channel.declare_queue(f"{name}-sub", passive=True)
        while (message := await queue.get(fail=False)) is not None:
            assert message.content_type is None
            found.append(message.body)
            await message.ack()
    return found


@NEEDS_RABBITMQ
def test_rabbitmq_has_what_the_sentinel_would_have_published(broker: RabbitMQ, tmp_path: Path) -> None:
    name = topic()
    asyncio.run(bound_queue(broker, name))
    described = {"type": "rabbitmq", "url_file": address_file(tmp_path, broker), "topic": name}
    targets = [
        {"cluster_id": "cls-2", "generation": 4, "type": "cluster.create", "traceparent": TRACE, "id": "own"},
        {"cluster_id": "../no"},
    ]
    result = publish(described, cluster_ids=["cls-1"], targets=targets, source="tests")
    assert result["failed"]
    assert result["summary"] == {"total": 3, "changed": 2, "failed": 1}
    assert [(row["id"], row["changed"]) for row in result["targets"]] == [
        ("cls-1", True),
        ("cls-2", True),
        ("../no", False),
    ]
    assert PASSWORD not in json.dumps(result)
    first, second = (json.loads(body) for body in asyncio.run(bodies(broker, name)))
    assert uuid.UUID(first["id"]).version == 7
    assert first == {
        "specversion": "1.0",
        "id": result["targets"][0]["event"],
        "source": "tests",
        "type": "com.redhat.hyperfleet.cluster.reconcile",
        "datacontenttype": "application/json",
        "data": {"id": "cls-1", "kind": "Cluster", "href": "/api/hyperfleet/v1/clusters/cls-1"},
    }
    assert (second["id"], second["type"], second["data"]["generation"]) == ("own", "cluster.create", 4)
    [event] = read_message(json.dumps(second).encode()).events
    assert (event.cluster_id, event.type, event.traceparent) == ("cls-2", "cluster.create", TRACE)


@NEEDS_RABBITMQ
def test_a_full_queue_is_not_a_missing_one(broker: RabbitMQ, tmp_path: Path) -> None:
    name = topic()
    asyncio.run(bound_queue(broker, name, **{"x-max-length": 1, "x-overflow": "reject-publish"}))
    described = {"type": "rabbitmq", "url_file": address_file(tmp_path, broker), "exchange": name}
    assert not publish(described, cluster_ids=["cls-1"]).get("failed")
    result = publish(described, cluster_ids=["cls-1"])
    assert result["failed"]
    assert (
        "RabbitMQ did not accept the event; check whether a queue bound to the exchange is full"
        in result["msg"]
    )


@NEEDS_RABBITMQ
def test_what_reaches_no_queue_is_a_failure_and_check_mode_publishes_nothing(
    broker: RabbitMQ, tmp_path: Path
) -> None:
    name = topic()
    described = {"type": "rabbitmq", "url_file": address_file(tmp_path, broker), "exchange": name}
    result = publish(described, cluster_ids=["cls-1"])
    assert result["failed"]
    assert "no queue is bound to the exchange" in result["msg"]
    asyncio.run(bound_queue(broker, name))
    result = publish(described, cluster_ids=["cls-1"], check_mode=True)
    assert result["changed"]
    assert asyncio.run(bodies(broker, name)) == []
    assert publish(described, cluster_ids=[f"cls-{one}" for one in range(500)])["summary"]["changed"] == 500
    assert len(asyncio.run(bodies(broker, name))) == 500
    # The exchange exists with another type.
    result = publish({**described, "exchange_type": "fanout"}, cluster_ids=["cls-1"])
    assert "is not a durable fanout exchange" in result["msg"]


@NEEDS_RABBITMQ
def test_the_module_as_a_process(broker: RabbitMQ, tmp_path: Path) -> None:
    name = topic()
    asyncio.run(bound_queue(broker, name))
    described = {"type": "rabbitmq", "url_file": address_file(tmp_path, broker), "topic": name}
    play = [
        {
            "hosts": "localhost",
            "gather_facts": False,
            "tasks": [
                {
                    "name": "Publish",
                    "hyperfleet.pull_secret.cloud_event": {"broker": described, "cluster_ids": ["cls-1"]},
                }
            ],
        }
    ]
    (tmp_path / "play.yml").write_text(json.dumps(play))
    command = [
        str(Path(sys.executable).parent / "ansible-playbook"),
        "-vvv",
        "-i",
        "localhost,",
        "-c",
        "local",
    ]
    command += ["-e", f"ansible_python_interpreter={sys.executable}", str(tmp_path / "play.yml")]
    environment = {**__import__("os").environ, "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS_PATH)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert PASSWORD not in done.stdout + done.stderr
    assert len(asyncio.run(bodies(broker, name))) == 1


@pytest.mark.real("java", "pubsub-emulator")
def test_pubsub(emulator: PubSub) -> None:
    own = PubSub(emulator.emulator, topic=topic())
    own.create(f"{own.topic}-sub")
    described = {
        "type": "gcp-pubsub",
        "project_id": own.project,
        "topic": own.topic,
        "endpoint": f"http://{emulator.emulator.host}",
    }
    result = publish(described, cluster_ids=[f"cls-{one}" for one in range(1200)])
    assert result["summary"] == {"total": 1200, "changed": 1200, "failed": 0}
    assert own.left(f"{own.topic}-sub") == 1200
    result = publish({**described, "topic": "none"}, cluster_ids=["cls-1"])
    assert "topics/none: NotFound" in result["msg"]


def test_a_webhook_and_the_source_that_listens_there(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("webhook-token")
    listen = f"127.0.0.1:{free_ports(1)[0]}"

    async def scenario() -> None:
        described = {"type": "webhook", "listen": listen, "tokenFile": str(token)}
        async with running(described, tmp_path) as engine:
            to = {"type": "webhook", "url": f"http://{listen}/", "token_file": str(token)}
            while True:
                result = await asyncio.to_thread(publish, to, cluster_ids=["cls-1", "cls-2"])
                if not result.get("failed"):
                    break
                assert "no answer" in result["msg"]
                await asyncio.sleep(0.05)
            await engine.settled(2)
            assert set(engine.clusters) == {"cls-1", "cls-2"}
            result = await asyncio.to_thread(publish, {**to, "token_file": None}, cluster_ids=["cls-3"])
            assert "HTTP 401" in result["msg"]

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("broker", "words"),
    [
        ({"type": "rabbitmq", "url": "amqp://user:s3cret@127.0.0.1/", "topic": "t"}, "contains a password"),
        ({"type": "rabbitmq", "url": "http://127.0.0.1/s3cret", "topic": "t"}, "must be an amqp"),
        ({"type": "rabbitmq", "url": "amqp://127.0.0.1/"}, "broker.topic is missing"),
        ({"type": "gcp-pubsub", "topic": "t", "project_id": ""}, "must be the names"),
        ({"type": "webhook", "url": "https://user:s3cret@127.0.0.1/"}, "without a password"),
    ],
)
def test_a_broker_that_is_not_described(broker: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words) as error:
        publish(broker, cluster_ids=["cls-1"])
    assert "s3cret" not in str(error.value)
