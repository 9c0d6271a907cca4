# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fault table: which calls fail, how, how often, and whether they take effect first.

The first rule that fits a call is used. A rule has these keys, all of them optional, beside `times` and `skip`:

method    RPC name or `*`
resource  glob (`fnmatch`) on the resource name, by project id or as asked; `*` crosses slashes
code      name of a google.rpc.Code; absent: the call succeeds (delay or corruption only)
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

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Any

from google.api_core.exceptions import GoogleAPICallError, from_grpc_status
from grpc import StatusCode

from tests.stand_ins.rules import Rule, RuleTable

from .protos import METHODS

__all__ = ["Fault", "FaultTable"]


@dataclass
class Fault(Rule):
    """One rule; ValueError for one that makes no sense."""

    method: str = "*"
    resource: str = "*"
    code: str | None = None
    phase: str = "before"
    message: str | None = None
    corrupt: str | None = None
    late: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        known: dict[str, Container[str | None]] = {
            "method": {"*", *METHODS},
            "code": {None, *StatusCode.__members__} - {"OK"},
            "phase": {"before", "after"},
            "corrupt": {None, "payload", "crc"},
        }
        for name, values in known.items():
            if getattr(self, name) not in values:
                raise ValueError(f"fault: unknown {name} {getattr(self, name)!r}")
        others = (self.code, self.delay, self.corrupt, self.times, self.skip, self.phase != "before")
        if self.late and any(others):
            raise ValueError("fault: late goes with method and resource only")

    def error(self, method: str, resource: str) -> GoogleAPICallError | None:
        """What a call of this method on this resource fails with."""
        if self.code is None:
            return None
        message = self.message
        if not message and self.code == "PERMISSION_DENIED":
            kind = "versions" if "Version" in method else "secrets"
            permission = f"secretmanager.{kind}.{method.partition('Secret')[0].lower()}"
            message = f"Permission '{permission}' denied for resource '{resource}' (or it may not exist)."
        message = message or f"{self.code}: injected by the stand-in for {method}."
        error: GoogleAPICallError = from_grpc_status(StatusCode[self.code], message)
        return error

    def fits(self, method: str, names: Sequence[str]) -> bool:
        """Whether the rule is for a call of this method, on a resource of these names."""
        return any(self.matches(method=method, resource=name) for name in names)


class FaultTable(RuleTable[Fault]):
    """The rules in force.

    :param remember: called before the first rule with `late`: from then on the past has to be known.
    """

    def __init__(self, remember: Callable[[], None]) -> None:
        super().__init__(Fault)
        self._remember = remember

    def add(self, *values: Any, **options: Any) -> Fault:
        if options.get("late"):
            self._remember()
        return super().add(*values, **options)

    def take(self, method: str, *names: str) -> Fault | None:
        """The rule for this call, counted as used."""
        return self.first(lambda rule: not rule.late and rule.fits(method, names))

    def lateness(self, method: str, *names: str) -> float:
        """By how many seconds the answer to this call is old."""
        rule = self.first(lambda rule: bool(rule.late) and rule.fits(method, names))
        return rule.late if rule else 0.0
