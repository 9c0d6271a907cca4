# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads many clusters in as few requests as the API allows."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from ...model.errors import PullSecretError, repeated_error
from ...runtime.batch import Failure, run_batch
from ...runtime.breaker import Breaker
from ...runtime.retry import Deadline
from ...runtime.run_settings import RunSettings
from .client import HyperFleetClient, check_api_cluster_id
from .connection import hyperfleet_connection
from .errors import RequestRefused

__all__ = ["ClusterReader", "hyperfleet_client"]

# Maximum number of concurrent searches: the API has a database behind it.
_SEARCHES = 4


def hyperfleet_client(settings: RunSettings) -> HyperFleetClient:
    """Return the client of a module's ``hyperfleet`` options.

    :raises ConfigurationError: they are invalid.
    """
    options = settings.connection("hyperfleet")
    return HyperFleetClient(
        hyperfleet_connection(options),
        retrier=settings.retrier,
        api_timeout=settings.api_timeout,
        connections=settings.concurrency,
        flavour=str(options.get("flavour") or "current"),
    )


class ClusterReader:
    """The clusters of one batch: a hundred in a search if the API supports it, otherwise one by one.
    Thread-safe.

    :param breaker: gives up an API that does not answer, for all of them.
    :param given: clusters that were already read, by id, such as those of a sweep's page.
    :param once: a cluster is requested once, and not kept.
    """

    def __init__(
        self,
        client: HyperFleetClient,
        settings: RunSettings,
        *,
        breaker: Breaker | None = None,
        given: Mapping[str, Mapping[str, Any]] | None = None,
        once: bool = False,
    ) -> None:
        self._client = client
        self._settings = settings
        self._breaker = breaker or Breaker()
        self._once = once
        self._found: dict[str, Mapping[str, Any] | PullSecretError] = dict(given or {})

    def prepare(self, cluster_ids: Sequence[str], stop: threading.Event) -> None:
        """Read ahead; ``of`` reads what this does not find."""
        wanted = []
        for cluster_id in dict.fromkeys(cluster_ids):
            if cluster_id not in self._found:
                try:
                    wanted.append(check_api_cluster_id(cluster_id))
                except PullSecretError as error:
                    self._found[cluster_id] = error
        if len(wanted) < 2:
            return
        batches = list(HyperFleetClient.batches(wanted))
        for batch, result in zip(batches, run_batch(batches, self._search, concurrency=_SEARCHES, stop=stop)):
            if isinstance(result, PullSecretError):
                # Retried as often as the policy says: single reads would fail as well, slowly.
                self._found.update((cluster_id, result) for cluster_id in batch)
            elif not isinstance(result, Failure):
                self._found.update(result)

    def of(self, cluster_id: str, deadline: Deadline, traceparent: str | None = None) -> Mapping[str, Any]:
        """Return one cluster.

        :raises NotFound: it does not exist.
        """
        found = self._found.get(cluster_id)
        if self._once:
            self._found.pop(cluster_id, None)
        if isinstance(found, PullSecretError):
            # One error may be that of a hundred clusters.
            raise repeated_error(found) from None
        if found is not None:
            return found
        return self._breaker.call(
            lambda: self._client.get_cluster(
                check_api_cluster_id(cluster_id), deadline, traceparent=traceparent
            )
        )

    def _search(self, cluster_ids: Sequence[str]) -> Mapping[str, Any] | PullSecretError:
        try:
            return self._breaker.call(
                lambda: self._client.find_clusters(cluster_ids, self._settings.deadline())
            )
        except RequestRefused:
            return {}  # no such search: each is read by itself
        except PullSecretError as error:
            return error
