# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a broker is to the source: a receive loop that never ends, and the word that a message is done."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.recorder import ActivityRecorder
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    ConfigurationError,
    PullSecretError,
)

__all__ = ["LOGGER", "Broker", "Message", "Take", "number_option", "reconnecting", "text_option"]

LOGGER = logging.getLogger("hyperfleet.pull_secret.cluster_events")

# Seconds: the first pause, the longest, and how long a connection has to last to be taken for a good one.
_FIRST, _LONGEST, _GOOD = 0.5, 30.0, 10.0


class Message(NamedTuple):
    """One message.

    :param headers: of HTTP or AMQP, or Pub/Sub's attributes.
    :param token: what ``acknowledge`` takes.
    """

    body: bytes
    headers: Mapping[str, Any]
    token: Any


Take = Callable[[Message], None]


class Broker(ABC):
    """One kind of broker is one such class in a file of its own.

    ``NAME`` is its ``type`` in the AdapterConfig, ``OPTIONS`` are its fields of ``spec.broker``.
    """

    NAME: ClassVar[str]
    OPTIONS: ClassVar[tuple[str, ...]]

    @classmethod
    @abstractmethod
    def validate(cls, options: Mapping[str, Any], prefetch: int) -> Broker:
        """The broker that these options describe, with nothing begun.

        :param prefetch: messages that are held at most, where the options do not say it.
        :raises ConfigurationError: naming the option that is wrong, or the package that is missing.
        """

    @abstractmethod
    async def run(self, take: Take, recorder: ActivityRecorder) -> None:
        """Give each message to ``take``, for ever, and reconnect when the connection is lost.

        :raises ConfigurationError: what was found there does not fit, and will not by itself.
        """

    @abstractmethod
    async def acknowledge(self, tokens: Sequence[Any]) -> int:
        """Acknowledge these messages, which are done; how many of them the broker could be sent.

        A message of a connection that is lost is delivered again, and its token of no use.
        """


async def reconnecting(
    session: Callable[[Callable[[], None]], Awaitable[None]],
    explain: Callable[[BaseException], str],
    recorder: ActivityRecorder,
) -> None:
    """Run sessions for ever, with growing pauses where they fail.

    :param session: calls what it is given once it receives.
    :param explain: an error in words without a secret.
    :raises ConfigurationError: by a session, before the first that received.
    """
    failed = 0
    said: str | None = None
    # When sessions began to receive.
    received: list[float] = []

    def connected() -> None:
        received.append(time.monotonic())
        recorder.broker(True)

    while True:
        before = received[-1:]
        try:
            await session(connected)
            why = "the connection was closed"
        except Exception as error:
            if isinstance(error, ConfigurationError) and not received:
                raise
            why = str(error) if isinstance(error, PullSecretError) else explain(error)
        recorder.broker(False)
        if received[-1:] != before:
            said = None
            failed = 0 if time.monotonic() - received[-1] >= _GOOD else failed
            del received[:-1]
        pause = min(_LONGEST, _FIRST * 2.0 ** min(failed, 10)) * random.uniform(0.5, 1.0)  # noqa: S311
        failed += 1
        # Once a cause: a broker that is away for a day is one line.
        level = logging.DEBUG if why == said else logging.WARNING
        LOGGER.log(level, "%s; connecting again in %.1f s", why, pause)
        said = why
        await asyncio.sleep(pause)


def text_option(options: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """:raises ConfigurationError: the option is missing and has no default, or is no text."""
    value = options.get(name)
    if value is None or value == "":
        value = default
    if not isinstance(value, str) or not value:
        raise ConfigurationError(f"broker.{name} is missing or is not a string")
    return value


def number_option(options: Mapping[str, Any], name: str, default: int, most: int) -> int:
    """A whole number from 1 on; 0 is the default.

    :raises ConfigurationError: it is not one.
    """
    value = options.get(name)
    if value is None or value == 0:
        return min(default, most)
    try:
        found = int(value)
    except (TypeError, ValueError, OverflowError):
        found = 0
    if not 1 <= found <= most:
        raise ConfigurationError(f"broker.{name} must be a whole number from 1 to {most}")
    return found
