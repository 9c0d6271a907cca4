# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Guest clusters of Cluster API, and what is delivered to them. Pure.

Names and labels are Cluster API's, or those of the document "KubeNSync when using Cluster API".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = [
    "CLUSTER_NAME",
    "DELIVERED_BY",
    "OBJECT_OF",
    "RECORD",
    "FurtherObject",
    "GuestCluster",
    "GuestPullSecret",
    "HostNamespace",
    "ObjectAddress",
    "parse_guest",
]

CLUSTER_NAME = "cluster.x-k8s.io/cluster-name"
"""The label by which our ClusterResourceSets select a Cluster. Cluster API itself does not set it on Clusters."""
RECORD = "hyperfleet.io/resource-set"
"""The label of everything that a delivery owns on the host, with the delivery's name: the record of its guests."""
DELIVERED_BY = "hyperfleet.io/delivered-by"
"""The label of what a direct delivery owns in a guest, with the delivery's name."""
OBJECT_OF = "hyperfleet.io/object-of"
"""The same of a further object. Controllers copy labels to what they make of it, and that is never deleted."""
_PODS = ("Pod", "ReplicationController")
_PAUSED = "cluster.x-k8s.io/paused"


@dataclass(frozen=True)
class HostNamespace:
    """A namespace of the host."""

    name: str
    is_terminating: bool = False


@dataclass(frozen=True)
class GuestCluster:
    """A Cluster object of the host.

    :param uid: differs from that of another Cluster, which had the same name.
    :param is_initialized: its control plane has answered once.
    :param is_paused: Cluster API leaves it alone, but applies ClusterResourceSets all the same.
    """

    namespace: str
    name: str
    labels: Mapping[str, str]
    uid: str = ""
    is_initialized: bool = False
    is_paused: bool = False
    is_deleting: bool = False

    @property
    def id(self) -> str:
        """``NAMESPACE/NAME``, in results."""
        return f"{self.namespace}/{self.name}"

    @property
    def is_labelled(self) -> bool:
        """Whether a ClusterResourceSet can select it by its name."""
        return self.labels.get(CLUSTER_NAME) == self.name


@dataclass(frozen=True)
class GuestPullSecret:
    """What is delivered, and where.

    :param set_name: the name of the ClusterResourceSets and of this delivery.
    :param label_selector: of the host's namespaces, as ``kubectl -l`` has it; None selects all.
    :param pattern: a regular expression that a namespace's whole name matches; None matches all.
    :param secret_namespaces: of the guests.
    :param is_direct: through the guests' own API servers, and not by ClusterResourceSets.
    :param guest_selector: of more namespaces of the guests; None selects none, an empty one all.
    :param service_accounts: of these namespaces, which get the Secret's name.
    :param report_drift: whether a delivery by ClusterResourceSets looks into the guests that it may reach.
    :param prune_percent: the largest share of the guests that a run may remove.
    :param manifests: of further objects, with placeholders; their Secrets have their values. None: the option is
        not given, and a guest keeps what it has.
    """

    set_name: str
    secret_name: str
    secret_namespaces: tuple[str, ...]
    label_selector: str | None
    pattern: str | None
    is_direct: bool = False
    guest_selector: str | None = None
    service_accounts: tuple[str, ...] = ()
    report_drift: bool = True
    present: bool = True
    adopt: bool = False
    label_clusters: bool = False
    prune: bool = True
    prune_percent: int = 10
    manifests: tuple[Mapping[str, Any], ...] | None = field(default=None, repr=False)


class ObjectAddress(NamedTuple):
    """An object in a guest, besides its pull secrets.

    :param namespace: empty if the kind has none.
    """

    api_version: str
    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> ObjectAddress:
        """Return the address of a manifest."""
        metadata = manifest["metadata"]
        return cls(
            manifest["apiVersion"],
            manifest["kind"],
            str(metadata.get("namespace") or ""),
            metadata["name"],
        )

    @property
    def identity(self) -> tuple[str, ...]:
        """The address without the version: an API server serves the same object in several."""
        return (self.api_version.rpartition("/")[0], *self[1:])

    @property
    def is_secret(self) -> bool:
        """Whether it is Kubernetes' own Secret."""
        return self.identity[:2] == ("", "Secret")

    @property
    def is_namespace(self) -> bool:
        """Whether it is a namespace."""
        return self.identity[:2] == ("", "Namespace")

    @property
    def has_pods(self) -> bool:
        """Whether it is a pod, or perhaps something that pods are made of, as custom resources are."""
        group, kind = self.identity[:2]
        is_custom = "." in group and not group.endswith(".k8s.io")
        return is_custom or group in ("apps", "batch") or (group == "" and kind in _PODS)

    @property
    def is_claim(self) -> bool:
        """Whether it is a claim on a volume, which waits for the pods that use it."""
        return self.identity[:2] == ("", "PersistentVolumeClaim")

    @property
    def is_volume(self) -> bool:
        """Whether it is a volume, which waits for the claim on it."""
        return self.identity[:2] == ("", "PersistentVolume")

    def ends_beside(self, other: ObjectAddress) -> bool:
        """Whether both are claims, or both volumes, which do not need each other to end."""
        return (self.is_claim and other.is_claim) or (self.is_volume and other.is_volume)

    @property
    def stays(self) -> bool:
        """Whether it is never deleted, since everything in it, or of its kind, would go with it."""
        return self.is_namespace or self.identity[:2] == ("apiextensions.k8s.io", "CustomResourceDefinition")

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}{'/' if self.namespace else ''}{self.name}"


@dataclass(frozen=True)
class FurtherObject:
    """An object that a guest gets besides its pull secrets.

    :param manifest: of the guest.
    """

    address: ObjectAddress
    manifest: Mapping[str, Any] = field(repr=False)


def parse_guest(cluster: Mapping[str, Any]) -> GuestCluster:
    """Return the guest of a Cluster object, of v1beta1 or v1beta2."""
    metadata = cluster["metadata"]
    annotations = metadata.get("annotations") or {}
    return GuestCluster(
        namespace=str(metadata["namespace"]),
        name=str(metadata["name"]),
        labels=metadata.get("labels") or {},
        uid=str(metadata.get("uid") or ""),
        is_initialized=_is_initialized(cluster.get("status") or {}),
        is_paused=bool((cluster.get("spec") or {}).get("paused")) or _PAUSED in annotations,
        is_deleting="deletionTimestamp" in metadata,
    )


def _is_initialized(status: Mapping[str, Any]) -> bool:
    # v1beta2, and v1beta1, which only has a condition.
    if (status.get("initialization") or {}).get("controlPlaneInitialized"):
        return True
    conditions = status.get("conditions") or ()
    return any(
        condition.get("type") == "ControlPlaneInitialized" and condition.get("status") == "True"
        for condition in conditions
    )
