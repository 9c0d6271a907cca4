# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times as the API reads and writes them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

__all__ = ["Clock", "format_time", "parse_time", "system_clock"]

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    return datetime.now(UTC)


def parse_time(text: str) -> datetime:
    """Read an RFC 3339 time; ValueError if it is none."""
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError("not an RFC 3339 time")
    return found


def format_time(instant: datetime) -> str:
    """UTC with as many decimals as are needed, as Go writes it."""
    text = instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
    return text.rstrip("0").rstrip(".") + "Z"
