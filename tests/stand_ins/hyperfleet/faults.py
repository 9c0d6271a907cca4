# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fault table (which requests fail, how and how often) and the record of the requests served.

A rule is {method, path, query, status, times, delay, drop}; the first that fits a request is used:

method  an HTTP method or `*`
path    glob (`fnmatch`) on the path without the query; `*` crosses slashes
query   glob on the query, as it was sent
status  answer with this HTTP status (problem+json) instead; the request has no effect
times   how many requests it applies to, absent = all
delay   seconds to wait before answering
drop    close the connection instead of answering
lost    do what is asked, and close the connection instead of answering
body    answer with this text as application/json (with `status`, or 200): not a problem, maybe not JSON
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from fnmatch import fnmatchcase
from typing import Any

__all__ = ["Call", "Calls", "Fault", "FaultTable"]


@dataclass
class Fault:
    """One rule; ValueError for one that makes no sense."""

    method: str = "*"
    path: str = "*"
    query: str = "*"
    status: int | None = None
    times: int | None = None
    delay: float = 0.0
    drop: bool = False
    lost: bool = False
    body: str | None = None
    hits: int = 0

    def __post_init__(self) -> None:
        if self.status is None and not self.delay and not (self.drop or self.lost) and self.body is None:
            raise ValueError("fault: needs a status, a delay, a body, a drop or a loss")
        if self.status is not None and not 400 <= self.status <= 599 and self.body is None:
            raise ValueError("fault: status is 400 to 599")
        if self.delay < 0 or (self.times is not None and self.times < 1):
            raise ValueError("fault: delay is at least 0, times at least 1")


class FaultTable:
    """The rules in force, tried in the order in which they were added."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rules: list[Fault] = []

    def add(self, **rule: Any) -> Fault:
        """Add a rule and return it; its `hits` tells how often it was used."""
        unknown = set(rule) - ({f.name for f in fields(Fault)} - {"hits"})
        if unknown:
            raise ValueError(f"fault: unknown keys {sorted(unknown)}")
        fault = Fault(**rule)
        with self._lock:
            self._rules.append(fault)
        return fault

    def clear(self) -> None:
        with self._lock:
            self._rules.clear()

    def snapshot(self) -> list[Mapping[str, Any]]:
        with self._lock:
            return [asdict(fault) for fault in self._rules]

    def take(self, method: str, path: str, query: str = "") -> Fault | None:
        """The rule for this request, counted as used."""
        with self._lock:
            for fault in self._rules:
                fits = fault.method in ("*", method) and fnmatchcase(path, fault.path)
                fits = fits and fnmatchcase(query, fault.query)
                if fits and (fault.times is None or fault.hits < fault.times):
                    fault.hits += 1
                    return fault
        return None


@dataclass(frozen=True)
class Call:
    """A request that was served; no headers and no bodies, which hold secrets. Status 0: dropped."""

    method: str
    path: str
    query: str
    status: int


class Calls:
    """The requests served, oldest first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: list[Call] = []

    def record(self, call: Call) -> None:
        with self._lock:
            self._calls.append(call)

    def reset(self) -> None:
        with self._lock:
            self._calls.clear()

    def all(self) -> list[Call]:
        with self._lock:
            return list(self._calls)

    def count(self, method: str = "*", path: str = "*") -> int:
        """Requests with that method whose path fits the glob."""
        return sum(
            call.method == method or method == "*" for call in self.all() if fnmatchcase(call.path, path)
        )
