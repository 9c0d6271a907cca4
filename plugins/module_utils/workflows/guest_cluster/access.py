# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Opens guests by the kubeconfigs that Cluster API keeps on the host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...clients.kubernetes.client import KubernetesClient, KubernetesClients
from ...places.kubernetes_secret.kubeconfig_secret import client_of_kubeconfig
from ...runtime.retry import Deadline

__all__ = ["GuestAccess"]

# Cluster API's own name and key.
_KUBECONFIG, _KEY = "{}-kubeconfig", "value"


class GuestAccess:
    """To all guests of a host. Thread-safe.

    :param client: of the host.
    """

    def __init__(self, clients: KubernetesClients, client: KubernetesClient) -> None:
        self._clients = clients
        self._client = client

    @contextmanager
    def open(self, namespace: str, cluster: str, deadline: Deadline) -> Iterator[KubernetesClient]:
        """Give the guest's client for the time of a with block: thousands would not fit one process.

        :raises NotFound: the Cluster has no kubeconfig yet, or no more.
        """
        address = namespace, _KUBECONFIG.format(cluster), _KEY
        guest = client_of_kubeconfig(self._clients, self._client, address, f"{namespace}/{cluster}", deadline)
        try:
            yield guest
        finally:
            self._clients.release(guest)
