# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The adapter's Jobs: look, decide (``planning``), make what is missing, say what is seen.

Nothing is waited for.  Each call leaves the cluster's objects in a state that the next one goes on from,
wherever it was ended.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Sequence
from typing import Any, Callable, Optional, Protocol

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter import model, names
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs import (
    manifests,
    observing,
    planning,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.data_secrets import (
    DataSecrets,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.digest_key import DigestKey
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.fitting import refusal
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.leaving import (
    Leaver,
    Left,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.masking import masked
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.planning import Plan
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.removing import (
    Removal,
    Remover,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.seen import Job
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs.views import Views
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.model import Observed, Order
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import (
    ConfigurationError,
    OwnershipConflict,
    PermissionDenied,
    PullSecretError,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.client import (
    KubernetesClient,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.errors import (
    AlreadyExists,
    Overtaken,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.retry import Deadline

__all__ = ["ENDED", "AdapterSettings", "Jobs", "Removal"]

# The beginning of the action that only the first look at a Job's end has.
ENDED = "noted the end of job "
_ROUNDS = 6
_FIRST_PAUSE = 0.05


class AdapterSettings(Protocol):
    """What is read of the adapter's configuration."""

    @property
    def namespace(self) -> str:
        """Of Jobs and their Secrets."""

    @property
    def adapter(self) -> str:
        """The adapter's name in reports and labels."""

    @property
    def job(self) -> manifests.JobSettings:
        """What its Jobs are made from."""


class Jobs:
    """The Jobs of one adapter at one management API server; thread-safe.

    :param clock: seconds since 1970.
    """

    def __init__(
        self, client: KubernetesClient, config: AdapterSettings, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._client = client
        self._namespace = config.namespace
        self._adapter = config.adapter
        self._settings = config.job
        self._clock = clock
        self._views = Views(client, config.namespace, config.adapter)
        self._secrets = DataSecrets(client, config.namespace, config.adapter)
        self._key = DigestKey(client, config.namespace, config.adapter)
        self._remover = Remover(client, config.namespace, config.adapter)
        self._leaver = Leaver(client, config.namespace, config.adapter)

    def prepare(self, cluster_ids: Sequence[str], deadline: Deadline) -> None:
        """Read what is there for a batch's clusters in few requests; raises nothing.

        What was read is good for one ``apply`` of each.
        """
        self._key.forget_failure()
        self._views.prepare(cluster_ids, deadline)

    def apply(self, order: Order, document: bytes, deadline: Deadline) -> Observed:
        """Have a Job do what is ordered, unless one does or did, and say what is seen of it.

        :param document: the pull secret, as it is to reach the Job.
        :raises PullSecretError: nothing could be seen, or made; it names the object and no value.
        """
        refused = refusal(document, order.cluster_id)
        if refused is not None:
            return refused
        content = manifests.content_digest(order, document, self._key.get(deadline))
        work = _Work(order, document, content, deadline)
        try:
            return self._settled(work)
        except OwnershipConflict as error:
            return Observed(
                model.FAILED,
                "OwnershipConflict",
                str(error),
                namespace=self._namespace,
                actions=tuple(work.actions),
                retry=False,
                kind=error.kind,
            )

    def remove(self, cluster_id: str, deadline: Deadline) -> Removal:
        """Delete all of a cluster's Jobs, pods and Secrets here, and look whether they are gone."""
        return self._remover.remove(cluster_id, deadline)

    def halt(self, cluster_id: str, deadline: Deadline) -> Left:
        """Suspend the Jobs of a cluster that is gone, and read where they bring things."""
        return self._leaver.halt(cluster_id, deadline)

    def has_namespace(self, name: str, deadline: Deadline) -> bool:
        """Whether the management cluster has this namespace.

        :raises PullSecretError: it does not say so; the right to get namespaces may be missing.
        """
        return self._client.has_namespace(name, deadline)

    def known(self, deadline: Deadline) -> set[str]:
        """The ids of all clusters that have something here."""
        return self._remover.known(deadline)

    # -- steps ----------------------------------------------------------------------------------

    def _settled(self, work: _Work) -> Observed:
        """From the start again where somebody else was faster, a few times."""
        jobs = self._views.take(work.order.cluster_id, work.deadline)
        pause, left = _FIRST_PAUSE, _ROUNDS
        while True:
            try:
                return self._once(work, jobs)
            except Overtaken:
                left -= 1
                if not left or work.deadline.remaining() <= pause:
                    raise
            time.sleep(pause)
            pause *= 2
            jobs = self._views.look(work.order.cluster_id, work.deadline)

    def _once(self, work: _Work, jobs: Iterable[Job]) -> Observed:
        order, deadline = work.order, work.deadline
        now = self._clock()
        spec = _Once(lambda: manifests.job_spec(order, self._settings, self._adapter))

        def observe(job: Job) -> Observed:
            pods = self._views.pods(order.cluster_id, job, deadline)
            seen = observing.observe(job, pods, self._namespace, now)
            return seen if job.recorded is not None else masked(seen, work.document)

        plan = planning.make_plan(
            jobs,
            generation=order.generation,
            name=names.job_name(order.cluster_id, order.generation),
            content=work.content,
            template=lambda: manifests.template_hash(spec.get()),
            observe=observe,
            keep=self._settings.keep_generations,
            now=now,
        )
        for job in plan.delete:
            self._delete(job, work)
        observed = self._step(work, plan, spec)
        for job in plan.clean:
            try:
                self._delete(job, work)
            except PullSecretError:
                # Left for the next look: nothing that the cluster needs depends on it.
                break
        actions = tuple(work.actions)
        return dataclasses.replace(observed, made=work.made, actions=actions, content=work.content)

    def _step(self, work: _Work, plan: Plan, spec: _Once) -> Observed:
        order, current = work.order, plan.current
        if plan.step == planning.MAKE or current is None:
            return self._make(work, spec.get(), plan.attempt)
        if plan.step == planning.KEEP and plan.observed is not None:
            if work.unsure == current.name:
                # Our own create, whose answer was lost.
                work.did_make(current.name)
            return self._keep(work, current, plan.observed)
        if plan.step == planning.HOLD:
            return self._pending(
                "NewerGenerationSeen",
                f"job {current.name} is of generation {current.generation}, and this look "
                f"is of {order.generation}",
                current,
            )
        return self._pending(
            "EarlierJobEnding",
            f"job {current.name} of generation {current.generation} has to end before the next one begins",
            current,
        )

    def _keep(self, work: _Work, job: Job, observed: Observed) -> Observed:
        if observed.reason == "ContainerConfigError":
            # Its Secret was deleted under way; kubelet tries again as soon as it is there.
            self._secrets.ensure(work.order, work.document, work.actions, work.deadline)
        if job.ended is None or job.recorded is not None:
            return observed
        try:
            # In this order: what is noted says that the Secret is gone.
            self._secrets.drop(work.order.cluster_id, job.data_uid, work.actions, work.deadline)
            patch = {
                "metadata": {
                    "resourceVersion": job.version,
                    "annotations": {names.RESULT: observing.record(observed)},
                }
            }
            self._client.patch(self._namespace, "jobs", job.name, patch, work.deadline)
            work.actions.append(f"{ENDED}{job.name}")
        except PullSecretError:
            # The next look does it; what was seen is true all the same.
            pass
        return observed

    def _make(self, work: _Work, spec: dict[str, Any], attempt: int) -> Observed:
        order = work.order
        uid = self._secrets.ensure(order, work.document, work.actions, work.deadline)
        body = manifests.job(
            order,
            self._settings,
            self._adapter,
            spec=spec,
            content=work.content,
            data_uid=uid,
            attempt=attempt,
        )
        name = str(body["metadata"]["name"])
        try:
            self._client.create(self._namespace, "jobs", body, work.deadline)
        except AlreadyExists as error:
            if error.unsure:
                work.unsure = name
            self._guard(work, name, uid)
            raise
        except (ConfigurationError, PermissionDenied):
            # Nothing is going to read it.
            self._secrets.drop(order.cluster_id, uid, work.actions, work.deadline)
            raise
        work.did_make(name)
        return Observed(
            model.CREATED,
            "JobCreated",
            f"job {name} was made for generation {order.generation}",
            job=name,
            namespace=self._namespace,
            attempt=attempt,
        )

    def _guard(self, work: _Work, name: str, data_uid: str) -> None:
        """Refuse a Job of that name that a look by our labels does not show."""
        cluster_id = work.order.cluster_id
        found = self._client.get(self._namespace, "jobs", name, work.deadline)
        if found is None:
            return
        if names.is_ours(found["metadata"].get("labels") or {}, self._adapter, cluster_id, names.JOB):
            return
        self._secrets.drop(cluster_id, data_uid, work.actions, work.deadline)
        raise OwnershipConflict(
            f"{self._client.place(self._namespace, 'jobs', name)} exists but was not made by the adapter "
            f"{self._adapter} for this cluster",
            "it was left as it is; rename or delete it",
        )

    def _delete(self, job: Job, work: _Work) -> None:
        # Of one that goes on the name stays until its pods are gone, so that no two are at work.
        how = "Background" if job.ended is not None else "Foreground"
        if self._client.delete(
            self._namespace, "jobs", job.name, {"uid": job.uid}, work.deadline, propagation=how
        ):
            work.actions.append(f"deleted job {job.name}")

    def _pending(self, reason: str, message: str, job: Job) -> Observed:
        return Observed(
            model.PENDING,
            reason,
            message,
            job=job.name,
            namespace=self._namespace,
            attempt=job.tries,
            started=job.started,
        )


class _Work:
    """One apply: what is wanted, and what was done for it so far."""

    def __init__(self, order: Order, document: bytes, content: str, deadline: Deadline) -> None:
        self.order = order
        self.document = document
        self.content = content
        self.deadline = deadline
        self.actions: list[str] = []
        self.made = False
        self.unsure: Optional[str] = None

    def did_make(self, name: str) -> None:
        self.made, self.unsure = True, None
        self.actions.append(f"created job {name}")


class _Once:
    """A Job's spec, built when it is needed: most looks need none."""

    def __init__(self, build: Callable[[], dict[str, Any]]) -> None:
        self._build = build
        self._built: Optional[dict[str, Any]] = None

    def get(self) -> dict[str, Any]:
        if self._built is None:
            self._built = self._build()
        return self._built
