# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The wanted objects of one guest: those of the document "KubeNSync when using Cluster API". Pure."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ...dockerconfig import DockerConfig
from ...model.errors import ConfigurationError
from ...model.guest_cluster import CLUSTER_NAME, DELIVERED_BY, RECORD, GuestPullSecret
from ...model.naming import LAST_APPLIED, allows, kubernetes_labels
from ...model.shown import shown
from ...places.kubernetes_secret.compare import ExactMapping
from ...places.kubernetes_secret.owned_objects import DesiredObject
from ...places.kubernetes_secret.target import KEY, TYPE, docker_config_value, encode_docker_config

__all__ = [
    "IMMUTABLE",
    "accounts_in",
    "applied_hash",
    "check_cluster_name",
    "docker_config_in",
    "guest_secret",
    "not_applied",
    "other_content",
    "record_of",
    "resource_set",
    "source_secret",
]

IMMUTABLE = ("spec.clusterSelector", "spec.strategy")
"""The fields of a ClusterResourceSet that Cluster API does not allow to change."""
_ACCOUNTS = "hyperfleet.io/service-accounts"
_TYPE = "addons.cluster.x-k8s.io/resource-set"
# The document's key. Cluster API reads every key as a manifest.
_MANIFESTS = "manifests.yaml"
_SEPARATOR = "---\n"


def source_secret(
    wanted: GuestPullSecret, namespace: str, name: str, cluster: str, config: DockerConfig
) -> DesiredObject:
    """Return the Secret with the manifests of the guest's pull secrets."""
    manifests = (
        {"apiVersion": "v1", "kind": "Secret", **guest_secret(wanted, space, cluster, config).body}
        for space in wanted.secret_namespaces
    )
    # JSON is YAML.
    text = "".join(f"{_SEPARATOR}{json.dumps(manifest, indent=2)}\n" for manifest in manifests)
    body = {
        "metadata": _metadata(wanted, namespace, name, cluster),
        "type": _TYPE,
        "data": ExactMapping({_MANIFESTS: base64.b64encode(text.encode()).decode("ascii")}),
    }
    return DesiredObject("secrets", name, body, fixed=["type"])


def resource_set(
    kind: str, wanted: GuestPullSecret, namespace: str, name: str, cluster: str
) -> DesiredObject:
    """Return the ClusterResourceSet that brings the Secret of its name to the guest.

    :param kind: the plural with its API version.
    """
    spec = {
        "clusterSelector": {"matchLabels": ExactMapping({CLUSTER_NAME: cluster}), "matchExpressions": None},
        "resources": [{"kind": "Secret", "name": name}],
        "strategy": "Reconcile",
    }
    body = {"metadata": _metadata(wanted, namespace, name, cluster), "spec": spec}
    return DesiredObject(kind, name, body, api_kind="ClusterResourceSet")


def guest_secret(
    wanted: GuestPullSecret, namespace: str, cluster: str, config: DockerConfig
) -> DesiredObject:
    """Return the pull secret in one namespace of the guest."""
    labels = kubernetes_labels(cluster, None)
    metadata: dict[str, Any] = {"name": wanted.secret_name, "namespace": namespace, "labels": labels}
    if wanted.is_direct:
        # Another label than the host's: a guest may be a host itself, and its own.
        labels[DELIVERED_BY] = wanted.set_name
        metadata["annotations"] = {LAST_APPLIED: None}
    body = {"metadata": metadata, "type": TYPE, "data": {KEY: encode_docker_config(config)}}
    return DesiredObject("secrets", wanted.secret_name, body, fixed=["type"])


def record_of(
    wanted: GuestPullSecret,
    place: tuple[str, str, str],
    versions: Mapping[str, str],
    accounts: Collection[str],
) -> DesiredObject:
    """Return the record of a guest with direct delivery: a ConfigMap on the host.

    :param place: its namespace, its name and the Cluster's name.
    :param versions: namespace of the guest to the name and resourceVersion of the Secret there.
    :param accounts: the service accounts that name the Secret.
    """
    metadata = _metadata(wanted, *place)
    metadata["annotations"][_ACCOUNTS] = ",".join(sorted(accounts)) or None
    return DesiredObject("configmaps", place[1], {"metadata": metadata, "data": ExactMapping(versions)})


def accounts_in(record: Mapping[str, Any] | None) -> frozenset[str]:
    """Return the service accounts in a record."""
    annotations = (record or {"metadata": {}})["metadata"].get("annotations") or {}
    return frozenset(filter(None, annotations.get(_ACCOUNTS, "").split(",")))


def check_cluster_name(place: str, name: str) -> None:
    """:raises ConfigurationError: the Cluster's name cannot be a label's value, by which its objects are known."""
    if not allows("cluster_id", name):
        raise ConfigurationError(
            f"{place}: the Cluster's name must be at most 63 lower case letters, digits and dashes, to be a "
            "label's value",
            "leave its namespace out of the selection",
        )


def applied_hash(secret: Mapping[str, Any]) -> str:
    """Return the hash by which a ClusterResourceSetBinding names what was applied: of the data, in the keys' order.

    :param secret: a Secret with manifests, as it is read or written.
    """
    data = secret.get("data") or {}
    digest = hashlib.sha256(b"".join(base64.b64decode(data[key]) for key in sorted(data)))
    return f"sha256:{digest.hexdigest()}"


def docker_config_in(secret: Mapping[str, Any] | None) -> bytes | None:
    """Return the first docker config in a Secret with manifests of ours; None if there is none."""
    try:
        values = map(docker_config_value, _manifests_in(secret or {}))
        return next((value for value in values if value is not None), None)
    except (AttributeError, RecursionError, TypeError, ValueError):
        # Not written by this collection: its content differs, whatever it is.
        return None


def other_content(existing: Mapping[str, Any], name: str) -> list[str]:
    """Return what an object that is taken over delivers besides a Secret of this name with manifests.

    :param existing: a Secret or a ClusterResourceSet.
    """
    resources = (existing.get("spec") or {}).get("resources") or ()
    named = [f"{resource.get('kind')} {resource.get('name')}" for resource in resources]
    keys = [f"key {key}" for key in existing.get("data") or () if key != _MANIFESTS]
    return [shown(text) for text in (*named, *keys) if text != f"Secret {name}"]


def not_applied(resource_set: Mapping[str, Any] | None) -> str | None:
    """Return the reason why Cluster API could not apply a ClusterResourceSet, a word; None if it could."""
    status = (resource_set or {}).get("status") or {}
    deprecated = ((status.get("deprecated") or {}).get("v1beta1") or {}).get("conditions")
    # The newer form has no reason that helps.
    for condition in deprecated or status.get("conditions") or ():
        if condition.get("type") == "ResourcesApplied" and condition.get("status") == "False":
            return shown(str(condition.get("reason") or "no reason"))
    return None


def _manifests_in(secret: Mapping[str, Any]) -> Iterator[Any]:
    text = base64.b64decode((secret.get("data") or {}).get(_MANIFESTS) or "").decode()
    return map(json.loads, filter(None, text.split(_SEPARATOR)))


def _metadata(wanted: GuestPullSecret, namespace: str, name: str, cluster: str) -> dict[str, Any]:
    return {
        "name": name,
        "namespace": namespace,
        "labels": {**kubernetes_labels(cluster, None), RECORD: wanted.set_name},
        "annotations": {LAST_APPLIED: None},
    }
