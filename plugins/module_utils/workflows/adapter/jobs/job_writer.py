# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Creates a Job with the Secret that it reads, and deletes Jobs; never touches objects of another owner."""

from __future__ import annotations

from typing import Any

from ....clients.kubernetes.client import KubernetesClient
from ....clients.kubernetes.errors import ObjectAlreadyExists
from ....model.errors import ConfigurationError, OwnershipConflict, PermissionDenied
from ....runtime.retry import Deadline
from .. import model, names
from ..config.config import AdapterConfig
from ..model import Observed, Order
from . import manifests
from .data_secrets import DataSecrets
from .job_state import JobState

__all__ = ["ApplyRequest", "JobWriter"]


class ApplyRequest:
    """One order to apply, and what was done for it so far."""

    def __init__(self, order: Order, document: bytes, content: str, deadline: Deadline) -> None:
        self.order = order
        self.document = document
        self.content = content
        self.deadline = deadline
        self.actions: list[str] = []
        self.ends: list[dict[str, Any]] = []
        self.made = False
        self.unsure: str | None = None

    def record_created(self, name: str) -> None:
        self.made, self.unsure = True, None
        self.actions.append(f"created job {name}")


class JobWriter:
    """Creates and deletes the Jobs of one adapter. Thread-safe."""

    def __init__(self, client: KubernetesClient, config: AdapterConfig, secrets: DataSecrets) -> None:
        self._client = client
        self._namespace = config.namespace
        self._adapter = config.adapter
        self._settings = config.job
        self._secrets = secrets

    def make(self, request: ApplyRequest, spec: dict[str, Any], attempt: int) -> Observed:
        """Create the Secret and the Job.

        :raises OwnershipConflict: a name belongs to another owner.
        :raises Overtaken: another client was faster; look again.
        """
        order = request.order
        uid = self._secrets.ensure(order, request.document, request.actions, request.deadline)
        body = manifests.job(
            order,
            self._settings,
            self._adapter,
            spec=spec,
            content=request.content,
            data_uid=uid,
            attempt=attempt,
        )
        name = str(body["metadata"]["name"])
        try:
            self._client.create(self._namespace, "jobs", body, request.deadline)
        except ObjectAlreadyExists as error:
            if error.unsure:
                request.unsure = name
            self._guard(request, name, uid)
            raise
        except (ConfigurationError, PermissionDenied):
            # No pod is going to read it.
            self._secrets.drop(order.cluster_id, uid, request.actions, request.deadline)
            raise
        request.record_created(name)
        return Observed(
            model.CREATED,
            "JobCreated",
            f"job {name} was created for generation {order.generation}",
            job=name,
            namespace=self._namespace,
            attempt=attempt,
        )

    def _guard(self, request: ApplyRequest, name: str, data_uid: str) -> None:
        """Refuse an existing Job of that name that the list by our labels does not contain."""
        cluster_id = request.order.cluster_id
        found = self._client.get(self._namespace, "jobs", name, request.deadline)
        if found is None:
            return
        if names.is_ours(found["metadata"].get("labels") or {}, self._adapter, cluster_id, names.JOB):
            return
        self._secrets.drop(cluster_id, data_uid, request.actions, request.deadline)
        raise OwnershipConflict(
            f"{self._client.place(self._namespace, 'jobs', name)} exists but was not made by the adapter "
            f"{self._adapter} for this cluster",
            "it was left as it is; rename or delete it",
        )

    def delete(self, job: JobState, request: ApplyRequest) -> None:
        """Delete this Job and its pods."""
        # A running Job keeps its name until its pods are gone, so that two never work at once.
        how = "Background" if job.ended is not None else "Foreground"
        if self._client.delete(
            self._namespace, "jobs", job.name, {"uid": job.uid}, request.deadline, propagation=how
        ):
            request.actions.append(f"deleted job {job.name}")
