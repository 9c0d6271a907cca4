# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults and calls of a stand-in: the first rule that fits a call is used, as often as it says."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from operator import attrgetter
from typing import Any, Generic, TypeVar

__all__ = ["CallLog", "Rule", "RuleTable"]

_CALLS_KEPT = 200_000


@dataclass(kw_only=True)
class Rule:
    """What each stand-in's faults have; ValueError for one that makes no sense.

    :param times: how many calls it applies to, None for all. :param skip: so many calls that fit pass first.
    :param delay: seconds to wait. ``hits`` is how often it was used.
    """

    times: int | None = None
    skip: int = 0
    delay: float = 0.0
    hits: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.skip < 0 or self.delay < 0 or (self.times is not None and self.times < 1):
            raise ValueError("fault: skip and delay are at least 0, times at least 1")

    def matches(self, **call: str) -> bool:
        """Whether each of these fields of a call fits the rule's field of that name, a glob."""
        return all(fnmatchcase(value, getattr(self, name)) for name, value in call.items())


_Rule = TypeVar("_Rule", bound=Rule)


class RuleTable(Generic[_Rule]):
    """The rules in force, tried in the order in which they were added. Thread-safe."""

    def __init__(self, kind: type[_Rule]) -> None:
        self._kind = kind
        self._lock = threading.Lock()
        self._rules: list[_Rule] = []

    def __bool__(self) -> bool:
        return bool(self._rules)

    def add(self, *values: Any, **options: Any) -> _Rule:
        """Add a rule, given as its fields, and return it; TypeError for an unknown field."""
        rule = self._kind(*values, **options)
        with self._lock:
            self._rules = [*self._rules, rule]
        return rule

    def clear(self) -> None:
        with self._lock:
            self._rules = []

    def first(self, fits: Callable[[_Rule], bool]) -> _Rule | None:
        """The rule for a call, counted as used."""
        with self._lock:
            for rule in self._rules:
                if not fits(rule):
                    continue
                if rule.skip:
                    rule.skip -= 1
                elif rule.times is None or rule.hits < rule.times:
                    rule.hits += 1
                    return rule
        return None


_Call = TypeVar("_Call")


class CallLog(Generic[_Call]):
    """The calls in the order of their answers. Thread-safe. No call keeps a header or a body.

    :param fields: the fields of a call that ``matching`` compares, in its order: what it does, and to what.
    """

    def __init__(self, *fields: str) -> None:
        self._values = attrgetter(*fields)
        self._calls: deque[_Call] = deque(maxlen=_CALLS_KEPT)
        self.clear = self._calls.clear

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, call: _Call) -> None:
        self._calls.append(call)

    def matching(self, *globs: str) -> list[_Call]:
        """Return the calls whose fields fit the globs."""
        return [call for call in self._calls.copy() if all(map(fnmatchcase, self._values(call), globs))]

    def count(self, *globs: str) -> int:
        return len(self.matching(*globs))
