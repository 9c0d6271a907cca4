# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What may be a label's value.  Pure.

Much of what is counted was said by others: a pod's termination message, an event's type. Each new value of
a label is a series that Prometheus keeps, so only what is known, or a few of what has the right shape, gets
through.
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
    """A cluster's id; else ``other``."""
    return value if isinstance(value, str) and _CLUSTER.match(value) else OTHER


def bounded_number(value: Any, most: float) -> float | None:
    """A number from 0 to ``most``, or None: a wrong one would spoil a counter for good."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # A huge int has no float; the comparison is exact all the same.
    if not 0 <= value <= most or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return float(value)


class LimitedLabels:
    """Words of the right shape, as long as they are few; what comes after those is ``other``."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._seen: set[str] = set()

    def __call__(self, value: Any) -> str:
        """The word itself, or ``other``."""
        if not isinstance(value, str) or not _WORD.match(value):
            return OTHER
        if value not in self._seen:
            if len(self._seen) >= self._most:
                return OTHER
            self._seen.add(value)
        return value
