# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Job's pods, and what their container that does the work is in.  Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .job_state import JobState
from .manifests import CONTAINER

__all__ = ["Pod", "container_end", "container_state", "is_evicted", "pod_phase", "pods_of"]

Pod = Mapping[str, Any]


def pods_of(job: JobState, pods: Iterable[Pod]) -> list[Pod]:
    """Those that the Job controller made for just this Job, the newest first."""
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
    """``Pending``, ``Running``, ``Succeeded``, ``Failed``; empty where nobody says."""
    return str((pod.get("status") or {}).get("phase") or "")


def is_evicted(pod: Pod) -> bool:
    """Whether its node did not keep it."""
    return (pod.get("status") or {}).get("reason") == "Evicted"


def container_state(pod: Pod) -> Mapping[str, Any]:
    """Of the container that does the work."""
    for status in (pod.get("status") or {}).get("containerStatuses") or ():
        if status.get("name") == CONTAINER:
            return dict(status.get("state") or {})
    return {}


def container_end(pod: Pod | None) -> Mapping[str, Any]:
    """How it ended; empty where it did not."""
    return dict((container_state(pod).get("terminated") if pod is not None else None) or {})
