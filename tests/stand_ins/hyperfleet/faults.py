# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The faults of this stand-in, and what it records of a request.

A rule has these keys, beside `times`, `skip` and `delay`; the first that fits a request is used:

method  an HTTP method or `*`
path    glob (`fnmatch`) on the path without the query; `*` crosses slashes
query   glob on the query, as it was sent
status  answer with this HTTP status (problem+json) instead; the request has no effect
drop    close the connection instead of answering
lost    do what is asked, and close the connection instead of answering
body    answer with this text as application/json (with `status`, or 200): not a problem, maybe not JSON
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from tests.stand_ins.rules import Rule

__all__ = ["Call", "Fault"]


@dataclass
class Fault(Rule):
    """One rule; ValueError for one that makes no sense."""

    method: str = "*"
    path: str = "*"
    query: str = "*"
    status: int | None = None
    drop: bool = False
    lost: bool = False
    body: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.status is None and not self.delay and not (self.drop or self.lost) and self.body is None:
            raise ValueError("fault: needs a status, a delay, a body, a drop or a loss")
        if self.status is not None and not 400 <= self.status <= 599 and self.body is None:
            raise ValueError("fault: status is 400 to 599")


@dataclass(frozen=True)
class Call:
    """A request that was served; no headers and no bodies, which hold secrets. Status 0: dropped."""

    method: str
    path: str
    query: str
    status: int
    at: float = field(default_factory=time.time, init=False)
