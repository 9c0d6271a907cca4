# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The work of ``hyperfleet_cluster_info``: read many clusters and their adapters' statuses."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from ..clients.hyperfleet.all_clusters import AllClusters
from ..clients.hyperfleet.client import check_api_cluster_id
from ..clients.hyperfleet.cluster_reader import ClusterReader, hyperfleet_client
from ..clients.hyperfleet.printable import shown_cluster
from ..model.errors import ConfigurationError, NotFound, PullSecretError
from ..model.shown import shown
from ..model.summary import failure_text
from ..runtime.batch import Failure, Progress, run_batch
from ..workflows.options import run_options
from ..workflows.run import Run

__all__ = ["run", "target_options"]


def target_options() -> dict[str, Any]:
    """Return the module's complete spec: it has no targets."""
    return dict(
        cluster_ids={"type": "list", "elements": "str"},
        search={"type": "str"},
        statuses={"type": "bool", "default": True},
        **run_options(),
    )


def run(
    params: Mapping[str, Any], *, check_mode: bool, diff: bool, stop: threading.Event | None = None
) -> dict[str, Any]:
    """Read the clusters, and return the module's result."""
    shared = Run(params, "hyperfleet", check_mode=check_mode, diff=diff, stop=stop)
    settings, ids = shared.settings, params.get("cluster_ids")
    unlisted: Sequence[PullSecretError] = ()
    if ids is not None and params.get("search"):
        raise ConfigurationError("cluster_ids and search cannot be combined")
    client = hyperfleet_client(settings)
    if ids is None:
        listing = AllClusters(client, settings.deadline, params.get("search") or None)
        given = {str(cluster["id"]): cluster for cluster in listing}
        unlisted = listing.problems
        if unlisted and not given:
            raise unlisted[0]
        wanted = list(given)
        clusters = ClusterReader(client, settings, given=given)
    else:
        wanted = list(dict.fromkeys(ids))
        for cluster_id in wanted:
            check_api_cluster_id(cluster_id)
        clusters = ClusterReader(client, settings)
        clusters.prepare(wanted, shared.stop)

    def complete(cluster_id: str) -> dict[str, Any] | None:
        try:
            cluster = clusters.of(check_api_cluster_id(cluster_id), settings.deadline())
        except NotFound:
            return None
        try:
            said = client.statuses(cluster_id, settings.deadline(), cluster) if params["statuses"] else {}
        except NotFound:
            return None  # since it was read
        return shown_cluster(cluster, said)

    results = run_batch(
        wanted,
        complete,
        concurrency=settings.concurrency,
        stop=shared.stop,
        progress=Progress(params.get("progress_file"), len(wanted)),
    )
    return _whole(wanted, results, unlisted)


def _whole(
    ids: Sequence[str],
    results: Sequence[dict[str, Any] | Failure | None],
    unlisted: Sequence[PullSecretError],
) -> dict[str, Any]:
    failed = [{"id": "(not shown)", "kind": error.kind, "msg": str(error)} for error in unlisted]
    failed += [
        {
            "id": shown(cluster_id),
            "kind": result.kind,
            "msg": str(result),
        }
        for cluster_id, result in zip(ids, results)
        if isinstance(result, Failure)
    ]
    answer: dict[str, Any] = {
        "changed": False,
        "clusters": [result for result in results if isinstance(result, dict)],
        "missing": [cluster_id for cluster_id, result in zip(ids, results) if result is None],
        "failed_clusters": failed,
    }
    if failed:
        named = [(entry["id"], entry["msg"]) for entry in failed]
        answer["failed"] = True
        answer["msg"] = (
            named[0][1] if len(ids) == 1 else failure_text(named, len(ids), "clusters", " in failed_clusters")
        )
    return answer
