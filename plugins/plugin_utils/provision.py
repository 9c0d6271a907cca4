# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Turns clusters into the targets of the two modules, and their results into a summary.

The filters and the report are thin layers over this module, which uses ``workflows/provision/steps``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..module_utils.model.errors import ConfigurationError
from ..module_utils.workflows.provision.steps import rows, to_inspect, to_place, to_store
from .clusters import PROBLEM, read_cluster
from .problems import check_cluster_list, listed, returned

__all__ = ["gcp_targets", "info_targets", "kubernetes_targets", "summary_rows"]

_SHOWN = ("actions", "warnings")


def gcp_targets(clusters: Any) -> list[dict[str, Any]]:
    """Return the targets of ``gcp_pull_secret``, for the clusters without a problem.

    :raises ClusterError: there is no list of clusters.
    """
    good = [one.cluster for one in check_cluster_list(clusters) if one.problem is None]
    return [to_store(cluster) for cluster in good if cluster is not None]


def info_targets(clusters: Any) -> list[dict[str, Any]]:
    """Return the targets of ``pull_secret_info``. The target of a cluster with a problem has only that problem.

    :raises ClusterError: there is no list of clusters.
    """
    return [
        {"id": one.name, "problem": one.problem or "it cannot be read"}
        if one.problem is not None or one.cluster is None
        else to_inspect(one.cluster)
        for one in check_cluster_list(clusters)
    ]


def kubernetes_targets(clusters: Any, stored: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the targets of ``k8s_pull_secret``, for the clusters whose secret was stored.
    :param stored: the result of ``gcp_pull_secret``; it has no cluster with a problem.
    :raises ClusterError: there is no list of clusters, or no such result.
    """
    results = {entry["id"]: entry for entry in returned("stored", stored, "place")}
    targets = []
    for given in listed(clusters):
        entry = results.get(_identity(given))
        if entry is None or entry.get("failed"):
            continue
        try:
            targets.append(to_place(read_cluster(given), entry))
        except ConfigurationError:
            # The cluster has changed since it was stored. ``summary_rows`` reports what is wrong with it.
            continue
    return targets


def summary_rows(clusters: Any, stored: Mapping[str, Any], placed: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one row per cluster: the state of both secrets, the changes, and a failure with its reason.
    :raises ClusterError: there is no list of clusters, or no such result.
    """
    in_store = {entry["id"] for entry in returned("stored", stored, lists=_SHOWN)}
    placed_ids = {entry["id"] for entry in returned("placed", placed, lists=_SHOWN)}
    identities = [_identity(cluster) for cluster in listed(clusters)]
    # A cluster in both results had no problem.
    whole = [identity for identity in identities if identity in in_store & placed_ids]
    if len(whole) == len(identities):
        return rows([(identity, None) for identity in whole if identity is not None], stored, placed)
    return rows([(one.name, one.problem) for one in check_cluster_list(clusters)], stored, placed)


def _identity(cluster: Any) -> str | None:
    """Return the id under which the results have a cluster; None if it cannot have results."""
    if not isinstance(cluster, Mapping) or PROBLEM in cluster:
        return None
    identity = cluster.get("cluster_id")
    return identity if isinstance(identity, str) else None
