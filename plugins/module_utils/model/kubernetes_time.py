# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Times as the Kubernetes API server writes them. Pure."""

from __future__ import annotations

import calendar
import time
from typing import Any

__all__ = ["epoch_seconds", "kubernetes_time"]

_FORM = "%Y-%m-%dT%H:%M:%SZ"


def epoch_seconds(moment: Any) -> float:
    """Return seconds since the epoch for ``2026-01-02T03:04:05Z``, or 0 for anything else."""
    try:
        return float(calendar.timegm(time.strptime(str(moment), _FORM)))
    except ValueError:
        return 0.0


def kubernetes_time(seconds: float) -> str:
    """Return ``2026-01-02T03:04:05Z`` for seconds since the epoch."""
    return time.strftime(_FORM, time.gmtime(seconds))
