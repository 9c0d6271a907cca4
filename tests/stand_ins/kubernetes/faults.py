# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Faults to inject and the calls that were made, both open to tests in this process and over HTTP."""

from __future__ import annotations

import fnmatch
import time
from collections import deque
from dataclasses import dataclass, field

from tests.stand_ins.rules import Rule, RuleTable

CALLS_KEPT = 200_000


@dataclass
class Fault(Rule):
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
    phase: str = "before"
    drop: bool = False
    times: int | None = 1

    def __post_init__(self) -> None:
        super().__post_init__()
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


class FaultTable(RuleTable[Fault]):
    """The faults in force."""

    def __init__(self) -> None:
        super().__init__(Fault)

    def take(self, verb: str, method: str, path: str) -> Fault | None:
        """Return the fault that strikes this call, and count it."""
        return self.first(lambda fault: fault.matches(verb, method, path))


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
