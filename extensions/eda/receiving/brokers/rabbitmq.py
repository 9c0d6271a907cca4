# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""RabbitMQ, in the layout of the sentinel's broker library.

The exchange has the name of the sentinel's topic, messages have an empty routing key, and each subscription
has a durable queue ``{queue or topic}-{subscription}``. The library's own reconnecting is not used: messages
of a lost connection are delivered again, so nothing is carried over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.brokers.base import (
    LOGGER,
    Broker,
    Message,
    Take,
    number_option,
    reconnecting,
    text_option,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.recorder import ActivityRecorder
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.messaging.rabbitmq import (
    AmqpAddress,
    declare_exchange,
    import_aio_pika,
    rabbitmq_error,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError

__all__ = ["RabbitMQBroker"]

_MOST = 65535
_TIMEOUT = 30.0


@dataclass(frozen=True)
class RabbitMQBroker(Broker):
    """One queue of one RabbitMQ.

    :param address: the broker and the user.
    :param exchange_type: ``topic`` or ``fanout``: the type of the exchange, also of a new one.
    :param prefetch: maximum number of unacknowledged messages.
    """

    NAME: ClassVar[str] = "rabbitmq"
    OPTIONS: ClassVar[tuple[str, ...]] = (
        "url",
        "url_file",
        "ca_cert",
        "topic",
        "exchange",
        "exchange_type",
        "queue",
        "subscription",
        "prefetch",
    )

    address: AmqpAddress
    exchange: str
    exchange_type: str
    queue: str
    prefetch: int
    _library: Any = field(repr=False, compare=False)

    @classmethod
    def validate(cls, options: Mapping[str, Any], prefetch: int) -> RabbitMQBroker:
        """See ``Broker``."""
        exchange = text_option(options, "exchange", options.get("topic"))
        return cls(
            AmqpAddress.of(options, "broker"),
            exchange,
            _exchange_type(options),
            _queue(options, exchange),
            number_option(options, "prefetch", prefetch, _MOST),
            import_aio_pika(),
        )

    async def run(self, take: Take, recorder: ActivityRecorder) -> None:
        """See ``Broker``."""
        await reconnecting(lambda connected: self._session(take, connected), self._explain, recorder)

    async def acknowledge(self, tokens: Sequence[Any]) -> int:
        """See ``Broker``."""
        acknowledged = 0
        for message in tokens:
            if message.channel.is_closed:
                continue
            try:
                await message.ack()
                acknowledged += 1
            except Exception as error:  # noqa: BLE001 - the connection is lost: it is delivered again
                LOGGER.debug("not acknowledged (%s)", type(error).__name__)
        return acknowledged

    def _explain(self, error: BaseException) -> str:
        return str(rabbitmq_error(error, self.address.place))

    async def _session(self, take: Take, connected: Callable[[], None]) -> None:
        # Read again each time: passwords are rotated.
        connection = await self._library.connect(
            self.address.url(), ssl_context=self.address.context(), timeout=_TIMEOUT
        )
        lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def ended(*_unused: Any) -> None:
            if not lost.done():
                lost.set_result(None)

        try:
            await declare_exchange(connection, self.exchange, self.exchange_type)
            await self._declare_queue(connection)
            channel = await connection.channel(publisher_confirms=False)
            await channel.set_qos(prefetch_count=self.prefetch)
            underlay = await channel.get_underlay_channel()
            underlay.on_consumer_cancel_callbacks.add(ended)
            channel.close_callbacks.add(ended)
            connection.close_callbacks.add(ended)

            async def received(message: Any) -> None:
                take(Message(message.body, _headers(message), message))

            queue = await channel.get_queue(self.queue, ensure=False)
            await queue.consume(received)
            connected()
            LOGGER.info("RabbitMQ at %s: receiving from %s", self.address.place, self.queue)
            await lost
        finally:
            await connection.close()

    async def _declare_queue(self, connection: Any) -> None:
        """Create the queue and its binding if they are missing; without that permission, use the existing
        ones.
        """
        errors = self._library.exceptions
        channel = await connection.channel()
        try:
            # An existing queue is used with its own settings (a dead-letter exchange, a quorum).
            await channel.declare_queue(self.queue, passive=True)
        except errors.ChannelNotFoundEntity:
            channel = await connection.channel()
            await channel.declare_queue(self.queue, durable=True)
        try:
            queue = await channel.get_queue(self.queue, ensure=False)
            await queue.bind(self.exchange, routing_key="")
        except errors.ChannelClosed as error:
            if type(error).__name__ != "ChannelAccessRefused":
                raise
            LOGGER.warning(
                "RabbitMQ at %s: no permission to bind queue %s: only its existing bindings are used",
                self.address.place,
                self.queue,
            )
        else:
            await channel.close()


def _exchange_type(options: Mapping[str, Any]) -> str:
    kind = text_option(options, "exchange_type", "topic")
    if kind not in ("topic", "fanout"):
        raise ConfigurationError("broker.exchange_type must be topic or fanout")
    return kind


def _queue(options: Mapping[str, Any], exchange: str) -> str:
    """Return the name of the queue. Without a subscription, ``queue`` is the full name."""
    if options.get("queue") and not options.get("subscription"):
        return text_option(options, "queue")
    return f"{text_option(options, 'queue', exchange)}-{text_option(options, 'subscription')}"


def _headers(message: Any) -> dict[str, Any]:
    return dict(message.headers or {})
