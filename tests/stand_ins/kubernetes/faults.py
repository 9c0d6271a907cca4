# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The faults of this stand-in, and what it records of a call."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from tests.stand_ins.rules import Rule


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


@dataclass
class Call:
    """One call as it was answered; ``status`` 0 means that the connection was dropped. No bodies are kept."""

    verb: str
    method: str
    path: str
    query: str
    user: str
    status: int
    at: float = field(default_factory=time.time)
