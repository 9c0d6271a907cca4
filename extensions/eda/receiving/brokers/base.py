# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The interface of a broker: a receive loop that never ends, and acknowledgements."""

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

# Seconds: the first pause, the longest, and how long a connection must last to count as good.
_FIRST, _LONGEST, _GOOD = 0.5, 30.0, 10.0


class Message(NamedTuple):
    """One message.

    :param headers: of HTTP or AMQP, or Pub/Sub's attributes.
    :param token: the argument of ``acknowledge``.
    """

    body: bytes
    headers: Mapping[str, Any]
    token: Any


Take = Callable[[Message], None]


class Broker(ABC):
    """Each kind of broker is one such class in its own file.

    ``NAME`` is its ``type`` in the AdapterConfig, ``OPTIONS`` are its fields of ``spec.broker``.
    """

    NAME: ClassVar[str]
    OPTIONS: ClassVar[tuple[str, ...]]

    @classmethod
    @abstractmethod
    def validate(cls, options: Mapping[str, Any], prefetch: int) -> Broker:
        """Return the broker that these options describe, without connecting.

        :param prefetch: the default for the maximum number of unacknowledged messages.
        :raises ConfigurationError: names the invalid option, or the missing package.
        """

    @abstractmethod
    async def run(self, take: Take, recorder: ActivityRecorder) -> None:
        """Pass each message to ``take``, forever, and reconnect when the connection is lost.

        :raises ConfigurationError: the broker does not fit the options, and waiting does not help.
        """

    @abstractmethod
    async def acknowledge(self, tokens: Sequence[Any]) -> int:
        """Acknowledge these messages; return how many acknowledgements could be sent.

        After a lost connection a message is delivered again, and its token is useless.
        """


async def reconnecting(
    session: Callable[[Callable[[], None]], Awaitable[None]],
    explain: Callable[[BaseException], str],
    recorder: ActivityRecorder,
) -> None:
    """Run sessions forever, with growing pauses after failures.

    :param session: calls its argument once it receives.
    :param explain: returns an error's description without a secret.
    :raises ConfigurationError: by a session, before the first one that received.
    """
    failed = 0
    said: str | None = None
    # The times at which sessions began to receive.
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
        # Logged once per cause: a broker that is unreachable for a day gives one line.
        level = logging.DEBUG if why == said else logging.WARNING
        LOGGER.log(level, "%s; connecting again in %.1f s", why, pause)
        said = why
        await asyncio.sleep(pause)


def text_option(options: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """:raises ConfigurationError: the option is missing and has no default, or is not a string."""
    value = options.get(name)
    if value is None or value == "":
        value = default
    if not isinstance(value, str) or not value:
        raise ConfigurationError(f"broker.{name} is missing or is not a string")
    return value


def number_option(options: Mapping[str, Any], name: str, default: int, most: int) -> int:
    """Return a whole number of 1 or greater; 0 means the default.

    :raises ConfigurationError: it is not a whole number, or greater than ``most``.
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
