# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All clusters of the API, without events, and what is left of clusters that are gone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Optional

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.engine.engine import Engine
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.engine.results import (
    GONE,
    NOT_DONE,
    Handled,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.engine.work import Work
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.batch import Failure, run_batch
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import NotFound, PullSecretError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.hyperfleet.client import HyperFleetClient
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.base import Settings
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.retry import Deadline

__all__ = ["everything", "leftovers"]

# A sweep's listing goes on while its clusters are worked on; each request has a limit of its own.
_LISTING = 86400.0


def everything(engine: Engine, api: HyperFleetClient, chunk: int) -> Iterator[list[Handled]]:
    """Every cluster that the API lists, so many at a time.

    :raises PullSecretError: the listing ended before its end.
    """
    clusters = api.list_clusters(Deadline(_LISTING))
    while True:
        given = {str(cluster.get("id")): cluster for cluster in itertools.islice(clusters, chunk)}
        if not given:
            return
        yield engine.handle(list(given), given=given)


def leftovers(
    api: HyperFleetClient, work: Work, settings: Settings, seen: set[str], *, check_mode: bool
) -> list[Handled]:
    """Remove Jobs and Secrets of clusters that the API says are gone, each asked for by itself.

    :param seen: the clusters that the API listed.
    """

    def remove(cluster_id: str) -> Optional[Handled]:
        handled = Handled(cluster_id)
        try:
            api.get_cluster(cluster_id, settings.deadline())
        except NotFound:
            handled.outcome = GONE
        except PullSecretError as error:
            handled.kind, handled.message = error.kind, str(error)
            return handled
        else:
            return None  # it was made after the listing
        if check_mode:
            handled.actions = ("would remove its jobs and secrets",)
            return handled
        try:
            removal = work.remove(cluster_id, settings.deadline())
        except PullSecretError as error:
            handled.outcome, handled.kind, handled.message = NOT_DONE, error.kind, str(error)
            return handled
        handled.actions = removal.actions
        return handled

    left = sorted(work.known(settings.deadline()) - seen)
    results = run_batch(left, remove, concurrency=settings.concurrency, stop=settings.retrier.stop)
    return [
        Handled(cluster_id, kind=one.kind, message=one.message) if isinstance(one, Failure) else one
        for cluster_id, one in zip(left, results)
        if one is not None
    ]
