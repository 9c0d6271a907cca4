# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the start of each run: the control plane, its original secret, the connection to the hosted cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...clients.kubernetes.client import KubernetesClient, KubernetesClients
from ...model.errors import ConfigurationError, DependencyMissing, NotFound, PullSecretError
from ...model.naming import KUBERNETES_NAME
from ...places.kubernetes_secret.kubeconfig_secret import client_of_kubeconfig
from ...places.kubernetes_secret.target import KEY, is_being_deleted, secret_value
from ...runtime.retry import Deadline
from .cluster import HostedCluster, SecretKeyReference

__all__ = ["ControlPlane", "ControlPlaneDeleting"]

_PLANES = "hostedcontrolplanes"


class ControlPlaneDeleting(PullSecretError):
    """The hosted control plane is being deleted, and the hosted cluster with it."""


class ControlPlane:
    """One cluster's control plane in its management cluster. Read once per target."""

    def __init__(self, clients: KubernetesClients, cluster: HostedCluster, deadline: Deadline) -> None:
        self._clients = clients
        self._cluster = cluster
        self._deadline = deadline
        self._plane: Mapping[str, Any] | None = None
        self._used: KubernetesClient | None = None

    def hosted(self) -> KubernetesClient:
        """Return the hosted cluster's client.

        :raises ControlPlaneDeleting: the cluster is being deleted.
        :raises DependencyMissing: the control plane has no kubeconfig yet.
        """
        cluster = self._cluster
        if cluster.reached_directly:
            return self._clients.other(self._deadline, cluster.hosted_context, cluster.hosted_kubeconfig)
        reference = cluster.kubeconfig_secret or self._kubeconfig_of_plane()
        address = reference.namespace, reference.name, reference.key
        return client_of_kubeconfig(self._clients, self._client(), address, cluster.id, self._deadline)

    def is_same(self, client: KubernetesClient) -> bool:
        """Whether this is the management cluster's own client, which other clusters share."""
        return self._used is client

    def original(self) -> tuple[bytes, str]:
        """Return the original pull secret and its printable name.

        :raises ControlPlaneDeleting: the cluster is being deleted.
        """
        reference = self._cluster.original or self._original_of_plane()
        client = self._client()
        where = client.place(reference.namespace, "secrets", reference.name)
        secret = client.get(reference.namespace, "secrets", reference.name, self._deadline)
        if secret is None:
            raise NotFound(f"{where}: the original pull secret does not exist")
        return secret_value(secret, reference.key, where), where

    def _client(self) -> KubernetesClient:
        self._used = self._clients.other(
            self._deadline, self._cluster.management_context, self._cluster.management_kubeconfig
        )
        return self._used

    def _original_of_plane(self) -> SecretKeyReference:
        plane, where = self._found()
        name = _at(plane, "spec", "pullSecret", "name")
        if not name:
            raise DependencyMissing(f"{where}: spec.pullSecret.name is empty")
        return SecretKeyReference(self._namespace, _name(name, f"{where}: spec.pullSecret.name"), KEY)

    def _kubeconfig_of_plane(self) -> SecretKeyReference:
        plane, where = self._found()
        name = _at(plane, "status", "kubeConfig", "name")
        if not name:
            raise DependencyMissing(
                f"{where}: status.kubeConfig.name is not set yet",
                "wait until the hosted control plane is ready",
            )
        key = _at(plane, "status", "kubeConfig", "key") or "kubeconfig"
        return SecretKeyReference(self._namespace, _name(name, f"{where}: status.kubeConfig.name"), key)

    @property
    def _namespace(self) -> str:
        # Without it, options that need it are refused. A removal does not need the original.
        return self._cluster.control_plane_namespace or ""

    def _found(self) -> tuple[Mapping[str, Any], str]:
        """Return the HostedControlPlane and its printable name."""
        namespace, name, client = self._namespace, self._cluster.plane, self._client()
        if not namespace:
            raise NotFound("control_plane_namespace is missing")
        everywhere = client.place(namespace, _PLANES, name or "*")
        if self._plane is None:
            if name:
                planes = [client.get(namespace, _PLANES, name, self._deadline)]
            else:
                try:
                    planes = list(client.list_all(_PLANES, "", self._deadline, namespace))
                except NotFound:
                    planes = []
            if len(planes) > 1:
                raise ConfigurationError(
                    f"{everywhere}: there are {len(planes)} HostedControlPlanes",
                    "set hosted_control_plane to the name of one of them",
                )
            if not planes or planes[0] is None:
                raise NotFound(
                    f"{everywhere}: there is no HostedControlPlane",
                    "check control_plane_namespace, or set original and hosted_kubeconfig_secret",
                )
            self._plane = planes[0]
        where = client.place(namespace, _PLANES, str(self._plane["metadata"]["name"]))
        if is_being_deleted(self._plane):
            raise ControlPlaneDeleting(f"{where} is being deleted")
        return self._plane, where


def _name(text: str, where: str) -> str:
    """Check a name from a HostedControlPlane: in an API path, an invalid one could lead to another's secret.

    :raises ConfigurationError: it is not a valid name.
    """
    if not KUBERNETES_NAME.match(text):
        raise ConfigurationError(f"{where} is not a valid name")
    return text


def _at(value: Any, *path: str) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else None
