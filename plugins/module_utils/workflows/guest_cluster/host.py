# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the host: what the delivery owns, the Clusters and the namespaces, in one LIST each.

ConfigMaps are the records of direct deliveries. Direct delivery also asks for ClusterResourceSets, since Cluster
API always has them: their version is that of the Clusters, and a delivery of this name may have begun with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...clients.kubernetes.client import KubernetesClient
from ...model.errors import ConfigurationError, NotFound
from ...model.guest_cluster import RECORD, GuestPullSecret, HostNamespace, parse_guest
from ...model.naming import MANAGED_BY
from ...places.kubernetes_secret.target import is_being_deleted
from ...runtime.retry import Deadline
from .plan import Host

__all__ = ["ClusterApi", "read_applied", "read_host"]

_GROUP = "cluster.x-k8s.io"
# The newest first; it is also the one that is written.
_VERSIONS = ("v1beta2", "v1beta1")


@dataclass(frozen=True)
class ClusterApi:
    """The kinds of Cluster API in the version that the host serves, as plurals with version and group."""

    version: str

    @property
    def clusters(self) -> str:
        """The plural of Clusters."""
        return f"clusters.{self.version}.{_GROUP}"

    @property
    def resource_sets(self) -> str:
        """The plural of ClusterResourceSets."""
        return f"clusterresourcesets.{self.version}.addons.{_GROUP}"

    @property
    def bindings(self) -> str:
        """The plural of ClusterResourceSetBindings."""
        return f"clusterresourcesetbindings.{self.version}.addons.{_GROUP}"


def read_host(
    client: KubernetesClient, wanted: GuestPullSecret, deadline: Deadline
) -> tuple[ClusterApi, Host]:
    """Return what the host has.

    :raises ConfigurationError: the host has no Cluster API.
    :raises PullSecretError: a list failed, so nothing may be concluded from it.
    """
    record = f"managed-by={MANAGED_BY},{RECORD}={wanted.set_name}"
    # What may be removed is read first: another run may deliver to a new Cluster meanwhile.
    configmaps = list(client.list_all("configmaps", record, deadline))
    kinds, sets = _resource_sets(client, record, deadline)
    secrets = list(client.list_all("secrets", record, deadline))
    clusters = list(client.list_all(kinds.clusters, "", deadline))
    _check_delivery(wanted, [*sets, *secrets] if wanted.is_direct else configmaps)
    if wanted.is_direct:
        sets, secrets = configmaps, []
    namespaces = client.list_all("namespaces", wanted.label_selector or "", deadline)
    return kinds, Host(
        namespaces=[
            HostNamespace(
                str(namespace["metadata"]["name"]),
                is_being_deleted(namespace) or (namespace.get("status") or {}).get("phase") == "Terminating",
            )
            for namespace in namespaces
        ],
        guests=[parse_guest(cluster) for cluster in clusters],
        sets=sets,
        secrets=secrets,
    )


def read_applied(
    client: KubernetesClient, kinds: ClusterApi, deadline: Deadline
) -> dict[tuple[str, str, str], str]:
    """Return the hash of what Cluster API has applied, by namespace, Cluster and name of the Secret."""
    applied = {}
    for binding in client.list_all(kinds.bindings, "", deadline):
        metadata, spec = binding["metadata"], binding.get("spec") or {}
        cluster = str(spec.get("clusterName") or metadata["name"])
        for entry in spec.get("bindings") or ():
            for resource in entry.get("resources") or ():
                if resource.get("applied"):
                    place = str(metadata["namespace"]), cluster, str(resource.get("name"))
                    applied[place] = str(resource.get("hash"))
    return applied


def _check_delivery(wanted: GuestPullSecret, conflicting: list[dict[str, Any]]) -> None:
    """:raises ConfigurationError: the delivery of this name is of the other kind."""
    for item in conflicting[:1]:
        delivery = "cluster_resource_set" if wanted.is_direct else "direct"
        place = f"{item['metadata']['namespace']}/{item['metadata']['name']}"
        raise ConfigurationError(
            f"{place}: {wanted.set_name} is a delivery with delivery: {delivery}",
            f"remove it first, with state: absent and delivery: {delivery}, or set another set_name",
        )


def _resource_sets(
    client: KubernetesClient, record: str, deadline: Deadline
) -> tuple[ClusterApi, list[dict[str, Any]]]:
    for version in _VERSIONS:
        kinds = ClusterApi(version)
        try:
            return kinds, list(client.list_all(kinds.resource_sets, record, deadline))
        except NotFound:
            continue
    raise ConfigurationError(
        f"{client.place('*', 'clusterresourcesets', '*')}: the API server knows no such objects of Cluster API",
        "check context and kubeconfig, or install Cluster API there",
    )
