# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names, labels and annotations of the adapter's objects. Pure.

Kubernetes uses a Job's name as the value of a label: at most 63 characters. A longer or invalid name is
shortened and ends with a part of its SHA-256, which is the same for the same id in every run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

from ...model.naming import MANAGED_BY, kubernetes_labels

__all__ = [
    "ATTEMPT",
    "CLUSTER_ID",
    "CONTENT",
    "DATA",
    "DATA_UID",
    "GENERATION",
    "JOB",
    "RESULT",
    "TEMPLATE",
    "cluster_selector",
    "clusters_selector",
    "data_secret_name",
    "digest_key_name",
    "generation_from_annotations",
    "is_ours",
    "job_name",
    "label_value",
    "object_labels",
    "selector",
]

# Annotations.
GENERATION = "hyperfleet.io/generation"
CLUSTER_ID = "hyperfleet.io/cluster-id"
"""The id unchanged; the label of that name may be shortened."""
ATTEMPT = "hyperfleet.io/attempt"
"""The number of the Job's first pod, counted over all Jobs of the same content."""
CONTENT = "hyperfleet.io/content-digest"
TEMPLATE = "hyperfleet.io/template-hash"
DATA_UID = "hyperfleet.io/data-uid"
"""The uid of the Secret that was created for the Job."""
RESULT = "hyperfleet.io/result"
"""The first observed outcome after the Job's end, as JSON."""

# Values of the label ``resource-type``.
JOB = "pull-secret-job"
DATA = "pull-secret-data"

_LONGEST = 63
_HASH = 10
_NAME = re.compile(r"[a-z0-9-]+\Z")
_VALUE = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]*)?[A-Za-z0-9]\Z")
_SUFFIX = re.compile(r"-gen([0-9]{1,18})\Z")


def job_name(cluster_id: str, generation: int) -> str:
    """``pullsecret-{cluster-id}-gen{generation}``."""
    return _fitted("pullsecret-", cluster_id, f"-gen{generation}")


def data_secret_name(cluster_id: str) -> str:
    """``cluster-{cluster-id}-pullsecret-data``."""
    return _fitted("cluster-", cluster_id, "-pullsecret-data")


def digest_key_name(adapter: str) -> str:
    """The Secret with the key of the digests in the Jobs' annotations, one per adapter and namespace."""
    return _fitted("", adapter, "-adapter-digest-key")


def generation_from_annotations(annotations: Mapping[str, str], name: str) -> int:
    """Return the generation of the cluster that a Job was created for, or 0 if it is unknown."""
    noted = annotations.get(GENERATION, "")
    if noted.isascii() and noted.isdigit() and len(noted) <= 18:
        return int(noted)
    found = _SUFFIX.search(name)
    return int(found.group(1)) if found else 0


def object_labels(
    adapter: str, cluster_id: str, cluster_name: str | None, resource_type: str
) -> dict[str, str]:
    """Return the labels of a Job, of its pods, and of the Secret with its data."""
    return {
        **kubernetes_labels(None, cluster_name),
        "adapter": label_value(adapter),
        "cluster-id": label_value(cluster_id),
        "resource-type": resource_type,
    }


def selector(adapter: str, resource_type: str) -> str:
    """Return the label selector for all objects of this adapter of one type."""
    return f"managed-by={MANAGED_BY},adapter={label_value(adapter)},resource-type={resource_type}"


def cluster_selector(adapter: str, resource_type: str, cluster_id: str) -> str:
    """Return the label selector for one cluster's objects of one type."""
    return f"{selector(adapter, resource_type)},cluster-id={label_value(cluster_id)}"


def clusters_selector(adapter: str, resource_type: str, cluster_ids: Iterable[str]) -> str:
    """Return the label selector for some clusters' objects of one type."""
    wanted = ",".join(sorted(set(map(label_value, cluster_ids))))
    return f"{selector(adapter, resource_type)},cluster-id in ({wanted})"


def is_ours(found: Mapping[str, str], adapter: str, cluster_id: str, resource_type: str) -> bool:
    """Return whether an object with these labels was created by this adapter for this cluster."""
    return (
        found.get("managed-by") == MANAGED_BY
        and found.get("adapter") == label_value(adapter)
        and found.get("cluster-id") == label_value(cluster_id)
        and found.get("resource-type") == resource_type
    )


def label_value(text: str) -> str:
    """Return the text as a label's value, unchanged if it is a valid one."""
    if len(text) <= _LONGEST and _VALUE.match(text):
        return text
    kept = re.sub(r"[^A-Za-z0-9_.-]", "-", text).strip("-_.")[: _LONGEST - _HASH - 1].rstrip("-_.")
    return f"{kept}-{_hash(text)}" if kept else _hash(text)


def _fitted(prefix: str, part: str, suffix: str) -> str:
    room = _LONGEST - len(prefix) - len(suffix)
    if len(part) <= room and _NAME.match(part) and (prefix or part[0] != "-"):
        return f"{prefix}{part}{suffix}"
    kept = re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-")[: room - _HASH - 1].rstrip("-")
    return f"{prefix}{kept}-{_hash(part)}{suffix}" if kept else f"{prefix}{_hash(part)}{suffix}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
