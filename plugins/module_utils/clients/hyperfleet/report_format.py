# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Formats a report for the API, in today's form and in the contract's, with its times. Pure.

Times are whole microseconds since the epoch, as in the API's database.
"""

from __future__ import annotations

import re
import threading
import time
from calendar import timegm
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Callable

from ...model.errors import ConfigurationError
from .statuses import AdapterStatus, Report

__all__ = [
    "FLAVOURS",
    "STATUSES",
    "TRANSITIONS",
    "Flavour",
    "ObservedTimes",
    "clock_trouble",
    "find_flavour",
    "format_time",
    "parse_time",
    "transitions_of",
]

_RFC3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))\Z", re.ASCII
)
STATUSES = ("True", "False", "Unknown")
# Where in ``data`` the contract's form stores since when each condition has its status.
TRANSITIONS = "transitions"
_LONGEST_TIME = 40
_MILLION = 1_000_000
# The API refuses a report from further ahead, or further back, by its own clock. An HTTP date has no
# fractions of a second.
_AHEAD, _OLD, _ROUGH = 300.0, 1800.0, 2.0


@dataclass(frozen=True)
class Flavour:
    """One form of the API's status reports.

    :param transitions: the name of each condition's time, if it has one.
    :param on_cluster: whether the adapters' statuses are a part of the cluster.
    """

    name: str
    method: str
    generation: str
    time: str
    transitions: str | None = None
    on_cluster: bool = False

    def body(self, report: Report, observed: str, stored: AdapterStatus | None = None) -> dict[str, Any]:
        """Return the document to send.

        In the contract's form, each condition has the time of its status, and so has ``data``, because the
        API shows only that.

        :param observed: RFC 3339, in UTC.
        :param stored: the previous status.
        """
        before = stored.transitions if stored is not None else {}
        since = {}
        for condition in report.conditions:
            status, time_ = before.get(condition.type, ("", ""))
            since[condition.type] = time_ if status == condition.status else observed
        conditions = [
            {
                "type": condition.type,
                "status": condition.status,
                "reason": condition.reason,
                "message": condition.message,
                **({self.transitions: since[condition.type]} if self.transitions else {}),
            }
            for condition in report.conditions
        ]
        body: dict[str, Any] = {
            "adapter": report.adapter,
            # Strings, such as those of a template, are refused.
            self.generation: int(report.generation),
            self.time: observed,
            "conditions": conditions,
            "data": dict(report.data),
        }
        if self.transitions:
            body["data"][TRANSITIONS] = {
                one.type: {"status": one.status, "since": since[one.type]} for one in report.conditions
            }
        if report.metadata:
            body["metadata"] = dict(report.metadata)
        return body


FLAVOURS: Mapping[str, Flavour] = {
    "current": Flavour("current", "PUT", "observed_generation", "observed_time"),
    "contract": Flavour(
        "contract",
        "POST",
        "observedGeneration",
        "lastUpdated",
        transitions="lastTransitionTime",
        on_cluster=True,
    ),
}


def transitions_of(held: Any) -> dict[str, tuple[str, str]]:
    """Return by condition (its status, since when) from the ``data`` of a report; nothing of another shape."""
    found: dict[str, tuple[str, str]] = {}
    for kind, one in held.items() if isinstance(held, Mapping) else ():
        status, since = (one.get("status"), one.get("since")) if isinstance(one, Mapping) else (None, None)
        if not isinstance(kind, str) or status not in STATUSES or not isinstance(since, str):
            continue
        if len(since) <= _LONGEST_TIME and parse_time(since) is not None:
            found[kind] = (status, since)
    return found


def find_flavour(name: str) -> Flavour:
    """:raises ConfigurationError: there is no form of that name."""
    if name not in FLAVOURS:
        raise ConfigurationError(f"hyperfleet.flavour must be one of {', '.join(FLAVOURS)}")
    return FLAVOURS[name]


class ObservedTimes:
    """The times of each cluster's reports: now, and later than every previous report. Thread-safe.

    :param now: microseconds since the epoch.
    """

    def __init__(self, now: Callable[[], int] = lambda: time.time_ns() // 1000) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._sent: dict[str, int] = {}

    def next(self, cluster_id: str, after: str | None = None) -> str:
        """Return the time of a report that is sent now.

        :param after: the time of the API's report, perhaps from another machine; an invalid one is ignored.
        """
        stored = parse_time(after) if after else None
        with self._lock:
            earlier = [one for one in (stored, self._sent.get(cluster_id)) if one is not None]
            chosen = max([self._now(), *(one + 1 for one in earlier)])
            self._sent[cluster_id] = chosen
        return format_time(chosen)


def clock_trouble(observed: str, date: str | None) -> str | None:
    """Return what to do about a refused report; None if its time was right, or if that is unknown.

    :param observed: the report's.
    :param date: the refusal's HTTP header Date.
    """
    sent = parse_time(observed)
    try:
        answered = parsedate_to_datetime(date or "").timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
    ahead = (sent or 0) / _MILLION - answered
    if -_OLD + _ROUGH < ahead < _AHEAD - _ROUGH:
        return None
    side = "ahead of" if ahead > 0 else "behind"
    return (
        f"the report's time is {abs(ahead):.0f} s {side} the API's clock: check the clocks of both machines"
    )


def parse_time(text: str) -> int | None:
    """An RFC 3339 time, rounded up to a microsecond; None if it is not a time."""
    match = _RFC3339.match(text)
    if match is None:
        return None
    day, clock, fraction, sign, hours, minutes = match.groups()
    try:
        seconds = timegm(time.strptime(f"{day}T{clock}", "%Y-%m-%dT%H:%M:%S"))
    except (ValueError, OverflowError):
        return None
    if sign:
        seconds -= int(sign + "1") * (int(hours) * 3600 + int(minutes) * 60)
    digits = (fraction or "").ljust(6, "0")
    return seconds * _MILLION + int(digits[:6]) + any(digit != "0" for digit in digits[6:])


def format_time(instant: int) -> str:
    """RFC 3339 in UTC, with six decimals."""
    seconds, rest = divmod(instant, _MILLION)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest:06d}Z"
