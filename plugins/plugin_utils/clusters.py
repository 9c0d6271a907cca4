# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One cluster, as people describe it, in the words of the two modules."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..module_utils.model.errors import ConfigurationError
from ..module_utils.model.misspelt import meant
from ..module_utils.model.shown import quoted

__all__ = [
    "CLUSTER_KEYS",
    "GCP",
    "KUBERNETES",
    "PROBLEM",
    "check_known",
    "document",
    "is_given",
    "picked",
]

# Words of seed 003's table of environment variables -> options of the modules.
_BOTH = {
    "cluster_id": "cluster_id",
    "cluster_name": "cluster_name",
    "state": "state",
    "labels": "labels",
    "adopt": "adopt",
}
GCP = {
    **_BOTH,
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
}
KUBERNETES = {
    **_BOTH,
    "management_namespace": "namespace",
    "management_context": "context",
    "management_kubeconfig": "kubeconfig",
    "k8s_secret_name": "name",
    "k8s_immutable": "immutable",
    "service_accounts": "service_accounts",
}
_DOCUMENT = ("source", "layers", "precedence", "policy", "drop")
CLUSTER_KEYS = frozenset([*GCP, *KUBERNETES, *_DOCUMENT])
# Says why a cluster cannot be provisioned, where whoever lists the clusters knows: its file cannot be read.
PROBLEM = "problem"


def check_known(cluster: Mapping[str, Any], known: Collection[str]) -> None:
    """:raises ConfigurationError: naming every key that is not known, and the one that was meant."""
    unknown = sorted(str(key) for key in cluster if key not in known)
    if unknown:
        keys = ", ".join(quoted(key) + _suggestion(key, known) for key in unknown)
        raise ConfigurationError(f"unknown key {keys}")


def _suggestion(key: str, known: Collection[str]) -> str:
    near = meant(key, known)
    return f" (did you mean {near}?)" if near else ""


def picked(cluster: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A module's options, with the cluster's id as the target's; ``names`` is ``GCP`` or ``KUBERNETES``."""
    target = {names[key]: value for key, value in cluster.items() if key in names and is_given(value)}
    target["id"] = cluster["cluster_id"]
    return target


def document(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Where its pull secret lies; by default in seed 003's own place, its spec in the HyperFleet API."""
    found = {key: cluster[key] for key in _DOCUMENT if is_given(cluster.get(key))}
    if "source" not in found and "layers" not in found:
        found["source"] = {"hyperfleet": {"cluster_id": cluster["cluster_id"]}}
    return found


def is_given(value: Any) -> bool:
    """Whether a value says anything: an empty string is an unset variable or an empty field of a survey."""
    # Ansible's own mappings would template all that is in them to be compared.
    return value is not None and not (isinstance(value, str) and value == "")
