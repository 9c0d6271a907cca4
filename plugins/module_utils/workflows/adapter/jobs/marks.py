# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The two marks of a Job: what it was made for, and how.  Pure.

The mark of what was ordered is a keyed digest, since a reader of Jobs could otherwise guess a weak password.
The mark of how the Job is run is a plain hash.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

from ....model.cluster import OPTIONS
from ..model import Order

__all__ = ["content_digest", "template_hash"]

# Without names, since a digest had no others once. A field that came later is in it with its name, and only
# where it has a value, so that an upgrade replaces no Job.
_FIRST = (
    "cluster_id",
    "cluster_name",
    "gcp_project_id",
    "management_namespace",
    "replication_text",
    "secret_name",
    "k8s_secret_name",
)


def content_digest(order: Order, document: bytes, key: bytes) -> str:
    """What is the same as long as a new Job would do what an earlier one did.

    Neither the generation nor the trace is in it: an edit of a label changes them.

    :param key: secret, and the same in all runs.
    """
    values = {name: getattr(order.cluster, name) for name, option in OPTIONS.items() if option.in_digest}
    parts = [values.pop(name) for name in _FIRST]
    more = {name: value for name, value in values.items() if value is not None}
    if more:
        parts.append(more)
    # A document cannot begin earlier than it does: what is before it is JSON of one line.
    said = json.dumps(parts, sort_keys=True).encode() + b"\n" + document
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
