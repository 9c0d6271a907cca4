# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Many clusters in as few requests as the API allows."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Union

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.batch import Failure, run_batch
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import (
    Internal,
    NotFound,
    PullSecretError,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.hyperfleet.client import (
    Cluster,
    HyperFleetClient,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.hyperfleet.connection import connect
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.hyperfleet.errors import RequestRefused
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.base import Settings

__all__ = ["Found", "client_of", "read_clusters"]

# What became of one: the cluster, None where there is none, or why it could not be read.
Found = Union[Cluster, None, PullSecretError]


def client_of(settings: Settings) -> HyperFleetClient:
    """The client of a module's ``hyperfleet`` options.

    :raises ConfigurationError: they are wrong.
    """
    options = settings.connection("hyperfleet")
    return HyperFleetClient(
        connect(options),
        retrier=settings.retrier,
        api_timeout=settings.api_timeout,
        connections=settings.concurrency,
        flavour=str(options.get("flavour") or "current"),
    )


def read_clusters(
    client: HyperFleetClient, cluster_ids: Sequence[str], settings: Settings, stop: threading.Event
) -> Mapping[str, Found]:
    """Each of the clusters: a hundred in a search, and by itself what no search finds.

    A search that fails is a failure of its clusters, which are not asked for one by one then: that would
    take as long again for each.
    """
    found: dict[str, Found] = {}
    batches = list(HyperFleetClient.batches(list(dict.fromkeys(cluster_ids))))

    def search(batch: list[str]) -> Mapping[str, Found]:
        try:
            return client.find_clusters(batch, settings.deadline()) if len(batch) > 1 else {}
        except RequestRefused:
            return {}
        except PullSecretError as error:
            return dict.fromkeys(batch, error)

    def read(cluster_id: str) -> Found:
        try:
            return client.get_cluster(cluster_id, settings.deadline())
        except NotFound:
            return None
        except PullSecretError as error:
            return error

    for answer in run_batch(batches, search, concurrency=settings.concurrency, stop=stop):
        found.update({} if isinstance(answer, Failure) else answer)
    rest = [cluster_id for batch in batches for cluster_id in batch if cluster_id not in found]
    for cluster_id, answer in zip(rest, run_batch(rest, read, concurrency=settings.concurrency, stop=stop)):
        found[cluster_id] = Internal(answer.message, answer.hint) if isinstance(answer, Failure) else answer
    return found
