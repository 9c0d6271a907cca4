# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The adapter's Jobs: read, decide (``planning``), create what is missing, report what is seen.

It waits for nothing. Each call leaves the cluster's objects in a state from which the next can continue, even
if it was interrupted.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Callable

from ....clients.kubernetes.client import KubernetesClient
from ....model.errors import OwnershipConflict
from ....runtime.retry import Deadline
from .. import model
from ..config.config import AdapterConfig
from ..model import Observed, Order
from .data_secrets import DataSecrets
from .digest_key import DigestKey
from .document_limits import document_refusal
from .drift import DriftDetector
from .job_cache import JobCache
from .job_reconciler import JobReconciler
from .job_removal import JobRemoval, JobRemover
from .job_writer import ApplyRequest
from .marks import content_digest
from .suspension import JobSuspender, SuspendedJobs

__all__ = ["Jobs"]


class Jobs:
    """The Jobs of one adapter on one management API server. Thread-safe.

    :param clock: seconds since 1970.
    """

    def __init__(
        self, client: KubernetesClient, config: AdapterConfig, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._client = client
        self._namespace = config.namespace
        self._cache = JobCache(client, config.namespace, config.adapter)
        self._drift_detector = DriftDetector(client)
        self._key = DigestKey(client, config.namespace, config.adapter)
        self._remover = JobRemover(client, config.namespace, config.adapter)
        secrets = DataSecrets(client, config.namespace, config.adapter)
        self._reconciler = JobReconciler(client, config, self._cache, secrets, self._drift_detector, clock)
        self._suspender = JobSuspender(client, config.namespace, config.adapter)

    def prepare(self, cluster_ids: Sequence[str], deadline: Deadline) -> None:
        """Read the current state of a batch's clusters in few requests. Never raises.

        What was read is used by one ``apply`` of each cluster.
        """
        self._key.forget_failure()
        self._cache.prepare(cluster_ids, deadline)
        # Read after the Jobs, so that the Secret of each Job exists by now.
        self._drift_detector.prepare(self._cache.noted_successes(cluster_ids), deadline)

    def apply(self, order: Order, document: bytes, deadline: Deadline) -> Observed:
        """Create a Job for the order unless one exists or existed, and return what is observed.

        :param document: the pull secret in the form that the Job receives.
        :raises PullSecretError: the Job could not be read or created; names the object and no value.
        """
        refused = document_refusal(document, order.cluster_id)
        if refused is not None:
            return refused
        content = content_digest(order, document, self._key.get(deadline))
        request = ApplyRequest(order, document, content, deadline)
        try:
            return self._reconciler.reconcile(request)
        except OwnershipConflict as error:
            return Observed(
                model.FAILED,
                "OwnershipConflict",
                str(error),
                namespace=self._namespace,
                actions=tuple(request.actions),
                retry=False,
                kind=error.kind,
            )

    def remove(self, cluster_id: str, deadline: Deadline) -> JobRemoval:
        """Delete all Jobs, pods and Secrets of a cluster here, and check whether they are gone."""
        return self._remover.remove(cluster_id, deadline)

    def suspend(self, cluster_id: str, deadline: Deadline) -> SuspendedJobs:
        """Suspend the Jobs of a deleted cluster, and read which secrets they write."""
        return self._suspender.suspend(cluster_id, deadline)

    def has_namespace(self, name: str, deadline: Deadline) -> bool:
        """Return whether the management cluster has this namespace.

        :raises PullSecretError: it cannot be read; the permission to get namespaces may be missing.
        """
        return self._client.has_namespace(name, deadline)

    def cluster_ids(self, deadline: Deadline) -> set[str]:
        """Return the ids of all clusters that have something here."""
        return self._remover.cluster_ids(deadline)
