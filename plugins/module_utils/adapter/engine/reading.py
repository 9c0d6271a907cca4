# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reading a batch's clusters: a hundred in a request where the API has that search, else one by one."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Union

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.engine.breaker import (
    Breaker,
    again,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.batch import Failure, run_batch
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import PullSecretError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.hyperfleet.client import (
    HyperFleetClient,
    check_cluster_id,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.hyperfleet.errors import RequestRefused
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.base import Settings
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.retry import Deadline

__all__ = ["Clusters"]

# As many searches at a time: the API has a database behind it.
_SEARCHES = 4


class Clusters:
    """The clusters of one batch.

    :param given: clusters that were read already, by id, such as those of a sweep's page.
    """

    def __init__(
        self,
        api: HyperFleetClient,
        breaker: Breaker,
        settings: Settings,
        given: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._api = api
        self._breaker = breaker
        self._settings = settings
        self._found: dict[str, Union[Mapping[str, Any], PullSecretError]] = dict(given or {})

    def prepare(self, cluster_ids: Sequence[str], stop: threading.Event) -> None:
        """Read ahead; what this does not find, ``of`` asks for by itself."""
        wanted = []
        for cluster_id in cluster_ids:
            if cluster_id not in self._found:
                try:
                    wanted.append(check_cluster_id(cluster_id))
                except PullSecretError as error:
                    self._found[cluster_id] = error
        if len(wanted) < 2:
            return
        batches = list(HyperFleetClient.batches(wanted))
        for batch, result in zip(batches, run_batch(batches, self._search, concurrency=_SEARCHES, stop=stop)):
            if isinstance(result, PullSecretError):
                # Tried as often as the policy says: single reads would fail as well, slowly.
                self._found.update((cluster_id, result) for cluster_id in batch)
            elif not isinstance(result, Failure):
                self._found.update(result)

    def of(self, cluster_id: str, deadline: Deadline, traceparent: str | None = None) -> Mapping[str, Any]:
        """One cluster.

        :raises NotFound: it is gone.
        """
        found = self._found.pop(cluster_id, None)
        if isinstance(found, PullSecretError):
            raise again(found) from None
        if found is not None:
            return found
        return self._breaker.call(
            lambda: self._api.get_cluster(check_cluster_id(cluster_id), deadline, traceparent=traceparent)
        )

    def _search(self, cluster_ids: Sequence[str]) -> Union[Mapping[str, Any], PullSecretError]:
        try:
            return self._breaker.call(lambda: self._api.find_clusters(cluster_ids, self._settings.deadline()))
        except RequestRefused:
            return {}  # no such search: each is read by itself
        except PullSecretError as error:
            return error
