# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The wanted objects of one guest: those of the document "KubeNSync when using Cluster API". Pure."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...dockerconfig import DockerConfig
from ...model.errors import ConfigurationError, OwnershipConflict
from ...model.guest_cluster import (
    CLUSTER_NAME,
    DELIVERED_BY,
    OBJECT_OF,
    RECORD,
    FurtherObject,
    GuestPullSecret,
    ObjectAddress,
)
from ...model.naming import LAST_APPLIED, allows, kubernetes_labels
from ...model.shown import shown
from ...places.kubernetes_secret.compare import ExactMapping
from ...places.kubernetes_secret.owned_objects import DesiredObject
from ...places.kubernetes_secret.target import KEY, TYPE, docker_config_value, encode_docker_config

__all__ = [
    "IMMUTABLE",
    "PLACEHOLDER",
    "applied_hash",
    "check_cluster_name",
    "check_delivery",
    "docker_config_in",
    "find_foreign_content",
    "further_objects",
    "guest_secret",
    "host_metadata",
    "no_longer_in",
    "not_applied",
    "resource_set",
    "source_secret",
]

IMMUTABLE = ("spec.clusterSelector", "spec.strategy")
"""The fields of a ClusterResourceSet that Cluster API does not allow to change."""
PLACEHOLDER = re.compile(r"\{\{ *(?:(\w+)|'([^']*)') *\}\}")
"""In the JSON of manifests: ``{{ namespace }}`` and ``{{ cluster }}``, which are names and need no escapes, and
``{{ 'TEXT' }}`` for text with such braces."""
_TYPE = "addons.cluster.x-k8s.io/resource-set"
# The document's key. Cluster API reads every key as a manifest.
_MANIFESTS = "manifests.yaml"
_SEPARATOR = "---\n"


def source_secret(
    wanted: GuestPullSecret, namespace: str, name: str, cluster: str, config: DockerConfig
) -> DesiredObject:
    """Return the Secret with the manifests of the guest's pull secrets and further objects."""
    pull_secrets = (guest_secret(wanted, space, cluster, config) for space in wanted.secret_namespaces)
    manifests = [
        *({**desired.type, **desired.body} for desired in pull_secrets),
        *(desired.manifest for desired in further_objects(wanted, namespace, cluster)),
    ]
    # JSON is YAML.
    text = "".join(f"{_SEPARATOR}{json.dumps(manifest, indent=2)}\n" for manifest in manifests)
    body = {
        "metadata": host_metadata(wanted, namespace, name, cluster),
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
    body = {"metadata": host_metadata(wanted, namespace, name, cluster), "spec": spec}
    return DesiredObject(kind, name, body, api_kind="ClusterResourceSet")


def guest_secret(
    wanted: GuestPullSecret, namespace: str, cluster: str, config: DockerConfig
) -> DesiredObject:
    """Return the pull secret in one namespace of the guest."""
    metadata = _guest_metadata(
        wanted, cluster, {"name": wanted.secret_name, "namespace": namespace}, DELIVERED_BY
    )
    if wanted.is_direct:
        metadata["annotations"] = {LAST_APPLIED: None}
    body = {"metadata": metadata, "type": TYPE, "data": {KEY: encode_docker_config(config)}}
    return DesiredObject("secrets", wanted.secret_name, body, fixed=["type"])


def further_objects(wanted: GuestPullSecret, namespace: str, cluster: str) -> list[FurtherObject]:
    """Return the guest's objects besides its pull secrets, in the order of the manifests.

    :param namespace: of the Cluster on the host.
    :raises ConfigurationError: one of them is a pull secret, too.
    """
    names = {"namespace": namespace, "cluster": cluster}
    objects = []
    for template in wanted.manifests or ():
        text = PLACEHOLDER.sub(lambda match: names[match[1]] if match[1] else match[2], json.dumps(template))
        manifest = json.loads(text)
        manifest["metadata"] = _guest_metadata(wanted, cluster, manifest["metadata"], OBJECT_OF)
        address = ObjectAddress.of(manifest)
        if address.is_secret:
            # Values in one form, to be compared with what the API server answers.
            texts = manifest.pop("stringData", None) or {}
            encoded = {key: base64.b64encode(text.encode()).decode("ascii") for key, text in texts.items()}
            manifest["data"] = {**manifest["data"], **encoded}
            is_selected = wanted.guest_selector is not None or address.namespace in wanted.secret_namespaces
            if address.name == wanted.secret_name and is_selected:
                raise ConfigurationError(
                    f"objects: {address} is a pull secret, too",
                    "remove it from the manifests, or set secret_name",
                )
        objects.append(FurtherObject(address, manifest))
    return objects


def check_delivery(existing: Mapping[str, Any], label: str, name: str, place: str, remedy: str) -> None:
    """Check that an existing object belongs to no other delivery.

    :param label: has the delivery's name.
    :raises OwnershipConflict: it does.
    """
    delivery = (existing["metadata"].get("labels") or {}).get(label)
    if delivery not in (None, name):
        raise OwnershipConflict(
            f"{place} exists but belongs to the delivery {shown(delivery)}", f"it was not changed; {remedy}"
        )


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
    """Return the first docker config in a Secret with manifests of this collection; None if there is none."""
    try:
        values = map(docker_config_value, _manifests_in(secret or {}))
        return next((value for value in values if value is not None), None)
    except (AttributeError, RecursionError, TypeError, ValueError):
        # Not written by this collection: its content differs, whatever it is.
        return None


def no_longer_in(secret: Mapping[str, Any], existing: Mapping[str, Any] | None) -> list[str]:
    """Return the objects of a Secret with manifests of this collection that another one has no more, by name."""
    try:
        before, after = (
            [ObjectAddress.of(manifest) for manifest in _manifests_in(each)]
            for each in (existing or {}, secret)
        )
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        # Not written by this collection.
        return []
    kept = {address.identity for address in after}
    return [shown(str(address)) for address in before if address.identity not in kept]


def find_foreign_content(existing: Mapping[str, Any], name: str) -> list[str]:
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


def host_metadata(wanted: GuestPullSecret, namespace: str, name: str, cluster: str) -> dict[str, Any]:
    """Return the metadata of an object on the host."""
    return {
        "name": name,
        "namespace": namespace,
        "labels": {**kubernetes_labels(cluster, None), RECORD: wanted.set_name},
        "annotations": {LAST_APPLIED: None},
    }


def _guest_metadata(
    wanted: GuestPullSecret, cluster: str, metadata: Mapping[str, Any], label: str
) -> dict[str, Any]:
    # Another label than the host's: a guest may be a host itself, and its own.
    delivery = {label: wanted.set_name} if wanted.is_direct else {}
    labels = {**(metadata.get("labels") or {}), **kubernetes_labels(cluster, None), **delivery}
    return {**metadata, "labels": labels}
