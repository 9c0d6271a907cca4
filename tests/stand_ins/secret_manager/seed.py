# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Put secrets into the store without calls, faults or counters."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf import json_format

from . import limits
from .protos import STATE_NUMBER, Secret
from .store import Store

__all__ = ["seed"]


def seed(store: Store, secrets: Iterable[Mapping[str, Any]]) -> int:
    """Create secrets and return their number; ApiError or ValueError for one that cannot be.

    A secret is {"project", "secret", "labels", "annotations", "replication" (as in the REST API, default
    automatic), "versions": [{"data" (text) or "data_base64", "state" (default ENABLED)}]}.
    """
    count = 0
    for item in secrets:
        message = Secret(labels=item.get("labels") or {}, annotations=item.get("annotations") or {})
        json_format.ParseDict(item.get("replication") or {"automatic": {}}, message.replication)
        limits.check_secret_id(item["secret"])
        limits.check_replication(message.replication)
        limits.check_labels(message.labels)
        limits.check_annotations(message.annotations)
        record = store.create(item["project"], item["secret"], message)
        for version in item.get("versions") or ():
            state = STATE_NUMBER[version.get("state", "ENABLED")]
            added = store.add_version(record, _payload(version), crc=None, checked=True)
            if state != added.state:
                store.set_version_state(record, added, state)
        count += 1
    return count


def _payload(version: Mapping[str, Any]) -> bytes:
    if "data_base64" in version:
        payload = base64.b64decode(version["data_base64"], validate=True)
    else:
        payload = version["data"].encode()
    if not 0 < len(payload) <= limits.MAX_PAYLOAD:
        raise ValueError("seed: a payload has 1 to 65536 bytes")
    return payload
