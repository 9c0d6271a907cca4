# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Instants as whole nanoseconds since the epoch, since the API answers with up to nine decimals."""

from __future__ import annotations

import re
import time
from calendar import timegm
from collections.abc import Callable, Iterable

__all__ = ["Clock", "ScriptedClock", "format_time", "microseconds", "parse_time"]

Clock = Callable[[], int]
"""Returns now, in nanoseconds since the epoch; `time.time_ns` is one."""

_RFC3339 = re.compile(r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(?:[Zz]|([+-])(\d\d):(\d\d))")


class ScriptedClock:
    """A clock that stands still where it was set; a script of several instants is read one by one."""

    def __init__(self, now: int) -> None:
        self._instants = [now]

    def set(self, instants: Iterable[int]) -> None:
        """The next reads give these instants, and the last of them from then on."""
        self._instants = list(instants) or self._instants[-1:]

    def __call__(self) -> int:
        return self._instants.pop(0) if len(self._instants) > 1 else self._instants[0]


def parse_time(text: str) -> int:
    """An RFC 3339 time; ValueError if it is none."""
    match = _RFC3339.fullmatch(text)
    if match is None:
        raise ValueError("not an RFC 3339 time")
    day, clock, fraction, sign, hours, minutes = match.groups()
    seconds = timegm(time.strptime(f"{day}T{clock}", "%Y-%m-%dT%H:%M:%S"))
    if sign:
        seconds -= int(sign + "1") * (int(hours) * 3600 + int(minutes) * 60)
    return seconds * 1_000_000_000 + int((fraction or "").ljust(9, "0"))


def format_time(instant: int) -> str:
    """UTC with as many decimals as the instant has, as Go writes RFC3339Nano."""
    seconds, nanoseconds = divmod(instant, 1_000_000_000)
    text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    fraction = f".{nanoseconds:09d}".rstrip("0").rstrip(".")
    return f"{text}{fraction}Z"


def microseconds(instant: int) -> int:
    """The instant as the database keeps it."""
    return instant // 1000 * 1000
