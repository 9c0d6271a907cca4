# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Publishes clusters' events to RabbitMQ, as the sentinel does."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from typing import Any

import aio_pika
from pamqp.commands import Queue

from tests.lab.rabbitmq import RabbitMQ


class Sentinel:
    """Publishes as the sentinel's broker library does: no content type, an empty routing key."""

    def __init__(self, broker: RabbitMQ, kind: str = "topic") -> None:
        self.url = broker.url
        self.topic = f"clusters-{uuid.uuid4().hex[:8]}"
        self.kind = kind

    async def publish(self, *bodies: bytes, **headers: str) -> None:
        async with await aio_pika.connect(self.url) as connection:
            channel = await connection.channel()
            exchange = await channel.declare_exchange(self.topic, self.kind, durable=True)
            messages = [aio_pika.Message(body, headers=dict(headers), delivery_mode=2) for body in bodies]
            await asyncio.gather(*(exchange.publish(message, routing_key="") for message in messages))

    async def left(self, subscription: str = "sub") -> int:
        """How many messages are ready in the queue."""
        return (await self._queue(subscription)).message_count or 0

    async def listens(self, subscription: str = "sub") -> None:
        """Wait until the queue has a consumer."""
        for _try in range(600):
            with contextlib.suppress(aio_pika.exceptions.ChannelClosed):  # There is no queue yet.
                if (await self._queue(subscription)).consumer_count:
                    return
            await asyncio.sleep(0.05)
        raise AssertionError("the queue has no consumer")

    async def _queue(self, subscription: str) -> Queue.DeclareOk:
        """The numbers of the queue's messages and consumers."""
        async with await aio_pika.connect(self.url) as connection:
            channel = await connection.channel()
            queue = await channel.declare_queue(f"{self.topic}-{subscription}", passive=True)
            return queue.declaration_result

    def broker(self, **changed: Any) -> dict[str, Any]:
        """The source's option ``broker``."""
        described = {"type": "rabbitmq", "url": self.url, "topic": self.topic, "subscription": "sub"}
        return {**described, **changed}
