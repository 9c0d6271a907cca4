# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Warning Events. Pure.

Events expire after an hour, and one a run would be a thousand a day. So there is one for each message about an
object, and its count increases while the problem lasts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from .kubernetes_time import epoch_seconds, kubernetes_time

__all__ = ["LONGEST_MESSAGE", "event_name", "refresh_patch", "warning_event"]

LONGEST_MESSAGE = 1024
"""The API server's limit, in characters."""
_COMPONENT = "hyperfleet.pull_secret"
# Seconds, well within the hour for which Events live.
_REFRESH_SECONDS = 1800.0


def event_name(name: str, uid: str, message: str) -> str:
    """Return the name of the Event with a message about an object.

    :param name: the object's, as ``uid``.
    """
    return f"{name}.{hashlib.sha256(f'{uid} {message}'.encode()).hexdigest()[:16]}"


def warning_event(
    name: str, involved: Mapping[str, Any], reason: str, message: str, now: float
) -> dict[str, Any]:
    """Return a new Event.

    :param involved: the reference to the object.
    :param now: seconds since the epoch.
    """
    moment = kubernetes_time(now)
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": involved["namespace"]},
        "involvedObject": dict(involved),
        "reason": reason,
        "message": message[:LONGEST_MESSAGE],
        "type": "Warning",
        "source": {"component": _COMPONENT},
        "reportingComponent": _COMPONENT,
        "reportingInstance": _COMPONENT,
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "count": 1,
    }


def refresh_patch(existing: Mapping[str, Any], now: float) -> dict[str, Any] | None:
    """Return the patch that keeps an Event alive, or None if it is young enough."""
    age = now - epoch_seconds(existing.get("lastTimestamp"))
    if 0 <= age < _REFRESH_SECONDS:
        return None
    return {
        "metadata": {"resourceVersion": existing["metadata"]["resourceVersion"]},
        "count": int(existing.get("count") or 0) + 1,
        "lastTimestamp": kubernetes_time(now),
    }
