# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Retries: backoff of 1 s doubling to 30 s with jitter, inside a time limit.

The rule is the retry logic of the job contract. Jitter keeps a thousand targets that failed together from
returning together. A server's Retry-After is respected.
"""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field
from typing import Callable, TypeVar

from ..model.errors import PullSecretError, TimedOut
from .calls import Calls

__all__ = ["ConflictPauses", "Deadline", "Retrier", "RetryObserver", "RetryPolicy", "parse_retry_after"]

T = TypeVar("T")
RetryObserver = Callable[[int, float, PullSecretError], None]


def parse_retry_after(value: str | None) -> float | None:
    """Return the seconds of an HTTP header Retry-After (RFC 9110, 10.2.3: seconds or a date); None for
    anything else.
    """
    text = (value or "").strip()
    if text.isdecimal() and text.isascii() and len(text) <= 9:
        return float(text)
    # Rarely a date, so the module is not imported at each start, which takes a hundredth of a second.
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


class Deadline:
    """The monotonic time by which a target's work must end.

    :param on_retry: called before each retry: number of the attempt, pause in seconds, error.
    :param calls: a second counter for the requests of this target.
    """

    def __init__(
        self, seconds: float, on_retry: RetryObserver | None = None, calls: Calls | None = None
    ) -> None:
        self.on_retry = on_retry
        self.calls = calls
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def seconds(self) -> float:
        """The complete limit, in seconds, for messages."""
        return self._seconds

    def remaining(self) -> float:
        """Return the seconds left, never below zero."""
        return max(0.0, self._end - time.monotonic())


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how long: at most ``tries`` calls, delays in seconds."""

    tries: int = 5
    delay: float = 1.0
    max_delay: float = 30.0
    jitter: float = 0.2

    def backoff(self, attempt: int, retry_after: float | None = None) -> float:
        """Return the seconds to wait after the failed call number ``attempt`` (1, 2, …).

        :param retry_after: the server's Retry-After: the minimum, unless it exceeds ``max_delay``.
        """
        # The exponent is bounded because 2**n of a large n does not fit a float.
        delay = min(self.max_delay, self.delay * 2.0 ** min(attempt - 1, 30))
        spread = random.uniform(1 - self.jitter, 1 + self.jitter)  # noqa: S311 - not for a secret
        return min(self.max_delay, max(delay * spread, retry_after or 0.0))


@dataclass
class Retrier:
    """Runs calls under one policy; shared by the targets of a batch.

    :param stop: set when the run ends: no further waiting, the last error is raised.
    """

    policy: RetryPolicy = field(default_factory=RetryPolicy)
    stop: threading.Event = field(default_factory=threading.Event)

    def call(
        self,
        attempt_once: Callable[[float], T],
        *,
        deadline: Deadline,
        api_timeout: float,
    ) -> T:
        """Call ``attempt_once(timeout_seconds)`` until it succeeds.

        It must raise the collection's own errors; only ``retryable`` ones are retried.

        :raises TimedOut: the deadline would pass before the next attempt; it names the last error.
        """
        attempt = 0
        last = ""
        while True:
            attempt += 1
            timeout = min(api_timeout, deadline.remaining())
            if timeout <= 0:
                raise TimedOut(f"{last}the target's time limit of {deadline.seconds:g} s has passed")
            try:
                return attempt_once(timeout)
            except PullSecretError as error:
                if not error.retryable or self.stop.is_set():
                    raise
                if attempt >= self.policy.tries:
                    error.message = f"{error.message} (tried {_times(attempt)})"
                    # Given up here, so that a caller's own retry does not multiply the attempts.
                    error.retryable = False
                    raise
                pause = self.policy.backoff(attempt, error.retry_after)
                if pause >= deadline.remaining():
                    raise TimedOut(
                        f"{error.message} (tried {_times(attempt)}, and the next try would pass the limit of "
                        f"{deadline.seconds:g} s)",
                        error.hint,
                    ) from None
                if deadline.on_retry is not None:
                    deadline.on_retry(attempt, pause, error)
                last = f"{error.message}; "
                self.stop.wait(pause)


class ConflictPauses:
    """The pauses before reading and writing an object again that another client has changed.

    :param first: seconds. Each pause is twice as long as the one before, from 0.1 s to 2 s.
    :param cause: the error's explanation when the time is over.
    """

    _SHORTEST, _LONGEST = 0.1, 2.0

    def __init__(self, retrier: Retrier, deadline: Deadline, *, first: float, cause: str) -> None:
        self._stop = retrier.stop
        self._deadline = deadline
        self._pause = first
        self._cause = cause

    def wait(self, error: PullSecretError) -> None:
        """Wait for the next pause.

        :raises TimedOut: the target's time would be over, or the run ends; it names the conflict.
        """
        if self._deadline.remaining() <= self._pause or self._stop.is_set():
            raise TimedOut(f"{error.message} ({self._cause})") from None
        self._stop.wait(self._pause)
        self._pause = min(self._LONGEST, max(self._SHORTEST, self._pause * 2))


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
