# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sends events to a broker, each confirmed: one small class per kind of broker."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Optional, Protocol
from urllib.parse import urlsplit

from ...model.errors import ConfigurationError, NotFound, PermissionDenied, PullSecretError, Unavailable
from ...model.shown import is_name
from ..hyperfleet.api import import_urllib3 as http_imports
from ..hyperfleet.connection import TokenFile
from . import pubsub, rabbitmq
from .events import CONTENT_TYPE

__all__ = ["PUBLISHERS", "Published", "Publisher"]

# The result of each body, in order: None if the broker has it.
Published = list[Optional[PullSecretError]]
# Pub/Sub's limits of one request: messages, and bytes with room for the envelope.
_MESSAGES, _BYTES = 1000, 8 * 1024 * 1024


class Publisher(Protocol):
    """One broker. ``place`` is its name in results."""

    NAME: ClassVar[str]
    place: str

    def __init__(self, options: Mapping[str, Any]) -> None:
        """:raises ConfigurationError: the options are invalid."""

    def publish(self, bodies: Sequence[bytes], timeout: float) -> Published:
        """Send the events.

        :param timeout: seconds for all of them.
        """


class _RabbitMQPublisher:
    """An exchange, which is created if it does not exist; a message that reaches no queue is a failure."""

    NAME: ClassVar[str] = "rabbitmq"

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._library = rabbitmq.import_aio_pika()
        self._address = rabbitmq.AmqpAddress.of(options, "broker")
        if self._address.has_password():
            raise ConfigurationError(
                "broker.url contains a password, and Ansible would print it", "use broker.url_file"
            )
        self._exchange = _given(options, "exchange", "topic")
        self._kind = str(options.get("exchange_type") or "topic")
        self.place = f"rabbitmq:{self._address.place}/{self._exchange}"

    def publish(self, bodies: Sequence[bytes], timeout: float) -> Published:
        """See ``Publisher``."""
        try:
            return asyncio.run(asyncio.wait_for(self._publish(bodies), timeout))
        except Exception as error:  # noqa: BLE001 - the library's text may hold the address
            return [self._failure(error)] * len(bodies)

    async def _publish(self, bodies: Sequence[bytes]) -> Published:
        connection = await self._library.connect(self._address.url(), ssl_context=self._address.context())
        try:
            await rabbitmq.declare_exchange(connection, self._exchange, self._kind)
            channel = await connection.channel(on_return_raises=True)
            exchange = await channel.get_exchange(self._exchange, ensure=False)
            # Without a content type, as the sentinel's, because the adapter must accept those.
            messages = [self._library.Message(body, delivery_mode=2) for body in bodies]
            sent = [exchange.publish(message, routing_key="") for message in messages]
            answers = await asyncio.gather(*sent, return_exceptions=True)
        finally:
            await connection.close()
        return [self._failure(one) if isinstance(one, BaseException) else None for one in answers]

    def _failure(self, error: BaseException) -> PullSecretError:
        kind = type(error).__name__
        if kind == "PublishError":
            return NotFound(
                f"{self.place}: no queue is bound to the exchange", "start the adapter, or bind its queue"
            )
        if kind == "DeliveryError":
            return Unavailable(
                f"{self.place}: RabbitMQ did not accept the event",
                "check whether a queue bound to the exchange is full",
            )
        return rabbitmq.rabbitmq_error(error, self._address.place)


class _PubSubPublisher:
    """A topic, which must exist."""

    NAME: ClassVar[str] = "gcp-pubsub"

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._service = pubsub.PubSubService.of(options, "broker")
        project = options.get("project_id") or os.environ.get("GOOGLE_CLOUD_PROJECT") or ""
        self._path = pubsub.topic_path(str(project), _given(options, "topic"))
        self.place = f"pubsub:{self._path}"

    def publish(self, bodies: Sequence[bytes], timeout: float) -> Published:
        """See ``Publisher``."""
        found: Published = []
        try:
            client = self._service.publisher()
        except Exception as error:  # noqa: BLE001 - credentials that cannot be found, above all
            return [pubsub.pubsub_error(error, self._path)] * len(bodies)
        try:
            for part in _parts(bodies):
                try:
                    client.publish(
                        topic=self._path, messages=[{"data": body} for body in part], timeout=timeout
                    )
                    found += [None] * len(part)
                except Exception as error:  # noqa: BLE001 - a part's failure stays that part's
                    found += [pubsub.pubsub_error(error, self._path)] * len(part)
        finally:
            client.transport.close()
        return found


class _WebhookPublisher:
    """A URL to which events are posted."""

    NAME: ClassVar[str] = "webhook"

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._urllib3 = http_imports()
        url = str(options.get("url") or "")
        try:
            parts = urlsplit(url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
        except ValueError:
            usable = False
        if not usable or not is_name(parts.netloc):
            raise ConfigurationError("broker.url must be an http or https address without a password")
        self._url = url
        self.place = f"{parts.scheme}://{parts.netloc}"
        token_file = options.get("token_file")
        self._token = TokenFile(str(token_file)) if token_file else None
        self._pool = self._urllib3.PoolManager(ca_certs=options.get("ca_cert") or None)

    def publish(self, bodies: Sequence[bytes], timeout: float) -> Published:
        """See ``Publisher``."""
        return [self._one(body, timeout) for body in bodies]

    def _one(self, body: bytes, timeout: float) -> PullSecretError | None:
        headers = {"Content-Type": CONTENT_TYPE}
        try:
            if self._token is not None:
                headers["Authorization"] = f"Bearer {self._token.token()}"
            answer = self._pool.request(
                "POST",
                self._url,
                body=body,
                headers=headers,
                timeout=self._urllib3.Timeout(total=timeout),
                retries=False,
                redirect=False,
            )
        except PullSecretError as error:
            return error
        except self._urllib3.exceptions.HTTPError as error:
            return Unavailable(f"{self.place}: no answer ({type(error).__name__})")
        if 200 <= answer.status < 300:
            return None
        kind = PermissionDenied if answer.status in (401, 403) else Unavailable
        return kind(f"{self.place}: HTTP {answer.status}")


PUBLISHERS: dict[str, type[Publisher]] = {
    one.NAME: one for one in (_PubSubPublisher, _RabbitMQPublisher, _WebhookPublisher)
}


def _given(options: Mapping[str, Any], *names: str) -> str:
    """Return the first of these options that is given, as a name."""
    value = next((str(options[name]) for name in names if options.get(name)), "")
    if not is_name(value):
        raise ConfigurationError(f"broker.{names[-1]} is missing or is not a valid name")
    return value


def _parts(bodies: Sequence[bytes]) -> list[list[bytes]]:
    parts: list[list[bytes]] = []
    size = 0
    for body in bodies:
        if not parts or len(parts[-1]) == _MESSAGES or size + len(body) > _BYTES:
            parts.append([])
            size = 0
        parts[-1].append(body)
        size += len(body)
    return parts
