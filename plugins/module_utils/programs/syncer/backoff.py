# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Waiting times that grow with each failure and differ between nodes."""

from __future__ import annotations

import os

__all__ = ["Backoff", "random_between"]


def random_between(low: float, high: float) -> float:
    """Return a random number of seconds, so that nodes that lost one server do not return at once."""
    return low + (high - low) * int.from_bytes(os.urandom(2), "big") / 65535


class Backoff:
    """Waits of at most ``first`` seconds, then twice as long each time, up to ``most``."""

    def __init__(self, first: float, most: float) -> None:
        self._first = first
        self._most = most
        self._next = first

    def wait(self) -> float:
        """Return how long to wait now, in seconds: between half and all of the current value."""
        seconds, self._next = self._next, min(self._next * 2, self._most)
        return random_between(seconds / 2, seconds)

    def reset(self) -> None:
        self._next = self._first
