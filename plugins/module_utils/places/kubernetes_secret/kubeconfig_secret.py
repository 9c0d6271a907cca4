# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reaches a cluster by the kubeconfig that another cluster has in a Secret."""

from __future__ import annotations

from ...clients.kubernetes.client import KubernetesClient, KubernetesClients
from ...model.errors import NotFound
from ...runtime.retry import Deadline
from .target import secret_value

__all__ = ["client_of_kubeconfig"]


def client_of_kubeconfig(
    clients: KubernetesClients,
    client: KubernetesClient,
    address: tuple[str, str, str],
    cluster: str,
    deadline: Deadline,
) -> KubernetesClient:
    """Return the client of the cluster. Nothing is asked of it yet.

    :param client: of the cluster that has the Secret.
    :param address: the Secret's namespace, name and key.
    :param cluster: the other cluster's name, for messages.
    :raises NotFound: there is no such Secret or key.
    :raises ConfigurationError: the kubeconfig holds more than addresses and credentials.
    """
    namespace, name, key = address
    where = client.place(namespace, "secrets", name)
    secret = client.get(namespace, "secrets", name, deadline)
    if secret is None:
        raise NotFound(f"{where}: the kubeconfig of {cluster} does not exist")
    return clients.embedded(secret_value(secret, key, where), cluster, where, deadline)
