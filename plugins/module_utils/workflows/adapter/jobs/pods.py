# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Job's pods, and the state of the container that does the work. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .job_state import JobState
from .manifests import CONTAINER

__all__ = ["Pod", "container_end", "container_state", "is_evicted", "pod_phase", "pods_of"]

Pod = Mapping[str, Any]


def pods_of(job: JobState, pods: Iterable[Pod]) -> list[Pod]:
    """Return the pods that the Job controller created for this Job, the newest first."""
    own = [
        pod
        for pod in pods
        if any(owner.get("uid") == job.uid for owner in pod["metadata"].get("ownerReferences") or ())
    ]
    return sorted(
        own,
        key=lambda pod: (str(pod["metadata"].get("creationTimestamp")), str(pod["metadata"]["name"])),
        reverse=True,
    )


def pod_phase(pod: Pod) -> str:
    """Return ``Pending``, ``Running``, ``Succeeded``, ``Failed``, or an empty string if it is unknown."""
    return str((pod.get("status") or {}).get("phase") or "")


def is_evicted(pod: Pod) -> bool:
    """Return whether its node evicted it."""
    return (pod.get("status") or {}).get("reason") == "Evicted"


def container_state(pod: Pod) -> Mapping[str, Any]:
    """Return the state of the container that does the work."""
    for status in (pod.get("status") or {}).get("containerStatuses") or ():
        if status.get("name") == CONTAINER:
            return dict(status.get("state") or {})
    return {}


def container_end(pod: Pod | None) -> Mapping[str, Any]:
    """Return how it ended, or an empty mapping if it did not."""
    return dict((container_state(pod).get("terminated") if pod is not None else None) or {})
