# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Restricts the values of labels. Pure.

Many counted values come from other programs: a pod's termination message, an event's type. Prometheus stores a
series for each new value of a label. So only known values, or a limited number of valid ones, are accepted.
"""

from __future__ import annotations

import math
import re
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.job_vocabulary import (
    OTHER,
)

__all__ = ["LimitedLabels", "bounded_number", "cluster_label"]

_CLUSTER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?\Z")
_WORD = re.compile(r"[a-z][a-zA-Z0-9._-]{0,62}\Z")


def cluster_label(value: Any) -> str:
    """Return a cluster's id, or ``other``."""
    return value if isinstance(value, str) and _CLUSTER.match(value) else OTHER


def bounded_number(value: Any, most: float) -> float | None:
    """Return a number from 0 to ``most``, or None, because a counter cannot be corrected."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # A huge int has no float, but the comparison is exact.
    if not 0 <= value <= most or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return float(value)


class LimitedLabels:
    """Accepts a limited number of valid words; later ones become ``other``."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._seen: set[str] = set()

    def __call__(self, value: Any) -> str:
        """Return the word, or ``other``."""
        if not isinstance(value, str) or not _WORD.match(value):
            return OTHER
        if value not in self._seen:
            if len(self._seen) >= self._most:
                return OTHER
            self._seen.add(value)
        return value
