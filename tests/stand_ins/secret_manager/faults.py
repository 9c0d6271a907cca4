# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fault table: which calls fail, how, how often, and whether they take effect first.

The first rule that fits a call is used. A rule has these keys, all of them optional:

method    RPC name or `*`
resource  glob (`fnmatch`) on the resource name, by project id or as asked; `*` crosses slashes
code      name of a google.rpc.Code; absent: the call succeeds (delay or corruption only)
times     calls it applies to, absent = all; `skip` lets that many fitting calls through first
delay     seconds to wait, before or after the call as `phase` says
phase     `before`: the call has no effect; `after`: it takes effect, then fails (an ambiguous call)
message   replaces the text
corrupt   AccessSecretVersion: `payload` changes a byte of the answer's data, `crc` its checksum;
          AddSecretVersion: `payload` stores a changed byte (with a fitting checksum),
          `crc` answers client_specified_payload_checksum = false
late      seconds by which answers are old, beside the other rules and without their keys: the alias `latest`,
          lists and metadata answer what was there so long ago, and at the earliest when the rule was added.
          A version that is accessed by its number is fresh, and so is what a write checks: ids and etags.
          Source: Google's page "Resource consistency".
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from fnmatch import fnmatchcase
from typing import Any

from grpc import StatusCode

from .protos import METHODS

__all__ = ["Fault", "FaultTable"]


@dataclass
class Fault:
    """One rule; ValueError for one that makes no sense."""

    method: str = "*"
    resource: str = "*"
    code: str | None = None
    times: int | None = None
    skip: int = 0
    delay: float = 0.0
    phase: str = "before"
    message: str | None = None
    corrupt: str | None = None
    late: float = 0.0
    hits: int = 0

    def __post_init__(self) -> None:
        if self.method != "*" and self.method not in METHODS:
            raise ValueError(f"fault: unknown method {self.method!r}")
        if self.code is not None and (self.code == "OK" or self.code not in StatusCode.__members__):
            raise ValueError(f"fault: unknown code {self.code!r}")
        if self.phase not in ("before", "after"):
            raise ValueError("fault: phase is 'before' or 'after'")
        if self.corrupt not in (None, "payload", "crc"):
            raise ValueError("fault: corrupt is 'payload' or 'crc'")
        if self.corrupt and self.method not in ("AccessSecretVersion", "AddSecretVersion"):
            raise ValueError("fault: only AccessSecretVersion and AddSecretVersion can be corrupted")
        if self.code is None and not self.delay and not self.corrupt and not self.late:
            raise ValueError("fault: needs a code, a delay, a corruption or late")
        if self.skip < 0 or self.delay < 0 or self.late < 0 or (self.times is not None and self.times < 1):
            raise ValueError("fault: skip, delay and late are at least 0, times at least 1")
        others = (self.code, self.delay, self.corrupt, self.times, self.skip, self.phase != "before")
        if self.late and any(others):
            raise ValueError("fault: late goes with method and resource only")

    @property
    def status(self) -> StatusCode | None:
        return None if self.code is None else StatusCode[self.code]

    def fits(self, method: str, names: Sequence[str]) -> bool:
        """Whether the rule is for a call of this method, on a resource of these names."""
        return self.method in ("*", method) and any(fnmatchcase(name, self.resource) for name in names)


class FaultTable:
    """The rules in force, tried in the order in which they were added.

    :param remember: called before the first rule with `late`: from then on the past has to be known.
    """

    def __init__(self, remember: Callable[[], None] = lambda: None) -> None:
        self._lock = threading.Lock()
        self._rules: list[Fault] = []
        self._remember = remember

    @property
    def active(self) -> bool:
        return bool(self._rules)

    def add(self, method: str = "*", resource: str = "*", **options: Any) -> Fault:
        """Add a rule and return it; its `hits` tells how often it was used."""
        fault = Fault(method=method, resource=resource, **options)
        if fault.late:
            self._remember()
        with self._lock:
            self._rules = [*self._rules, fault]
        return fault

    def add_mapping(self, rule: Mapping[str, Any]) -> Fault:
        """Add a rule read from JSON."""
        unknown = set(rule) - {field.name for field in fields(Fault)} | ({"hits"} & set(rule))
        if unknown:
            raise ValueError(f"fault: unknown keys {sorted(unknown)}")
        return self.add(**rule)

    def clear(self) -> None:
        with self._lock:
            self._rules = []

    def snapshot(self) -> list[dict[str, Any]]:
        with self._lock:
            return [asdict(fault) for fault in self._rules]

    def take(self, method: str, *names: str) -> Fault | None:
        """The rule for this call, counted as used."""
        with self._lock:
            for fault in self._rules:
                if fault.late or not fault.fits(method, names):
                    continue
                if fault.skip:
                    fault.skip -= 1
                    continue
                if fault.times is not None and fault.hits >= fault.times:
                    continue
                fault.hits += 1
                return fault
        return None

    def lateness(self, method: str, *names: str) -> float:
        """By how many seconds the answer to this call is old."""
        with self._lock:
            for fault in self._rules:
                if fault.late and fault.fits(method, names):
                    fault.hits += 1
                    return fault.late
        return 0.0
