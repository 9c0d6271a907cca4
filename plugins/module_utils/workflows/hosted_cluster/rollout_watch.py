# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds the nodes, reads their syncers' reports, and waits for them."""

from __future__ import annotations

import threading
import time
from typing import Any

from ...places.kubernetes_secret.owned_objects import OwnedObjects
from ...runtime.retry import Deadline
from .cluster import HostedCluster
from .names import STATUS
from .rollout import Rollout, expected_nodes, rollout_of, tolerates_all

__all__ = ["RolloutWatch"]

# Seconds between two reads of the reports.
_POLL_SECONDS = 0.5


class RolloutWatch:
    """The nodes of one hosted cluster that have a syncer, or will have one.

    :param stop: once it is set, waiting ends.
    """

    def __init__(
        self, cluster: HostedCluster, objects: OwnedObjects, deadline: Deadline, stop: threading.Event
    ) -> None:
        self._cluster = cluster
        self._objects = objects
        self._deadline = deadline
        self._stop = stop
        self.names: list[str] = []

    def find(self, syncers: dict[str, Any] | None) -> None:
        """Find the nodes.

        :param syncers: the DaemonSet whose pods count; None uses the cluster's options.
        """
        syncer = self._cluster.syncer
        if syncers is not None or syncer is None:
            pod = ((syncers or {}).get("spec") or {}).get("template", {}).get("spec") or {}
            selector, tolerations = pod.get("nodeSelector") or {}, pod.get("tolerations") or []
        else:
            selector, tolerations = syncer.node_selector, syncer.tolerations
        # Most of a Node is its images. Of its spec only taints matter, and usually all are tolerated.
        nodes = self._objects.every("nodes", metadata_only=tolerates_all(tolerations))
        self.names = expected_nodes(nodes, selector, tolerations)

    def read(self, version: str) -> Rollout:
        """Read the progress with this version of the secret."""
        return self.from_reports(self._objects.get("configmaps", STATUS), version)

    def from_reports(self, status: dict[str, Any] | None, version: str) -> Rollout:
        """Return the progress from reports that were already read."""
        return rollout_of(self.names, (status or {}).get("data"), version)

    def wait(self, version: str) -> Rollout:
        """Read until every node has settled or the time is over."""
        end = time.monotonic() + min(self._cluster.rollout_timeout, self._deadline.remaining())
        while True:
            state = self.read(version)
            left = end - time.monotonic()
            if state.settled or left <= 0 or self._objects.dry_run or self._stop.is_set():
                return state
            self._stop.wait(min(_POLL_SECONDS, left))
