# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The two marks of a Job: what it was created for, and how it is run. Pure.

The mark of the order is a keyed digest, because a reader of Jobs could otherwise guess a weak password. The
mark of how the Job is run is a plain hash.
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

# Without names, as in the first version of the digest. A later field is added with its name, and only if it
# has a value, so that an upgrade replaces no Job.
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
    """Return a digest that stays the same as long as a new Job would do the same as an earlier one.

    It contains neither the generation nor the trace, which change with the edit of a label.

    :param key: secret, and the same in all runs.
    """
    values = {name: getattr(order.cluster, name) for name, option in OPTIONS.items() if option.in_digest}
    parts = [values.pop(name) for name in _FIRST]
    more = {name: value for name, value in values.items() if value is not None}
    if more:
        parts.append(more)
    # The document cannot begin earlier: before it there is only one line of JSON.
    said = json.dumps(parts, sort_keys=True).encode() + b"\n" + document
    return "hmac-sha256:" + hmac.new(key, said, hashlib.sha256).hexdigest()


def template_hash(spec: Mapping[str, Any]) -> str:
    """Return the hash of a Job's spec, without its references and its trace."""
    template = spec["template"]
    pod = dict(template["spec"])
    pod["containers"] = [
        {**container, "env": [item for item in container["env"] if item["name"] != "TRACEPARENT"]}
        for container in pod["containers"]
    ]
    # An existing Job may have other values of these and still be valid.
    kept = {
        name: value for name, value in spec.items() if name not in ("template", "ttlSecondsAfterFinished")
    }
    said = json.dumps([kept, pod], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:32]
