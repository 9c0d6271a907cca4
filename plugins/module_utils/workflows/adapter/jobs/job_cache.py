# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads Jobs and pods ahead: few LISTs for the clusters of a batch, or one for a single cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ....clients.kubernetes.client import KubernetesClient
from ....model.errors import PullSecretError
from ....runtime.retry import Deadline
from .. import names
from .job_state import COMPLETE, JobState, read_job
from .pods import Pod, pods_of

__all__ = ["JobCache"]

# From this number of clusters, a single LIST is cheaper than one for each.
_LIST_FROM = 3
# Up to this number of clusters, the selectors name them, in groups of this size, so that only their objects
# are sent. The server scans all objects each time, so a large batch uses one LIST of all.
_NAMED_UP_TO = 200
_NAMED = 100


class JobCache:
    """Jobs and pods by cluster. Thread-safe once prepared.

    What was read ahead is returned once: a second call needs the current state.
    """

    def __init__(self, client: KubernetesClient, namespace: str, adapter: str) -> None:
        self._client = client
        self._namespace = namespace
        self._adapter = adapter
        self._jobs: dict[str, list[JobState]] = {}
        self._pods: dict[str, list[Pod]] | None = None

    def prepare(self, cluster_ids: Sequence[str], deadline: Deadline) -> None:
        """Read ahead. If that fails, each cluster's own read reports why."""
        self._jobs, self._pods = {}, None
        wanted: dict[str, list[JobState]] = {names.label_value(cluster_id): [] for cluster_id in cluster_ids}
        if len(wanted) < _LIST_FROM:
            return
        try:
            for selector in self._selectors(wanted):
                for label, job in self._list_jobs(selector, deadline):
                    if label in wanted:
                        wanted[label].append(job)
        except PullSecretError:
            return
        self._jobs = wanted
        asked = {job.uid: label for label, jobs in wanted.items() for job in jobs if _needs_pods(job)}
        if len(asked) >= _LIST_FROM:
            self._read_pods(asked, deadline)

    def noted_successes(self, cluster_ids: Iterable[str]) -> list[str]:
        """Return those whose success was read ahead and had been recorded before."""
        return [
            cluster_id
            for cluster_id in cluster_ids
            if any(
                job.ended == COMPLETE and job.recorded is not None
                for job in self._jobs.get(names.label_value(cluster_id), ())
            )
        ]

    def cached_or_read(self, cluster_id: str, deadline: Deadline) -> list[JobState]:
        """Return the cluster's Jobs as read ahead, or on the second call as they are now."""
        found = self._jobs.pop(names.label_value(cluster_id), None)
        return found if found is not None else self.read(cluster_id, deadline)

    def read(self, cluster_id: str, deadline: Deadline) -> list[JobState]:
        """Return the cluster's Jobs as they are now."""
        selector = names.cluster_selector(self._adapter, names.JOB, cluster_id)
        return [job for _label, job in self._list_jobs(selector, deadline)]

    def pods(self, cluster_id: str, job: JobState, deadline: Deadline) -> list[Pod]:
        """Return the pods of one of the cluster's Jobs; read only if they tell more than the Job."""
        if not _needs_pods(job):
            return []
        known = self._pods.pop(job.uid, None) if self._pods is not None else None
        if known is not None:
            return known
        selector = names.cluster_selector(self._adapter, names.JOB, cluster_id)
        return pods_of(job, self._list("pods", selector, deadline))

    def _read_pods(self, asked: Mapping[str, str], deadline: Deadline) -> None:
        """:param asked: the cluster's label of each Job, by the Job's uid."""
        found: dict[str, list[Pod]] = {uid: [] for uid in asked}
        try:
            for selector in self._selectors(asked.values()):
                for pod in self._list("pods", selector, deadline):
                    for owner in pod["metadata"].get("ownerReferences") or ():
                        if owner.get("uid") in found:
                            found[owner["uid"]].append(pod)
        except PullSecretError:
            return
        self._pods = found

    def _selectors(self, labels: Iterable[str]) -> list[str]:
        """Return selectors that match all Jobs or pods of these clusters, and maybe others."""
        wanted = sorted(set(labels))
        if len(wanted) > _NAMED_UP_TO:
            return [names.selector(self._adapter, names.JOB)]
        return [
            names.clusters_selector(self._adapter, names.JOB, wanted[start : start + _NAMED])
            for start in range(0, len(wanted), _NAMED)
        ]

    def _list_jobs(self, selector: str, deadline: Deadline) -> Iterator[tuple[str, JobState]]:
        for found in self._list("jobs", selector, deadline):
            yield str(found["metadata"]["labels"].get("cluster-id")), read_job(found)

    def _list(self, kind: str, selector: str, deadline: Deadline) -> Iterable[dict[str, Any]]:
        return self._client.list_all(kind, selector, deadline, self._namespace)


def _needs_pods(job: JobState) -> bool:
    """Return whether its pods tell more than it does: it runs, or its end was not recorded yet."""
    return job.ended is None or job.recorded is None
