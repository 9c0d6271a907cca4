# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Jobs of one run. Connects on first use, and stops trying if Kubernetes does not answer."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Callable

from ....model.errors import PullSecretError, repeated_error
from ....runtime.breaker import Breaker
from ....runtime.retry import Deadline
from ..jobs.job_removal import JobRemoval
from ..jobs.jobs import Jobs
from ..jobs.suspension import SuspendedJobs
from ..model import Observed
from .decide import Apply

__all__ = ["LazyJobs"]


class LazyJobs:
    """The Jobs of one management cluster, connected on first use. Thread-safe.

    :param connect: connects; called once, and its error is each cluster's.
    """

    def __init__(self, connect: Callable[[Deadline], Jobs]) -> None:
        self._connect = connect
        self._breaker = Breaker()
        self._lock = threading.Lock()
        self._jobs: Jobs | None = None
        self._error: PullSecretError | None = None

    def prepare(self, cluster_ids: Sequence[str], deadline: Deadline) -> None:
        """Read ahead. A failure here fails each cluster when it is handled."""
        with suppress(PullSecretError):
            self._connected(deadline).prepare(cluster_ids, deadline)

    def apply(self, decision: Apply, deadline: Deadline) -> Observed:
        """Create or keep the Secret and the Job, and return what is observed."""
        jobs = self._connected(deadline)
        return self._breaker.call(lambda: jobs.apply(decision.order, decision.document, deadline))

    def remove(self, cluster_id: str, deadline: Deadline) -> JobRemoval:
        """Delete a cluster's Jobs and their Secret."""
        jobs = self._connected(deadline)
        return self._breaker.call(lambda: jobs.remove(cluster_id, deadline))

    def suspend(self, cluster_id: str, deadline: Deadline) -> SuspendedJobs:
        """Suspend a cluster's Jobs, and read which secrets they write."""
        jobs = self._connected(deadline)
        return self._breaker.call(lambda: jobs.suspend(cluster_id, deadline))

    def lacks_namespace(self, namespace: str, deadline: Deadline) -> bool:
        """Return whether the management cluster confirms that the namespace does not exist."""
        with suppress(PullSecretError):
            return not self._connected(deadline).has_namespace(namespace, deadline)
        return False

    def cluster_ids(self, deadline: Deadline) -> set[str]:
        """Return the ids of clusters that have Jobs or Secrets of ours."""
        jobs = self._connected(deadline)
        return self._breaker.call(lambda: jobs.cluster_ids(deadline))

    def _connected(self, deadline: Deadline) -> Jobs:
        with self._lock:
            if self._error is not None:
                raise repeated_error(self._error)
            if self._jobs is None:
                try:
                    self._jobs = self._connect(deadline)
                except PullSecretError as error:
                    self._error = error
                    raise
            return self._jobs
