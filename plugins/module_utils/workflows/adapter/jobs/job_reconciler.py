# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reconciles a cluster's Jobs with an order: plan (``planning``), create or delete Jobs, observe."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Callable

from ....clients.kubernetes.client import KubernetesClient
from ....clients.kubernetes.errors import Overtaken
from ....model.errors import PullSecretError
from .. import model, names
from ..config.config import AdapterConfig
from ..model import Observed
from . import job_outcome, manifests, observing, planning, pods
from .data_secrets import DataSecrets
from .drift import CHANGED, MISSING, DriftDetector
from .job_cache import JobCache
from .job_end import job_end, pod_results
from .job_state import JobState
from .job_writer import ApplyRequest, JobWriter
from .marks import template_hash
from .masking import masked_observation
from .planning import Plan
from .pods import Pod

__all__ = ["JobReconciler"]

_MAX_ROUNDS = 6
_FIRST_PAUSE = 0.05


class JobReconciler:
    """Reconciles the Jobs of one adapter.  Thread-safe."""

    def __init__(
        self,
        client: KubernetesClient,
        config: AdapterConfig,
        cache: JobCache,
        secrets: DataSecrets,
        drift_detector: DriftDetector,
        clock: Callable[[], float],
    ) -> None:
        self._client = client
        self._namespace = config.namespace
        self._adapter = config.adapter
        self._settings = config.job
        self._cache = cache
        self._secrets = secrets
        self._writer = JobWriter(client, config, secrets)
        self._drift_detector = drift_detector
        self._clock = clock

    def reconcile(self, request: ApplyRequest) -> Observed:
        """Reconcile a request. Start again, a few times, if another writer was faster."""
        jobs = self._cache.cached_or_read(request.order.cluster_id, request.deadline)
        pause, left = _FIRST_PAUSE, _MAX_ROUNDS
        while True:
            try:
                return self._reconcile_once(request, jobs)
            except Overtaken:
                left -= 1
                if not left or request.deadline.remaining() <= pause:
                    raise
            time.sleep(pause)
            pause *= 2
            jobs = self._cache.read(request.order.cluster_id, request.deadline)

    def _reconcile_once(self, request: ApplyRequest, jobs: Iterable[JobState]) -> Observed:
        order, deadline = request.order, request.deadline
        now = self._clock()
        spec = _LazySpec(lambda: manifests.job_spec(order, self._settings, self._adapter))
        jobs = list(jobs)
        looks: dict[str, _Look] = {}

        def look(job: JobState) -> _Look:
            if job.name not in looks:
                own = pods.pods_of(job, self._cache.pods(order.cluster_id, job, deadline))
                seen = observing.observe(job, own, self._namespace, order, now)
                if job.recorded is None:
                    seen = masked_observation(seen, request.document)
                looks[job.name] = _Look(seen, own)
            return looks[job.name]

        def observe(job: JobState) -> Observed:
            seen = look(job).seen
            # The Secret exists if a Job was just created.
            done = seen.state == model.SUCCEEDED and job.recorded is not None
            looked = done or seen.state == model.FAILED
            return self._drifted(request, job, seen) if looked else seen

        plan = planning.make_plan(
            jobs,
            generation=order.generation,
            name=names.job_name(order.cluster_id, order.generation),
            content=request.content,
            template=lambda: template_hash(spec.get()),
            observe=observe,
            keep=self._settings.keep_generations,
            now=now,
        )
        if plan.step != planning.HOLD:
            for job in jobs:
                if job.ended is not None and job.recorded is None:
                    self._record_end(request, job, look(job), kept=job is plan.current)
        for job in plan.delete:
            self._writer.delete(job, request)
        observed = self._take_step(request, plan, spec)
        for job in plan.clean:
            try:
                self._writer.delete(job, request)
            except PullSecretError:
                # Left for the next look, because the cluster does not depend on it.
                break
        return dataclasses.replace(
            observed,
            made=request.made,
            actions=tuple(request.actions),
            ends=tuple(request.ends),
            content=request.content,
        )

    def _drifted(self, request: ApplyRequest, job: JobState, seen: Observed) -> Observed:
        """Return the observation, changed to a failure if the management Secret has drifted."""
        drift = self._drift_detector.drift(request.order, request.document, request.deadline)
        if drift is None:
            return seen
        if seen.state == model.FAILED:
            # The Job's own reason and kind, such as an outage, stay. A new cluster has no Secret yet.
            return dataclasses.replace(seen, drifted=True)
        reason, message = drift
        return dataclasses.replace(
            seen,
            state=model.FAILED,
            reason=reason,
            message=f"job {job.name} is complete, but {message}",
            result=None,
            kind="verification",
            drifted=True,
        )

    def _take_step(self, request: ApplyRequest, plan: Plan, spec: _LazySpec) -> Observed:
        order, current = request.order, plan.current
        if plan.step == planning.MAKE or current is None:
            made = self._writer.make(request, spec.get(), plan.attempt)
            was = plan.observed
            if was is None:
                return made
            made = dataclasses.replace(made, kind=was.kind, drifted=was.drifted)
            if was.reason not in (MISSING, CHANGED):
                return made
            message = f"{was.message}; to repair this, the adapter created job {made.job}"
            return dataclasses.replace(made, reason=was.reason, message=message)
        if plan.step == planning.KEEP and plan.observed is not None:
            if request.unsure == current.name:
                # Our own create, whose response was lost.
                request.record_created(current.name)
            if plan.observed.reason == "ContainerConfigError":
                # Its Secret was deleted meanwhile. Kubelet tries again as soon as it exists.
                self._secrets.ensure(order, request.document, request.actions, request.deadline)
            return plan.observed
        if plan.step == planning.HOLD:
            until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(current.created + planning.HOLD_SECONDS))
            return self._pending(
                "NewerGenerationSeen",
                f"job {current.name} is for generation {current.generation}, newer than the API's generation "
                f"{order.generation}; the adapter waits until {until} for the API to catch up, and then ignores "
                "this job",
                current,
            )
        return self._pending(
            "EarlierJobEnding",
            f"job {current.name} of generation {current.generation} must end before the next one begins",
            current,
        )

    def _record_end(self, request: ApplyRequest, job: JobState, look: _Look, *, kept: bool) -> None:
        """Record the outcome in the Job, and count its end. Of two runs, only one succeeds.

        :param kept: whether the Job stays the current one.
        """
        seen, deadline = look.seen, request.deadline
        if job.content != request.content:
            # Its texts may hold a part of an earlier pull secret, which is not known here.
            seen = dataclasses.replace(seen, message=f"job {job.name} ended", result=None)
        annotations = {names.RESULT: job_outcome.outcome_annotation(seen)}
        patch = {"metadata": {"resourceVersion": job.version, "annotations": annotations}}
        try:
            if kept:
                # In this order: the recorded outcome says that the Secret is gone.
                self._secrets.drop(request.order.cluster_id, job.data_uid, request.actions, deadline)
            self._client.patch(self._namespace, "jobs", job.name, patch, deadline)
        except PullSecretError:
            # The next look does it. The observation is valid in any case.
            return
        request.actions.append(f"noted the end of job {job.name}")
        request.ends.append(job_end(job, look.seen, pod_results(look.pods, request.order)))

    def _pending(self, reason: str, message: str, job: JobState) -> Observed:
        return Observed(
            model.PENDING,
            reason,
            message,
            job=job.name,
            namespace=self._namespace,
            attempt=job.tries,
            started=job.started,
        )


@dataclass(frozen=True)
class _Look:
    """What one look saw of a Job, and its pods if they were read."""

    seen: Observed
    pods: list[Pod]


class _LazySpec:
    """A Job's spec, built on demand, because most looks need none."""

    def __init__(self, build: Callable[[], dict[str, Any]]) -> None:
        self._build = build
        self._built: dict[str, Any] | None = None

    def get(self) -> dict[str, Any]:
        if self._built is None:
            self._built = self._build()
        return self._built
