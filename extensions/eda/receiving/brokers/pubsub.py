# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Google Cloud Pub/Sub: pulls, and keeps what it holds from being delivered to others meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.brokers.base import (
    LOGGER,
    Broker,
    Message,
    Take,
    number,
    reconnecting,
    text,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.telling import Telling
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.messaging.pubsub import (
    Service,
    failure,
    subscription_path,
)

__all__ = ["PubSub"]

# The service's own limits: messages of one pull, ids of one request, seconds of a deadline.
_PULL, _IDS, _LONGEST = 1000, 1000, 600
# Seconds: a pull without messages, any other call, between two looks at deadlines, and before one's end.
_WAIT, _CALL, _LOOK, _MARGIN = 90.0, 30.0, 2.0, 5.0
# A subscription's deadline, as long as we have not said another.
_UNKNOWN = 10.0


@dataclass(frozen=True)
class PubSub(Broker):
    """One subscription.

    :param path: its full name.
    :param ack_deadline: seconds for which what is held is kept from others at a time.
    :param prefetch: messages that are held at most.
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
    service: Service
    ack_deadline: int
    prefetch: int
    # Of ids for acknowledging to when the service delivers their messages to others.
    _held: dict[str, float] = field(default_factory=dict, repr=False, compare=False)
    _room: asyncio.Event = field(default_factory=asyncio.Event, repr=False, compare=False)
    _client: list[Any] = field(default_factory=list, repr=False, compare=False)

    @classmethod
    def validate(cls, options: Mapping[str, Any], prefetch: int) -> PubSub:
        """See ``Broker``."""
        project = options.get("project_id") or os.environ.get("GOOGLE_CLOUD_PROJECT")
        return cls(
            subscription_path(text({"project_id": project}, "project_id"), text(options, "subscription")),
            Service.of(options, "broker"),
            number(options, "ack_deadline", 60, _LONGEST),
            number(options, "prefetch", prefetch, 10**6),
        )

    async def run(self, take: Take, telling: Telling) -> None:
        """See ``Broker``."""
        await reconnecting(lambda connected: self._session(take, connected), self._explain, telling)

    async def acknowledge(self, tokens: Sequence[Any]) -> int:
        """See ``Broker``."""
        told = 0
        for begin in range(0, len(tokens), _IDS):
            ids = list(tokens[begin : begin + _IDS])
            for one in ids:
                self._held.pop(one, None)
            self._room.set()
            if not self._client:
                continue
            try:
                await self._client[-1].acknowledge(
                    subscription=self.path, ack_ids=ids, timeout=_CALL, retry=None
                )
                told += len(ids)
            except Exception as error:  # noqa: BLE001 - they are delivered again
                LOGGER.warning("%s; %d messages were not acknowledged", self._explain(error), len(ids))
        return told

    def _explain(self, error: BaseException) -> str:
        return str(failure(error, self.path))

    async def _session(self, take: Take, connected: Callable[[], None]) -> None:
        client = self.service.subscriber()
        self._client.append(client)
        keeping = asyncio.create_task(self._keep(client))
        try:
            await self._find(client)
            connected()
            LOGGER.info("Pub/Sub: receiving from %s", self.path)
            while True:
                if (room := self.prefetch - len(self._held)) <= 0:
                    self._room.clear()
                    await self._room.wait()
                    continue
                await self._pull(client, min(room, _PULL), take)
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
            if (task := asyncio.current_task()) is not None and task.cancelling():
                await self._give_back(client)
            self._client.remove(client)
            await client.transport.close()

    async def _find(self, client: Any) -> None:
        """Ask whether there is such a subscription: a pull may wait for long. Not all who pull may ask."""
        try:
            await client.get_subscription(subscription=self.path, timeout=_CALL, retry=None)
        except Exception as error:
            if type(error).__name__ != "PermissionDenied":
                raise

    async def _give_back(self, client: Any) -> None:
        """At the end: what is held is delivered to others at once."""
        ids = list(self._held)[:_IDS]
        with contextlib.suppress(Exception):
            await client.modify_ack_deadline(
                subscription=self.path, ack_ids=ids, ack_deadline_seconds=0, timeout=2.0, retry=None
            )

    async def _pull(self, client: Any, most: int, take: Take) -> None:
        request = {"subscription": self.path, "max_messages": most}
        try:
            answer = await client.pull(request=request, timeout=_WAIT, retry=None)
        except Exception as error:
            if type(error).__name__ == "DeadlineExceeded":
                return
            raise
        until = time.monotonic() + _UNKNOWN
        for received in answer.received_messages:
            self._held[received.ack_id] = until
            take(Message(received.message.data, dict(received.message.attributes), received.ack_id))

    async def _keep(self, client: Any) -> None:
        """Ask for more time for whatever is held; never returns."""
        while True:
            now = time.monotonic()
            ending = [one for one, until in self._held.items() if until - now < _LOOK + _MARGIN]
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
                except Exception as error:  # noqa: BLE001 - it is tried again, or they are delivered again
                    LOGGER.debug("%s", self._explain(error))
                    continue
                for one in ids:
                    if one in self._held:
                        self._held[one] = now + self.ack_deadline
            await asyncio.sleep(_LOOK)
