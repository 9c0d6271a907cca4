# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The header ``traceparent`` of W3C Trace Context: taken from an event, handed on.  Pure, but for random ids.

Spans are not recorded here: a trace goes through this program, into its log lines, its Jobs and its requests.
"""

from __future__ import annotations

import re
import secrets
from typing import Any, NamedTuple, Optional

__all__ = ["HEADER", "Parsed", "child", "header", "parse", "trace_id"]

HEADER = "traceparent"
_FORM = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[!-~]*)?\Z")
_SAMPLED = 0x01
# What a header may be at most; later versions may be longer than ours.
_LONGEST = 512


class Parsed(NamedTuple):
    """A valid traceparent.

    :param trace: 32 hexadecimal digits, not all zero. :param span: 16 of them, likewise.
    """

    trace: str
    span: str
    sampled: bool


def parse(traceparent: Any) -> Optional[Parsed]:
    """What a traceparent says, or None where it is none: then a trace begins here."""
    if not isinstance(traceparent, str) or len(traceparent) > _LONGEST:
        return None
    found = _FORM.match(traceparent)
    if not found:
        return None
    version, trace, span, flags, more = found.groups()
    # Version 00 has four parts; a later one begins with the same four. ff is forbidden.
    if version == "ff" or (version == "00" and more is not None):
        return None
    if not trace.strip("0") or not span.strip("0"):
        return None
    return Parsed(trace, span, bool(int(flags, 16) & _SAMPLED))


def child(traceparent: Optional[str]) -> str:
    """The traceparent of what is done for this one: its trace, a new span.

    Without a valid one it is a new trace, which nobody has decided to record.
    """
    parent = parse(traceparent)
    trace = parent.trace if parent else _id(16)
    flags = _SAMPLED if parent and parent.sampled else 0
    return f"00-{trace}-{_id(8)}-{flags:02x}"


def trace_id(traceparent: Optional[str]) -> str:
    """The trace's id for a log line, empty where there is none."""
    parsed = parse(traceparent)
    return parsed.trace if parsed else ""


def header(traceparent: Optional[str]) -> dict[str, str]:
    """The header for a request that is made for it; none for what is no traceparent."""
    return {HEADER: traceparent} if traceparent is not None and parse(traceparent) else {}


def _id(length: int) -> str:
    """So many random bytes in hexadecimal digits, not all zero."""
    while True:
        made = secrets.token_hex(length)
        if made.strip("0"):
            return made
