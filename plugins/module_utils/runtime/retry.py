# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Trying again: backoff of 1 s doubling to 30 s with jitter, inside a time limit.

The rule is seed 003's "Retry Logic Module"; jitter keeps a thousand targets that
failed together from coming back together.  A place that says when it wants to be asked
again is not asked sooner.
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
    """Seconds of an HTTP header Retry-After (RFC 9110, 10.2.3: seconds or a date); None for anything else."""
    text = (value or "").strip()
    if text.isdecimal() and text.isascii() and len(text) <= 9:
        return float(text)
    # Seldom a date, and never worth a hundredth of a second at each start.
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


class Deadline:
    """A point in monotonic time that a target's work has to keep to.

    :param on_retry: called for each failed try that will be repeated: number, pause in seconds, error.
    :param calls: where the requests for this target are counted, beside all others'.
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
        """The whole limit, in seconds, for messages."""
        return self._seconds

    def remaining(self) -> float:
        """Seconds left, never below zero."""
        return max(0.0, self._end - time.monotonic())


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how long: ``tries`` calls at most, delays in seconds."""

    tries: int = 5
    delay: float = 1.0
    max_delay: float = 30.0
    jitter: float = 0.2

    def backoff(self, attempt: int, retry_after: float | None = None) -> float:
        """Seconds to wait after the failed call number ``attempt`` (1, 2, …).

        :param retry_after: what the place asks for: not less, unless it is more than ``max_delay``.
        """
        # The exponent is bounded since 2**n of a large n does not fit a float.
        delay = min(self.max_delay, self.delay * 2.0 ** min(attempt - 1, 30))
        spread = random.uniform(1 - self.jitter, 1 + self.jitter)  # noqa: S311 - not for a secret
        return min(self.max_delay, max(delay * spread, retry_after or 0.0))


@dataclass
class Retrier:
    """Runs calls under one policy; shared by the targets of a batch.

    :param stop: set when the run is being ended: no further waiting, the last error is raised.
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

        It has to raise the collection's own errors; only ``retryable`` ones are tried again.

        :raises TimedOut: the deadline would pass before the next try; it names the last error.
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
                    error.message = f"{error.message} (tried {attempt} times)"
                    # Given up here, so that a caller's own retry does not multiply the tries.
                    error.retryable = False
                    raise
                pause = self.policy.backoff(attempt, error.retry_after)
                if pause >= deadline.remaining():
                    raise TimedOut(
                        f"{error.message} (tried {attempt} times, and the next try would pass the limit of "
                        f"{deadline.seconds:g} s)",
                        error.hint,
                    ) from None
                if deadline.on_retry is not None:
                    deadline.on_retry(attempt, pause, error)
                last = f"{error.message}; "
                self.stop.wait(pause)


class ConflictPauses:
    """The pauses before an object that another client has changed is read and written again.

    :param first: seconds. Each pause is twice as long as the one before, from 0.1 s to 2 s.
    :param cause: what an error says when the time is over.
    """

    _SHORTEST, _LONGEST = 0.1, 2.0

    def __init__(self, retrier: Retrier, deadline: Deadline, *, first: float, cause: str) -> None:
        self._stop = retrier.stop
        self._deadline = deadline
        self._pause = first
        self._cause = cause

    def wait(self, error: PullSecretError) -> None:
        """Wait for the next pause.

        :raises TimedOut: the target's time would be over, or the run is being ended; it names the conflict.
        """
        if self._deadline.remaining() <= self._pause or self._stop.is_set():
            raise TimedOut(f"{error.message} ({self._cause})") from None
        self._stop.wait(self._pause)
        self._pause = min(self._LONGEST, max(self._SHORTEST, self._pause * 2))
