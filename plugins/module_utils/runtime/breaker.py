# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stops calling a service that does not answer: after some failures in a row no more calls are made."""

from __future__ import annotations

import threading
from typing import Callable, TypeVar

from ..model.errors import PullSecretError, repeated_error

__all__ = ["Breaker"]

T = TypeVar("T")

# Each of them was tried as often as the retry policy says.
_IN_A_ROW = 8
# Errors of the service, not of one cluster.
_OUT_OF_REACH = frozenset({"unavailable", "timeout", "quota"})


class Breaker:
    """One service in one run. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures = 0
        self._last: PullSecretError | None = None

    @property
    def is_open(self) -> bool:
        """Whether the service is given up for this run."""
        return self._failures >= _IN_A_ROW

    def call(self, work: Callable[[], T]) -> T:
        """Return or raise what ``work`` does; raise the last error at once if the service is given up."""
        last = self._last
        if last is not None and self.is_open:
            raise repeated_error(last)
        try:
            given = work()
        except PullSecretError as error:
            if error.kind in _OUT_OF_REACH:
                self._count(error)
            raise
        with self._lock:
            # It stays given up: a late answer must not start new calls.
            if self._failures < _IN_A_ROW:
                self._failures = 0
        return given

    def _count(self, error: PullSecretError) -> None:
        with self._lock:
            self._failures += 1
            self._last = error
