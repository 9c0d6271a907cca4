# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From clusters, as people describe them, to the targets of the two modules, and to a summary.

Pure functions: the filters and the report are thin layers over them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.secrecy import is_name, quoted

__all__ = ["CLUSTER_KEYS", "ClusterError", "gcp_targets", "kubernetes_targets", "summary_rows"]

# Words of seed 003's table of environment variables -> options of the modules.
_BOTH = {"cluster_id": "cluster_id", "cluster_name": "cluster_name", "state": "state", "labels": "labels"}
_GCP = {
    "gcp_project_id": "project",
    "secret_name": "secret",
    "annotations": "annotations",
    "replication_policy": "replication",
    "replication_locations": "locations",
    "kms_key": "kms_key",
    "location_kms_keys": "location_kms_keys",
    "retention": "retention",
    "restore_version": "restore_version",
    "impersonate_service_account": "impersonate_service_account",
    "adopt": "adopt",
}
_KUBERNETES = {
    "management_namespace": "namespace",
    "management_context": "context",
    "management_kubeconfig": "kubeconfig",
    "k8s_secret_name": "name",
    "k8s_immutable": "immutable",
    "service_accounts": "service_accounts",
    "adopt": "adopt",
}
_DOCUMENT = ("source", "layers", "precedence", "policy", "drop")
CLUSTER_KEYS = frozenset([*_BOTH, *_GCP, *_KUBERNETES, *_DOCUMENT])


class ClusterError(ValueError):
    """A cluster's description is wrong; names the cluster and the key, never a value of it."""


def gcp_targets(clusters: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The targets of ``gcp_pull_secret``: workflow 1."""
    _check(clusters)
    targets = []
    for cluster in clusters:
        target = _picked(cluster, {**_BOTH, **_GCP})
        target.setdefault("id", cluster["cluster_id"])
        if target.get("state") != "absent" and not target.get("restore_version"):
            target.update(_document(cluster))
        targets.append(target)
    return targets


def kubernetes_targets(
    clusters: Sequence[Mapping[str, Any]], stored: Mapping[str, Any], check_mode: bool = False
) -> list[dict[str, Any]]:
    """The targets of ``k8s_pull_secret``: workflow 2, for the clusters whose workflow 1 went well.

    Each reads the version that workflow 1 left in Secret Manager.  In check mode that version may
    not be there yet; then the original source stands in for it.

    :param stored: the result of ``gcp_pull_secret``.
    """
    results = {result["id"]: result for result in stored.get("targets") or ()}
    targets = []
    for cluster in clusters:
        result = results.get(cluster["cluster_id"])
        if result is None or result.get("failed"):
            continue
        target = _picked(cluster, {**_BOTH, **_KUBERNETES})
        target.setdefault("id", cluster["cluster_id"])
        _place, project, _secrets, secret = result["place"].split("/")
        if target.get("state") != "absent":
            target["gcp_secret_path"] = f"{result['place']}/versions/latest"
            unwritten = check_mode and result.get("changed")
            if unwritten and not cluster.get("restore_version"):
                target.update(_document(cluster))
            else:
                version = cluster["restore_version"] if unwritten else result["version"]
                reference = {"project": project, "secret": secret, "version": str(version)}
                if cluster.get("impersonate_service_account"):
                    reference["impersonate_service_account"] = cluster["impersonate_service_account"]
                target["source"] = {"gcp": reference}
        targets.append(target)
    return targets


def summary_rows(
    clusters: Sequence[Mapping[str, Any]], stored: Mapping[str, Any], placed: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """One row a cluster: what is in both places, what changed, what failed and why."""
    in_store = {result["id"]: result for result in stored.get("targets") or ()}
    in_cluster = {result["id"]: result for result in placed.get("targets") or ()}
    rows = []
    for cluster in clusters:
        identity = cluster["cluster_id"]
        one, two = in_store.get(identity) or {}, in_cluster.get(identity) or {}
        failed = next((result for result in (one, two) if result.get("failed")), None)
        if failed is None and not (one and two):
            # A step that ended early has said why.
            said = (placed if one else stored).get("msg") or "the step before it ended early"
            failed = {"kind": "not_run", "msg": f"not reached: {said}"}
        rows.append(
            {
                "cluster": identity,
                "changed": bool(one.get("changed") or two.get("changed")),
                "failed": failed is not None,
                "version": one.get("version"),
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


def _state(result: Mapping[str, Any]) -> str:
    if not result:
        return "not reached"
    if result.get("failed"):
        return "failed"
    return ", ".join(result.get("actions") or ()) or "unchanged"


def _unique(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _picked(cluster: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {option: cluster[key] for key, option in names.items() if _is_given(cluster, key)}


def _is_given(cluster: Mapping[str, Any], key: str) -> bool:
    # An empty string is what an unset environment variable or an empty field of a survey gives.
    return cluster.get(key) not in (None, "")


def _document(cluster: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: cluster[key] for key in _DOCUMENT if _is_given(cluster, key)}
    if not found.get("source") and not found.get("layers"):
        # Seed 003's own place: spec.pullSecret.data of the cluster.
        found["source"] = {"hyperfleet": {"cluster_id": cluster["cluster_id"]}}
    return found


def _check(clusters: Sequence[Mapping[str, Any]]) -> None:
    seen: dict[str, int] = {}
    for index, cluster in enumerate(clusters, start=1):
        if not isinstance(cluster, Mapping):
            raise ClusterError(f"cluster {index} is not a mapping")
        identity = cluster.get("cluster_id")
        if not isinstance(identity, str) or not identity:
            raise ClusterError(f"cluster {index} has no cluster_id")
        if not is_name(identity):
            raise ClusterError(f"cluster {index}: its cluster_id is not one")
        unknown = sorted(quoted(str(key)).strip("'") for key in cluster if key not in CLUSTER_KEYS)
        if unknown:
            raise ClusterError(f"cluster {identity}: unknown key {', '.join(unknown)}")
        if identity in seen:
            raise ClusterError(f"clusters {seen[identity]} and {index} are both {identity}")
        seen[identity] = index
