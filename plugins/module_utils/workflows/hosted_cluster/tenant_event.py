# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Event and the annotation that tell a tenant why their secret is not merged, or with which warnings it is.

Events expire after an hour, and one a run would be a thousand a day. So there is one for each problem, and
its count increases while the problem lasts. The annotation stays until the secret is fixed.
"""

from __future__ import annotations

import calendar
import hashlib
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from .names import PROBLEM

__all__ = ["TenantNotice", "annotation_patch", "event_name", "refresh_patch", "tenant_event"]

_COMPONENT = "hyperfleet.pull_secret"
# The API server's limit.
_MESSAGE = 1024
# Seconds, well within the hour for which Events live.
_REFRESH_SECONDS = 1800.0
_TIME = "%Y-%m-%dT%H:%M:%SZ"


class TenantNotice(NamedTuple):
    """What a tenant must correct: registries and rules, no value.

    ``is_merged``: the secret is merged all the same.
    """

    problem: str
    is_merged: bool = False

    @property
    def message(self) -> str:
        """The notice as one sentence."""
        return f"{'merged, with warnings' if self.is_merged else 'not merged'}: {self.problem}"[:_MESSAGE]


def event_name(secret: Mapping[str, Any], notice: TenantNotice) -> str:
    """Return the Event's name: one for each problem of one secret."""
    metadata = secret["metadata"]
    digest = hashlib.sha256(f"{metadata['uid']} {notice.problem}".encode()).hexdigest()[:16]
    return f"{metadata['name']}.{digest}"


def tenant_event(secret: Mapping[str, Any], notice: TenantNotice, now: float) -> dict[str, Any]:
    """Return a new Event about the tenant's secret.

    :param now: seconds since the epoch.
    """
    metadata = secret["metadata"]
    moment = time.strftime(_TIME, time.gmtime(now))
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": event_name(secret, notice), "namespace": metadata["namespace"]},
        "involvedObject": {
            "apiVersion": "v1",
            "kind": "Secret",
            "namespace": metadata["namespace"],
            "name": metadata["name"],
            "uid": metadata["uid"],
        },
        "reason": "PullSecretWarning" if notice.is_merged else "InvalidPullSecret",
        "message": notice.message,
        "type": "Warning",
        "source": {"component": _COMPONENT},
        "reportingComponent": _COMPONENT,
        "reportingInstance": _COMPONENT,
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "count": 1,
    }


def refresh_patch(there: Mapping[str, Any], now: float) -> dict[str, Any] | None:
    """Return the patch that keeps an Event alive, or None if it is young enough."""
    try:
        last = time.strptime(str(there.get("lastTimestamp")), _TIME)
    except ValueError:
        last = time.gmtime(0)
    age = now - _seconds(last)
    if 0 <= age < _REFRESH_SECONDS:
        return None
    return {
        "metadata": {"resourceVersion": there["metadata"]["resourceVersion"]},
        "count": int(there.get("count") or 0) + 1,
        "lastTimestamp": time.strftime(_TIME, time.gmtime(now)),
    }


def annotation_patch(secret: Mapping[str, Any], notice: TenantNotice | None) -> dict[str, Any] | None:
    """Return the patch of the tenant's secret, or None if its annotation is right."""
    metadata = secret["metadata"]
    wanted = None if notice is None else notice.message if notice.is_merged else notice.problem[:_MESSAGE]
    if (metadata.get("annotations") or {}).get(PROBLEM) == wanted:
        return None
    return {
        "metadata": {"resourceVersion": metadata["resourceVersion"], "annotations": {PROBLEM: wanted}},
    }


def _seconds(moment: time.struct_time) -> float:
    return float(calendar.timegm(moment))
