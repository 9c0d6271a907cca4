# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The adapter's Jobs: look, decide (``planning``), make what is missing, say what is seen.

Nothing is waited for.  Each call leaves the cluster's objects in a state that the next one goes on from,
wherever it was ended.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Callable

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter import model
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.config.config import (
    AdapterConfig,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.applying import (
    ENDED,
    Applying,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.data_secrets import (
    DataSecrets,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.digest_key import DigestKey
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.fitting import refusal
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.leaving import (
    Leaver,
    Left,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.making import Work
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.marks import content_digest
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.placed import Placed
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.removing import (
    Removal,
    Remover,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.views import Views
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.model import Observed, Order
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import OwnershipConflict
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.client import (
    KubernetesClient,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.retry import Deadline

__all__ = ["ENDED", "Jobs", "Removal"]


class Jobs:
    """The Jobs of one adapter at one management API server; thread-safe.

    :param clock: seconds since 1970.
    """

    def __init__(
        self, client: KubernetesClient, config: AdapterConfig, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._client = client
        self._namespace = config.namespace
        self._views = Views(client, config.namespace, config.adapter)
        self._placed = Placed(client)
        self._key = DigestKey(client, config.namespace, config.adapter)
        self._remover = Remover(client, config.namespace, config.adapter)
        secrets = DataSecrets(client, config.namespace, config.adapter)
        self._applying = Applying(client, config, self._views, secrets, self._placed, clock)
        self._leaver = Leaver(client, config.namespace, config.adapter)

    def prepare(self, cluster_ids: Sequence[str], deadline: Deadline) -> None:
        """Read what is there for a batch's clusters in few requests; raises nothing.

        What was read is good for one ``apply`` of each.
        """
        self._key.forget_failure()
        self._views.prepare(cluster_ids, deadline)
        # After the Jobs: what one of these made is there by now.
        self._placed.prepare(self._views.done(cluster_ids), deadline)

    def apply(self, order: Order, document: bytes, deadline: Deadline) -> Observed:
        """Have a Job do what is ordered, unless one does or did, and say what is seen of it.

        :param document: the pull secret, as it is to reach the Job.
        :raises PullSecretError: nothing could be seen, or made; it names the object and no value.
        """
        refused = refusal(document, order.cluster_id)
        if refused is not None:
            return refused
        content = content_digest(order, document, self._key.get(deadline))
        work = Work(order, document, content, deadline)
        try:
            return self._applying.settled(work)
        except OwnershipConflict as error:
            return Observed(
                model.FAILED,
                "OwnershipConflict",
                str(error),
                namespace=self._namespace,
                actions=tuple(work.actions),
                retry=False,
                kind=error.kind,
            )

    def remove(self, cluster_id: str, deadline: Deadline) -> Removal:
        """Delete all of a cluster's Jobs, pods and Secrets here, and look whether they are gone."""
        return self._remover.remove(cluster_id, deadline)

    def halt(self, cluster_id: str, deadline: Deadline) -> Left:
        """Suspend the Jobs of a cluster that is gone, and read where they bring things."""
        return self._leaver.halt(cluster_id, deadline)

    def has_namespace(self, name: str, deadline: Deadline) -> bool:
        """Whether the management cluster has this namespace.

        :raises PullSecretError: it does not say so; the right to get namespaces may be missing.
        """
        return self._client.has_namespace(name, deadline)

    def known(self, deadline: Deadline) -> set[str]:
        """The ids of all clusters that have something here."""
        return self._remover.known(deadline)
