# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From clusters, as people describe them, to the targets of the two modules, and to a summary.

Pure functions: the filters and the report are thin layers over them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Optional

from .clusters import GCP, KUBERNETES, PROBLEM, document, is_given, picked
from .problems import check, listed, returned

__all__ = ["gcp_targets", "kubernetes_targets", "summary_rows"]


def gcp_targets(clusters: Any) -> list[dict[str, Any]]:
    """The targets of ``gcp_pull_secret``: workflow 1, for the clusters that have no problem.

    :raises ClusterError: there is no list of clusters.
    """
    targets = []
    for cluster in (checked.cluster for checked in check(clusters) if checked.problem is None):
        target = picked(cluster, GCP)
        if target.get("state") != "absent" and not target.get("restore_version"):
            target.update(document(cluster))
        targets.append(target)
    return targets


def kubernetes_targets(clusters: Any, stored: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The targets of ``k8s_pull_secret``: workflow 2, for the clusters whose workflow 1 went well.

    Each reads the version that workflow 1 left in Secret Manager.  After a check mode that version may
    not be there yet, and has no number; then the original source stands in for it.

    :param stored: the result of ``gcp_pull_secret``; it has no cluster with a problem.
    :raises ClusterError: there is no list of clusters, or no such result.
    """
    results = _by_id(stored, "place")
    targets = []
    for cluster in listed(clusters):
        result = results.get(_identity(cluster))
        if result is None or result.get("failed"):
            continue
        target = picked(cluster, KUBERNETES)
        if target.get("state") != "absent":
            target["gcp_secret_path"] = f"{result['place']}/versions/latest"
            version = result.get("version") or cluster.get("restore_version")
            if is_given(version):
                target["source"] = _stored_version(cluster, result["place"], str(version))
            else:
                target.update(document(cluster))
        targets.append(target)
    return targets


def _stored_version(cluster: Mapping[str, Any], place: str, version: str) -> dict[str, Any]:
    dummy, project, dummy, secret = place.split("/")
    reference = {"project": project, "secret": secret, "version": version}
    if is_given(cluster.get("impersonate_service_account")):
        reference["impersonate_service_account"] = cluster["impersonate_service_account"]
    return {"gcp": reference}


def summary_rows(clusters: Any, stored: Mapping[str, Any], placed: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row a cluster: what is in both places, what changed, what failed and why.

    :raises ClusterError: there is no list of clusters.
    """
    in_store, in_cluster = _by_id(stored), _by_id(placed)
    if all(_identity(cluster) in in_store for cluster in listed(clusters)):
        # None was left out, so none has a problem.
        named: list[tuple[str, Optional[str]]] = [(cluster["cluster_id"], None) for cluster in clusters]
    else:
        named = [(checked.name, checked.problem) for checked in check(clusters)]
    rows = []
    for name, problem in named:
        one, two = ({}, {}) if problem else (in_store.get(name) or {}, in_cluster.get(name) or {})
        failed = next((result for result in (one, two) if result.get("failed")), None)
        if problem:
            failed = {"kind": "configuration", "msg": problem}
        elif failed is None and not (one and two):
            # A step that ended early has said why.
            said = (placed if one else stored).get("msg") or "the step before it ended early"
            failed = {"kind": "not_run", "msg": f"not reached: {said}"}
        rows.append(
            {
                "cluster": name,
                "changed": bool(one.get("changed") or two.get("changed")),
                "failed": failed is not None,
                # A newer version of another run may have stayed in the management cluster.
                "version": two.get("version") or one.get("version"),
                "secret_manager": _state(one),
                "management_secret": _state(two),
                "actions": [
                    *one.get("actions", ()),
                    *(f"management: {action}" for action in two.get("actions", ())),
                ],
                "kind": failed["kind"] if failed else None,
                "reason": failed["msg"] if failed else None,
                "warnings": _unique([*one.get("warnings", ()), *two.get("warnings", ())]),
            }
        )
    return rows


def _by_id(results: Any, *needed: str) -> dict[Optional[str], Mapping[str, Any]]:
    """What a module returned for each target.

    :raises ClusterError: it is not the result of a module of this collection.
    """
    return {result["id"]: result for result in returned(results, *needed)}


def _identity(cluster: Any) -> Optional[str]:
    """What a cluster's results are found by."""
    if not isinstance(cluster, Mapping) or PROBLEM in cluster:
        return None
    identity = cluster.get("cluster_id")
    return identity if isinstance(identity, str) else None


def _state(result: Mapping[str, Any]) -> str:
    if not result:
        return "not reached"
    if result.get("failed"):
        return "failed"
    return ", ".join(result.get("actions") or ()) or "unchanged"


def _unique(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))
