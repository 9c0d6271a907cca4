# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of examples that publish events."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from google.pubsub_v1 import types

from tests.docs.world import World
from tests.support.processes import Finished

_published: list[dict[str, Any]] = []
_server: list[grpc.Server] = []


def pubsub(world: World) -> None:
    """What takes messages as Pub/Sub does, and keeps them."""
    request, response = types.PublishRequest.pb(), types.PublishResponse.pb()

    def publish(asked: Any, _context: Any) -> Any:
        assert asked.topic == "projects/hyperfleet-prod/topics/hyperfleet-clusters"
        _published.extend(json.loads(message.data) for message in asked.messages)
        return response(message_ids=[str(number) for number in range(len(asked.messages))])

    handler = grpc.unary_unary_rpc_method_handler(
        publish,
        request_deserializer=request.FromString,
        response_serializer=response.SerializeToString,
    )
    server = grpc.server(ThreadPoolExecutor(1))
    service = grpc.method_handlers_generic_handler("google.pubsub.v1.Publisher", {"Publish": handler})
    server.add_generic_rpc_handlers((service,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    _server.append(server)
    world.ansible.env["PUBSUB_EMULATOR_HOST"] = f"127.0.0.1:{port}"


def published(_world: World, done: Finished) -> None:
    _server.pop().stop(None)
    assert done.result["summary"] == {"total": 2, "changed": 2, "failed": 0}
    assert [event["data"]["id"] for event in _published] == ["cls-123", "cls-456"]
    assert [event["id"] for event in _published] == [row["event"] for row in done.result["targets"]]
    _published.clear()


def rabbitmq_address(world: World) -> None:
    world.write("/etc/hyperfleet/broker-url", "amqp://hyperfleet:example-password@rabbitmq.example.com/")


def would_be_published(_world: World, done: Finished) -> None:
    [row] = done.result["targets"]
    assert (row["changed"], row["place"]) == (True, "rabbitmq:rabbitmq.example.com:5672/hyperfleet-clusters")
    assert "example-password" not in done.output
