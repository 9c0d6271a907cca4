# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The two marks of a Job: what it was made for, and how.  Pure.

What was ordered is told by a keyed digest, since whoever reads Jobs could otherwise guess at a weak
password; how the Job is run by a plain hash.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

from ..model import Order

__all__ = ["content_digest", "template_hash"]


def content_digest(order: Order, document: bytes, key: bytes) -> str:
    """What is the same as long as a new Job would do what an earlier one did.

    Neither the generation nor the trace is in it: an edit of a label changes them.

    :param key: secret, and the same in all runs.
    """
    parts = [
        order.cluster_id,
        order.cluster_name,
        order.project,
        order.namespace,
        order.replication,
        order.stored_as,
        order.placed_as,
    ]
    # A document cannot begin earlier than it does: what is before it is JSON of one line.
    said = json.dumps(parts).encode() + b"\n" + document
    return "hmac-sha256:" + hmac.new(key, said, hashlib.sha256).hexdigest()


def template_hash(spec: Mapping[str, Any]) -> str:
    """Of a Job's spec; what it refers to is not in it, nor where its trace comes from."""
    template = spec["template"]
    pod = dict(template["spec"])
    pod["containers"] = [
        {**container, "env": [item for item in container["env"] if item["name"] != "TRACEPARENT"]}
        for container in pod["containers"]
    ]
    # Of these a Job that is there may have others and do as well.
    kept = {
        name: value for name, value in spec.items() if name not in ("template", "ttlSecondsAfterFinished")
    }
    said = json.dumps([kept, pod], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:32]
