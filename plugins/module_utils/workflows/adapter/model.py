# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The adapter's data model: what to create for a cluster, and what was observed. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...model.cluster import Cluster
from ..provision import steps

__all__ = [
    "CREATED",
    "FAILED",
    "PENDING",
    "RUNNING",
    "STUCK",
    "SUCCEEDED",
    "Observed",
    "Order",
    "other_replication",
]

# The state of a cluster's work, by a Job or inline.
CREATED = "created"  # just now
PENDING = "pending"  # no container has run yet
RUNNING = "running"
STUCK = "stuck"  # it waits for something that a person must fix, such as an image or a node
SUCCEEDED = "succeeded"
FAILED = "failed"


@dataclass(frozen=True)
class Order:
    """What to create for one cluster.

    :param cluster: with a project, a namespace and the names of both secrets, but without its docker config.
    :param generation: of the cluster, as it was read.
    """

    cluster: Cluster
    generation: int
    traceparent: str | None = None

    @property
    def cluster_id(self) -> str:
        """The cluster's id."""
        return self.cluster.cluster_id

    @property
    def cluster_name(self) -> str:
        """The cluster's name, or its id if it has none."""
        return self.cluster.cluster_name or self.cluster.cluster_id

    @property
    def project(self) -> str:
        """The Google Cloud project, for results and logs."""
        return str(self.cluster.gcp_project_id)

    @property
    def namespace(self) -> str:
        """The namespace in the management cluster, where HyperShift looks for the Secret."""
        return str(self.cluster.management_namespace)

    @property
    def placed_as(self) -> str:
        """The Secret's name in the management cluster."""
        return str(self.cluster.k8s_secret_name)

    @property
    def stored_at(self) -> str:
        """The address of the stored secret."""
        return steps.stored_at(self.cluster)


@dataclass(frozen=True)
class Observed:
    """What was observed of a cluster's work, or of its removal.

    :param state: one of this module's states.
    :param reason: of a condition, CamelCase: ``JobRunning``, ``ImagePullFailed``, ``PullSecretStored`` …
    :param message: for people.
    :param job: its name; None if none was needed or could be created.
    :param attempt: of the Job's pods, from 1.
    :param started: RFC 3339.
    :param made: whether this look created the Job.
    :param actions: descriptions of what this look wrote: ``created job pullsecret-…``.
    :param result: what the Job left at its end (the job contract): ``version``, ``kind``, … without any
        value.
    :param ends: what is counted of the ends that this look is the first to see (``job_end``).
    :param content: digest of the content that the Job writes; None without a Job.
    :param elsewhere: whether the Job named other secrets than were ordered, which were left out.
    :param retry: whether a retry may help, so that a later run looks again.
    :param kind: of the error that failed, or that a new Job is to fix; None if it is unknown.
    :param drifted: whether the management Secret is missing or is not what was stored.
    """

    state: str
    reason: str
    message: str
    job: str | None = None
    namespace: str | None = None
    attempt: int = 1
    started: str | None = None
    made: bool = False
    actions: tuple[str, ...] = ()
    result: Mapping[str, Any] | None = None
    ends: tuple[Mapping[str, Any], ...] = ()
    content: str | None = None
    elsewhere: bool = False
    retry: bool = True
    kind: str | None = None
    drifted: bool = False


def other_replication(order: Order, result: Mapping[str, Any]) -> str:
    """Return the end of a message about a secret whose replication differs from the order, or an empty
    string.

    :param result: the result that the work left.
    """
    if result.get("replication_differs") is not True:
        return ""
    asked = order.cluster.replication_text
    return f"; its replication is not {asked}: it cannot be changed after a secret is created"
