# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Durations in Go's notation: ``30s``, ``1m30s``, ``500ms``. Pure."""

from __future__ import annotations

import re

__all__ = ["DURATION", "seconds"]

DURATION = r"^(([0-9]{1,9}(\.[0-9]{0,9})?|\.[0-9]{1,9})(ns|us|µs|ms|s|m|h)){1,7}$"
"""As a JSON Schema's pattern; it does not include bare numbers."""

_WHOLE = re.compile(DURATION.replace("$", r"\Z"), re.ASCII)
_PART = re.compile(r"([0-9.]+)([^0-9.]+)", re.ASCII)
_BARE = re.compile(r"[0-9]{1,9}\Z", re.ASCII)
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def seconds(text: str) -> float:
    """Return seconds above 0; a bare whole number is seconds.

    :raises ValueError: it is not such a duration; the error quotes nothing of it.
    """
    given = text.strip()
    if _BARE.match(given):
        found = float(given)
    elif _WHOLE.match(given):
        found = sum(float(amount) * _UNITS[unit] for amount, unit in _PART.findall(given))
    else:
        found = 0.0
    if found <= 0:
        raise ValueError("not a duration")
    return found
