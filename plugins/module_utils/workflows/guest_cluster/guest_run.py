# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the deliveries to all guests of one run share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from ...clients.kubernetes.client import KubernetesClient, KubernetesClients
from ...model.guest_cluster import GuestPullSecret
from ...places.kubernetes_secret.conflict_retry import retry_when_overtaken
from ...places.kubernetes_secret.kubeconfig_secret import client_of_kubeconfig
from ...places.kubernetes_secret.owned_objects import OwnedObjects
from ...runtime.retry import Deadline
from ...runtime.run_settings import RunSettings
from ..run import Work

__all__ = ["GuestRun"]

T = TypeVar("T")

# The Secret in which Cluster API keeps a guest's kubeconfig.
_KUBECONFIG, _KEY = "{}-kubeconfig", "value"
_OTHERS_HINT = "if the guest was restored under another name, take it over with adopt: true"


@dataclass(frozen=True)
class GuestRun:
    """One run.

    :param host: the host's client.
    :param dry_run: check mode: nothing is written.
    :param keeps_objects: whether no further object is deleted in a guest that stays.
    """

    settings: RunSettings
    clients: KubernetesClients
    host: KubernetesClient
    wanted: GuestPullSecret
    dry_run: bool
    keeps_objects: bool = False

    @contextmanager
    def open(self, namespace: str, cluster: str, deadline: Deadline) -> Iterator[KubernetesClient]:
        """Give a guest's client for the time of a with block: thousands would not fit one process.

        :raises NotFound: the Cluster has no kubeconfig yet, or no more.
        """
        address = namespace, _KUBECONFIG.format(cluster), _KEY
        guest = client_of_kubeconfig(self.clients, self.host, address, f"{namespace}/{cluster}", deadline)
        try:
            yield guest
        finally:
            self.clients.release(guest)

    def objects(
        self,
        namespace: str,
        cluster: str,
        current: Work,
        guest: KubernetesClient | None = None,
        shown: str | None = None,
    ) -> OwnedObjects:
        """Return the objects of one namespace that belong to a Cluster.

        :param guest: the guest's client; without it, the namespace is the host's.
        :param shown: what an object is called in actions; its kind by default.
        """
        return OwnedObjects(
            guest or self.host,
            namespace,
            cluster,
            current.outcome,
            current.deadline,
            dry_run=self.dry_run,
            waits=guest is None,
            others_hint=_OTHERS_HINT,
            shown=shown,
        )

    def retry(self, current: Work, once: Callable[[bool], T]) -> T:
        """Call ``once`` until it meets no conflict, keep what it recorded, and return what it returns.

        :param once: called with whether to read again what was listed.
        """

        def attempt(fresh: bool) -> T:
            current.outcome.restart()
            return once(fresh)

        result = retry_when_overtaken(self.settings, current.outcome, current.deadline, attempt)
        current.outcome.settle()
        return result
