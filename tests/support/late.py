# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Secret Manager whose answers are a minute old, but for versions that are read by their number."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.nightly import some

__all__ = ["AT_ONCE", "LATE", "LATE_SECONDS", "Clock", "at_once_and_late", "late_secret_manager"]

AT_ONCE, LATE = "at once", "late"
LATE_SECONDS = 60.0
# A run that waits for its own write pauses longer with each try.
_CALLS = 12


class Clock:
    """Secret Manager's. It moves with each call, so that no test waits until an answer is fresh."""

    def __init__(self, step: float = LATE_SECONDS / _CALLS) -> None:
        self.step = step
        self._lock = threading.Lock()
        self._now = time.time_ns()

    def __call__(self) -> int:
        return self._now

    def tick(self) -> None:
        """Let one call's time pass."""
        with self._lock:
            self._now += int(self.step * 1e9)

    def pass_lateness(self) -> None:
        """Let so much time pass that every answer is fresh."""
        with self._lock:
            self._now += int(LATE_SECONDS * 1e9)


@contextmanager
def late_secret_manager(clock: Clock) -> Iterator[SecretManagerLab]:
    """It counts calls by resource, too."""
    with SecretManagerLab(clock=clock, on_call=clock.tick) as lab:
        lab.faults.add(late=LATE_SECONDS)
        yield lab


def at_once_and_late(*, fast: bool = True) -> pytest.MarkDecorator:
    """Run a test with each kind of ``secret_manager``; ``fast``: the late kind is a fast test, too."""
    kinds = [AT_ONCE, LATE]
    return pytest.mark.parametrize("secret_manager", kinds if fast else some(kinds), indirect=True)
