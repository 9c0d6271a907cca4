# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Receives from Google Cloud Pub/Sub over one stream, and extends the deadlines of unacknowledged messages."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
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
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.messaging.pubsub import (
    PubSubService,
    import_pubsub,
    pubsub_error,
    subscription_path,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError

__all__ = ["PubSubBroker"]

# The service's own limits: ids of one request, seconds of a deadline.
_IDS, _SHORTEST, _LONGEST = 1000, 10, 600
# Seconds: a call, between two checks of deadlines, before the end of one, and the length of a good stream.
_CALL, _LOOK, _MARGIN, _GOOD = 30.0, 2.0, 5.0, 10.0
_CLOSING = 1.0


@dataclass(frozen=True)
class PubSubBroker(Broker):
    """One subscription.

    :param path: its full name.
    :param ack_deadline: seconds of each extension of a message's deadline.
    :param prefetch: maximum number of unacknowledged messages.
    """

    NAME: ClassVar[str] = "gcp-pubsub"
    OPTIONS: ClassVar[tuple[str, ...]] = (
        "project_id",
        "subscription",
        "endpoint",
        "ack_deadline",
        "prefetch",
    )

    path: str
    service: PubSubService
    ack_deadline: int
    prefetch: int
    # Ids for acknowledging to the time at which the service delivers their messages to others.
    _unacknowledged: dict[str, float] = field(default_factory=dict, repr=False, compare=False)
    _room: asyncio.Event = field(default_factory=asyncio.Event, repr=False, compare=False)
    _client: list[Any] = field(default_factory=list, repr=False, compare=False)

    @classmethod
    def validate(cls, options: Mapping[str, Any], prefetch: int) -> PubSubBroker:
        """See ``Broker``."""
        project = options.get("project_id") or os.environ.get("GOOGLE_CLOUD_PROJECT")
        if not project:
            raise ConfigurationError("broker.projectId is missing", "set it or GOOGLE_CLOUD_PROJECT")
        return cls(
            subscription_path(
                text_option({"project_id": project}, "project_id"), text_option(options, "subscription")
            ),
            PubSubService.of(options, "broker"),
            max(_SHORTEST, number_option(options, "ack_deadline", 60, _LONGEST)),
            number_option(options, "prefetch", prefetch, 10**6),
        )

    async def run(self, take: Take, recorder: ActivityRecorder) -> None:
        """See ``Broker``."""
        # Nothing acknowledges the messages of an earlier stream: they are delivered again.
        self._unacknowledged.clear()
        await reconnecting(lambda connected: self._session(take, connected), self._explain, recorder)

    async def acknowledge(self, tokens: Sequence[Any]) -> int:
        """See ``Broker``."""
        acknowledged = 0
        for begin in range(0, len(tokens), _IDS):
            ids = list(tokens[begin : begin + _IDS])
            for one in ids:
                self._unacknowledged.pop(one, None)
            self._room.set()
            if not self._client:
                continue
            try:
                await self._client[-1].acknowledge(
                    subscription=self.path, ack_ids=ids, timeout=_CALL, retry=None
                )
                acknowledged += len(ids)
            except Exception as error:  # noqa: BLE001 - they are delivered again
                LOGGER.warning("%s; %d messages were not acknowledged", self._explain(error), len(ids))
        return acknowledged

    def _explain(self, error: BaseException) -> str:
        return str(pubsub_error(error, self.path))

    async def _session(self, take: Take, connected: Callable[[], None]) -> None:
        client = self.service.subscriber()
        self._client.append(client)
        keeping = asyncio.create_task(self._keep(client))
        try:
            await self._find(client)
            connected()
            LOGGER.info("Pub/Sub: receiving from %s", self.path)
            while True:
                begun = time.monotonic()
                try:
                    await self._stream(client, take)
                except Exception as error:
                    # The service ends each stream after some time, so open a new one.
                    if type(error).__name__ != "ServiceUnavailable" or time.monotonic() - begun < _GOOD:
                        raise
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
            if (task := asyncio.current_task()) is not None and task.cancelling():
                await self._give_back(client)
            self._client.remove(client)
            await client.transport.close()

    async def _find(self, client: Any) -> None:
        """Check that the subscription exists, because a stream does not report it. The permission is
        optional.
        """
        try:
            await client.get_subscription(subscription=self.path, timeout=_CALL, retry=None)
        except Exception as error:
            if type(error).__name__ != "PermissionDenied":
                raise

    async def _give_back(self, client: Any) -> None:
        """At the end, return unacknowledged messages, which are delivered to others at once."""
        ids = list(self._unacknowledged)[:_IDS]
        if not ids:
            return
        with contextlib.suppress(Exception):
            await client.modify_ack_deadline(
                subscription=self.path, ack_ids=ids, ack_deadline_seconds=0, timeout=2.0, retry=None
            )

    async def _stream(self, client: Any, take: Take) -> None:
        """Receive until the stream ends."""
        first = {
            "subscription": self.path,
            "stream_ack_deadline_seconds": self.ack_deadline,
            "max_outstanding_messages": self.prefetch,
        }

        ended = asyncio.Event()

        async def requests() -> AsyncIterator[Any]:
            yield import_pubsub().StreamingPullRequest(first)
            # The stream stays open while another request may follow.
            await ended.wait()

        stream = await client.streaming_pull(requests=requests(), retry=None)
        # In a separate task: a cancelled read cancels the stream.
        reading = asyncio.create_task(self._read(stream, take))
        try:
            await asyncio.wait([reading])
            reading.result()
        finally:
            # A stream that is only cancelled may still receive messages for a while, which would be lost.
            ended.set()
            await asyncio.wait([reading], timeout=_CLOSING)
            reading.cancel()
            stream.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _read(self, stream: Any, take: Take) -> None:
        async for answer in stream:
            until = time.monotonic() + self.ack_deadline
            for received in answer.received_messages:
                self._unacknowledged[received.ack_id] = until
                attributes = dict(received.message.attributes)
                take(Message(received.message.data, attributes, received.ack_id))
            while len(self._unacknowledged) >= self.prefetch:
                self._room.clear()
                await self._room.wait()

    async def _keep(self, client: Any) -> None:
        """Extend the deadlines of unacknowledged messages; never returns."""
        while True:
            now = time.monotonic()
            ending = [one for one, until in self._unacknowledged.items() if until - now < _LOOK + _MARGIN]
            for begin in range(0, len(ending), _IDS):
                ids = ending[begin : begin + _IDS]
                try:
                    await client.modify_ack_deadline(
                        subscription=self.path,
                        ack_ids=ids,
                        ack_deadline_seconds=self.ack_deadline,
                        timeout=_CALL,
                        retry=None,
                    )
                except Exception as error:  # noqa: BLE001 - it is retried, or they are delivered again
                    LOGGER.debug("%s", self._explain(error))
                    continue
                for one in ids:
                    if one in self._unacknowledged:
                        self._unacknowledged[one] = now + self.ack_deadline
            await asyncio.sleep(_LOOK)
