# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The header ``traceparent`` of W3C Trace Context. Pure.

This program records no spans: it copies a trace into its log entries, statuses, Jobs and requests.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["trace_id"]

_FORM = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-[!-~]*)?\Z")
# Later versions may be longer than ours.
_LONGEST = 512


def trace_id(traceparent: Any) -> str | None:
    """Return the trace's id; None for an invalid traceparent."""
    if not isinstance(traceparent, str) or len(traceparent) > _LONGEST:
        return None
    found = _FORM.match(traceparent)
    if not found:
        return None
    version, trace, span, more = found.groups()
    # Version 00 has four parts; a later one begins with the same four. ff is forbidden.
    if version == "ff" or (version == "00" and more is not None):
        return None
    return trace if trace.strip("0") and span.strip("0") else None
