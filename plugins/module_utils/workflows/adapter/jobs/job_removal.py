# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Removes a cluster's Jobs, pods and Secrets, and lists the clusters that have any."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ....clients.kubernetes.client import KubernetesClient
from ....clients.kubernetes.errors import Overtaken
from ....places.kubernetes_secret.target import is_being_deleted
from ....runtime.retry import Deadline
from .. import names
from . import job_state
from .job_end import job_end

__all__ = ["JobRemoval", "JobRemover"]

# Kind and resource type, in the order of deletion: when pods are read, no Job creates new ones.
_KINDS = (("jobs", names.JOB), ("secrets", names.DATA), ("pods", names.JOB))


@dataclass(frozen=True)
class JobRemoval:
    """The result of a removal.

    :param gone: a look confirmed that nothing is left.
    :param left: ``jobs/NAME`` of each object that is left.
    :param actions: descriptions of this call's deletions.
    :param ends: what is counted of Jobs whose end no look had seen (``job_end``).
    """

    gone: bool
    left: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    ends: tuple[dict[str, Any], ...] = ()


class JobRemover:
    """Removes the Jobs of one adapter in its namespace. Thread-safe. It deletes only objects with its labels."""

    def __init__(self, client: KubernetesClient, namespace: str, adapter: str) -> None:
        self._client = client
        self._namespace = namespace
        self._adapter = adapter

    def remove(self, cluster_id: str, deadline: Deadline) -> JobRemoval:
        """Delete everything of a cluster, then look again if there was anything.

        :raises PullSecretError: it could not be read or deleted.
        """
        actions: list[str] = []
        ends: list[dict[str, Any]] = []
        left = list(self._left(cluster_id, deadline))
        if left:
            jobs = {found["metadata"]["uid"] for kind, found in left if kind == "jobs"}
            for kind, found in left:
                if is_being_deleted(found) or (kind == "pods" and _owned(found, jobs)):
                    continue
                if self._delete(kind, found, actions, deadline) and kind == "jobs":
                    ends += _unrecorded_end(found)
            left = list(self._left(cluster_id, deadline))
        return JobRemoval(
            gone=not left,
            left=tuple(f"{kind}/{found['metadata']['name']}" for kind, found in left),
            actions=tuple(actions),
            ends=tuple(ends),
        )

    def cluster_ids(self, deadline: Deadline) -> set[str]:
        """Return the ids of all clusters that have a Job or a Secret here."""
        found = set()
        for kind, resource_type in _KINDS[:2]:
            selector = names.selector(self._adapter, resource_type)
            for item in self._list(kind, selector, deadline):
                metadata = item["metadata"]
                noted = (metadata.get("annotations") or {}).get(names.CLUSTER_ID)
                label = metadata["labels"].get("cluster-id")
                # Objects are found by the label. An annotation with another id is ignored.
                found.add(noted if noted and names.label_value(noted) == label else label)
        return {cluster_id for cluster_id in found if cluster_id}

    def _left(self, cluster_id: str, deadline: Deadline) -> Iterator[tuple[str, dict[str, Any]]]:
        for kind, resource_type in _KINDS:
            selector = names.cluster_selector(self._adapter, resource_type, cluster_id)
            # A Job's end is in its status.
            for found in self._list(kind, selector, deadline, metadata_only=kind != "jobs"):
                yield kind, found

    def _list(
        self, kind: str, selector: str, deadline: Deadline, *, metadata_only: bool = True
    ) -> Iterator[dict[str, Any]]:
        return self._client.list_all(kind, selector, deadline, self._namespace, metadata_only=metadata_only)

    def _delete(self, kind: str, found: dict[str, Any], actions: list[str], deadline: Deadline) -> bool:
        """Return whether this call deleted it."""
        name = str(found["metadata"]["name"])
        try:
            if self._client.delete(
                self._namespace,
                kind,
                name,
                {"uid": str(found["metadata"]["uid"])},
                deadline,
                propagation="Background",
            ):
                actions.append(f"deleted {kind[:-1]} {name}")
                return True
        except Overtaken:
            # Another object of that name by now. The second look sees it.
            pass
        return False


def _unrecorded_end(found: dict[str, Any]) -> list[dict[str, Any]]:
    job = job_state.read_job(found)
    return [job_end(job)] if job.ended is not None and job.recorded is None else []


def _owned(pod: dict[str, Any], jobs: set[str]) -> bool:
    """Return whether the garbage collector deletes it with its Job."""
    return any(owner.get("uid") in jobs for owner in pod["metadata"].get("ownerReferences") or ())
