# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""CloudEvents as the HyperFleet sentinel writes them.  Pure."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Mapping
from typing import Any

from ...model.errors import ConfigurationError
from ..hyperfleet.client import check_api_cluster_id

__all__ = ["CONTENT_TYPE", "cluster_event", "encode_event"]

CONTENT_TYPE = "application/cloudevents+json"
_TYPE = "com.redhat.hyperfleet.cluster.reconcile"
_SOURCE = "hyperfleet-sentinel"


def _uuid7() -> str:
    """Return a new id that sorts by time (RFC 9562), which Python has from 3.14 on."""
    value = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=value))


def cluster_event(target: Mapping[str, Any]) -> dict[str, Any]:
    """Return the event about a cluster.

    :param target: ``cluster_id``, and as in the module ``generation``, ``type``, ``source``, ``id`` and
        ``traceparent``; None is left out or generated.
    :raises ConfigurationError: the id is invalid.
    """
    cluster_id = check_api_cluster_id(str(target.get("cluster_id") or ""))
    generation = target.get("generation")
    if generation is not None and generation < 1:
        raise ConfigurationError("generation must be 1 or greater")
    data: dict[str, Any] = {
        "id": cluster_id,
        "kind": "Cluster",
        "href": f"/api/hyperfleet/v1/clusters/{cluster_id}",
    }
    if generation is not None:
        data["generation"] = generation
    event: dict[str, Any] = {
        "specversion": "1.0",
        "id": target.get("id") or _uuid7(),
        "source": target.get("source") or _SOURCE,
        "type": target.get("type") or _TYPE,
        "datacontenttype": "application/json",
        "data": data,
    }
    if target.get("traceparent"):
        event["traceparent"] = target["traceparent"]
    return event


def encode_event(event: Mapping[str, Any]) -> bytes:
    """A message's body."""
    return json.dumps(event, separators=(",", ":")).encode("utf-8")
