# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Faults to inject and the calls that were made, both open to tests in this process and over HTTP."""

from __future__ import annotations

import fnmatch
import threading
import time
from collections import deque
from dataclasses import asdict, dataclass, field, fields
from typing import Any

CALLS_KEPT = 200_000


@dataclass
class Fault:
    """What goes wrong, for which calls and how often.

    A call matches when ``verb`` (get, list, watch, create, update, patch, delete, deletecollection),
    ``method`` (HTTP) and ``path`` (shell pattern; without the query) do. The first ``skip`` matching calls
    pass; the next ``times`` (None: all) fail. ``delay`` is in seconds, before the call is handled or
    answered. ``status`` answers with that code, ``drop`` closes the connection without an answer; with
    neither the call is only delayed. ``phase`` "after" lets the call do its work first, so that the client
    does not know that it was done. The first matching fault of the table is used.
    """

    verb: str = "*"
    method: str = "*"
    path: str = "*"
    status: int | None = None
    reason: str | None = None
    message: str = "injected fault"
    headers: dict[str, str] = field(default_factory=dict)
    times: int | None = 1
    skip: int = 0
    delay: float = 0.0
    phase: str = "before"
    drop: bool = False
    hits: int = 0

    def __post_init__(self) -> None:
        if self.phase not in ("before", "after"):
            raise ValueError("phase is 'before' or 'after'")

    def matches(self, verb: str, method: str, path: str) -> bool:
        return (
            fnmatch.fnmatchcase(verb, self.verb)
            and fnmatch.fnmatchcase(method, self.method.upper())
            and fnmatch.fnmatchcase(path, self.path)
        )


@dataclass
class Call:
    """One call as it was answered; ``status`` 0 means that the connection was dropped. No bodies are kept."""

    verb: str
    method: str
    path: str
    query: str
    user: str
    status: int
    at: float


class FaultTable:
    """Ordered faults; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults: list[Fault] = []

    def add(self, fault: Fault | None = None, **options: Any) -> Fault:
        """Add a fault, given whole or as its fields; TypeError for an unknown field."""
        added = fault or Fault(**options)
        with self._lock:
            self._faults.append(added)
        return added

    def replace(self, faults: list[dict[str, Any]]) -> None:
        """Put these faults in the place of all."""
        known = {f.name for f in fields(Fault)} - {"hits"}
        made = [Fault(**{k: v for k, v in fault.items() if k in known}) for fault in faults]
        with self._lock:
            self._faults = made

    def clear(self) -> None:
        self.replace([])

    def __bool__(self) -> bool:
        return bool(self._faults)

    def as_list(self) -> list[dict[str, Any]]:
        with self._lock:
            return [asdict(fault) for fault in self._faults]

    def take(self, verb: str, method: str, path: str) -> Fault | None:
        """Return the fault that strikes this call, and count it."""
        with self._lock:
            for fault in self._faults:
                if not fault.matches(verb, method, path):
                    continue
                fault.hits += 1
                if fault.hits <= fault.skip:
                    return None
                if fault.times is None or fault.hits <= fault.skip + fault.times:
                    return fault
        return None


class CallLog:
    """The calls in the order of their answers."""

    def __init__(self) -> None:
        self._calls: deque[Call] = deque(maxlen=CALLS_KEPT)

    def add(self, verb: str, method: str, path: str, query: str, user: str, status: int) -> None:
        self._calls.append(Call(verb, method, path, query, user, status, time.time()))

    def clear(self) -> None:
        self._calls.clear()

    def __len__(self) -> int:
        return len(self._calls)

    def matching(self, verb: str = "*", path: str = "*") -> list[Call]:
        """Return the calls whose verb and path match the shell patterns."""
        return [
            c
            for c in list(self._calls)
            if fnmatch.fnmatchcase(c.verb, verb) and fnmatch.fnmatchcase(c.path, path)
        ]

    def count(self, verb: str = "*", path: str = "*") -> int:
        return len(self.matching(verb, path))
