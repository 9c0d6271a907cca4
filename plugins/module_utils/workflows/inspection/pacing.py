# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Spreads requests over time, so that a large fleet does not use up a quota."""

from __future__ import annotations

import threading
import time

from ...runtime.retry import Deadline

__all__ = ["Pace"]

# Secret Manager allows 600 reads a minute and project, and a read is a list of one secret's versions. What a
# small fleet needs is within it, and the runs that follow it are others' business.
_AT_ONCE = 300
_SECONDS = 60.0 / 500


class Pace:
    """Lets requests begin at intervals where there are many.  Thread-safe.

    :param count: how many there will be. A few begin at once.
    :param stop: ends the waiting.
    """

    def __init__(self, count: int, stop: threading.Event) -> None:
        self._interval = _SECONDS if count > _AT_ONCE else 0.0
        self._stop = stop
        self._lock = threading.Lock()
        self._next = 0.0

    def wait(self, deadline: Deadline) -> None:
        """Wait for the turn of one request, no longer than its target's time."""
        if not self._interval:
            return
        with self._lock:
            begin = max(self._next, time.monotonic())
            self._next = begin + self._interval
        self._stop.wait(min(max(begin - time.monotonic(), 0.0), deadline.remaining()))
