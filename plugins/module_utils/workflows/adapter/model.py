# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The adapter's words: what is to be made for a cluster, and what was seen of it.  Pure."""

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

# What a cluster's work is in, whether a Job does it or we.
CREATED = "created"  # just now
PENDING = "pending"  # no container has run yet
RUNNING = "running"
STUCK = "stuck"  # it waits for what does not come by itself: an image, a node; a person is needed
SUCCEEDED = "succeeded"
FAILED = "failed"


@dataclass(frozen=True)
class Order:
    """What is to be made for one cluster.

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
        """The cluster's name; its id where it has none."""
        return self.cluster.cluster_name or self.cluster.cluster_id

    @property
    def project(self) -> str:
        """Of Google Cloud, as results and logs have it."""
        return str(self.cluster.gcp_project_id)

    @property
    def namespace(self) -> str:
        """Of the management cluster, where HyperShift looks for the Secret."""
        return str(self.cluster.management_namespace)

    @property
    def placed_as(self) -> str:
        """The Secret's name in the management cluster."""
        return str(self.cluster.k8s_secret_name)

    @property
    def stored_at(self) -> str:
        """The stored secret's address."""
        return steps.stored_at(self.cluster)


@dataclass(frozen=True)
class Observed:
    """What was seen of a cluster's work, or of its removal.

    :param state: one of this module's words.
    :param reason: a condition's, CamelCase: ``JobRunning``, ``ImagePullFailed``, ``PullSecretStored`` …
    :param message: for people.
    :param job: its name; None where none was needed or could be made.
    :param attempt: of the Job's pods, from 1.
    :param started: RFC 3339.
    :param made: whether the Job was made by this look.
    :param actions: what was written by this look, in words: ``created job pullsecret-…``.
    :param result: what the Job said of itself at its end (the job contract): ``version``, ``kind``, … no value.
    :param content: digest of what the Job is to bring to its places; None without a Job.
    :param elsewhere: whether the Job named other places than were ordered, which were left out.
    :param retry: whether doing the same once more may help, so that it is looked at again.
    :param kind: of the error that a failure is, or that a new Job is to mend, in our words; None where nobody
        says.
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
    content: str | None = None
    elsewhere: bool = False
    retry: bool = True
    kind: str | None = None


def other_replication(order: Order, result: Mapping[str, Any]) -> str:
    """The end of a message about a secret that is replicated otherwise than was ordered; else nothing.

    :param result: what the work said of itself.
    """
    if result.get("replication_differs") is not True:
        return ""
    asked = order.cluster.replication_text
    return f"; its replication is not {asked}: it cannot be changed after a secret is created"
