# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Takes cluster ids to reported statuses: read, decide, apply, observe, report.

It waits for nothing. Running work is reported as running, and a later run looks again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Callable

from ....clients.hyperfleet.client import HyperFleetClient
from ....clients.hyperfleet.cluster_reader import ClusterReader
from ....clients.hyperfleet.statuses import AdapterStatus
from ....model.errors import Internal, NotFound, PullSecretError
from ....runtime.batch import Failure, run_batch
from ....runtime.breaker import Breaker
from ....runtime.run_settings import RunSettings
from ..cel.preconditions import Preconditions
from ..config.config import AdapterConfig
from ..jobs.job_removal import JobRemoval
from ..model import Observed
from . import conditions
from .decide import Apply, Refuse, Remove, UnmetPreconditions, decide, generation_of, may_hold
from .inline import InlineProvisioner
from .last_status import reported_places
from .lazy_jobs import LazyJobs
from .report import ReportSubject
from .run_results import OUTCOME_GONE, ClusterResult
from .secret_removal import SecretRemoval, SecretRemovalResult, remove_secrets
from .status_reporter import ClusterRun, StatusReporter

__all__ = ["Engine"]


class Engine:
    """Handles batches for one configuration.

    :param provisioner: for ``inline`` and for removals.
    :param check_mode: nothing is written or reported; the results say what would be.
    :param on_result: called with each cluster's result as soon as it exists, from several threads.
    """

    def __init__(
        self,
        config: AdapterConfig,
        preconditions: Preconditions,
        api: HyperFleetClient,
        jobs: LazyJobs,
        provisioner: InlineProvisioner,
        settings: RunSettings,
        *,
        check_mode: bool = False,
        on_result: Callable[[ClusterResult], None] | None = None,
    ) -> None:
        self._config = config
        self._preconditions = preconditions
        self._api = api
        self._jobs = jobs
        self._provisioner = provisioner
        self._settings = settings
        self.check_mode = check_mode
        self._stop = settings.retrier.stop
        self._api_breaker = Breaker()
        self._reporter = StatusReporter(
            api, self._api_breaker, settings, check_mode=check_mode, on_result=on_result
        )

    def handle(
        self,
        cluster_ids: Sequence[str],
        traceparents: Mapping[str, str] | None = None,
        given: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> list[ClusterResult]:
        """Handle and report each cluster once, even if its id is given several times.

        :param traceparents: W3C trace contexts by cluster id.
        :param given: clusters that were read a moment ago, by id.
        """
        traces = traceparents or {}
        cluster_runs = [
            ClusterRun(ClusterResult(cluster_id, traceparent=traces.get(cluster_id)))
            for cluster_id in dict.fromkeys(cluster_ids)
        ]
        names = [cluster_run.result.cluster_id for cluster_run in cluster_runs]
        clusters = ClusterReader(self._api, self._settings, breaker=self._api_breaker, given=given, once=True)
        clusters.prepare(names, self._stop)
        self._jobs.prepare(names, self._settings.deadline())
        self._for_each(cluster_runs, lambda cluster_run: self._handle_one(cluster_run, clusters))
        left = [
            cluster_run
            for cluster_run in cluster_runs
            if cluster_run.apply is not None or cluster_run.secret_removal is not None
        ]
        if left:
            self._work_in_places(left)
        return [cluster_run.result for cluster_run in cluster_runs]

    def _for_each(self, cluster_runs: Sequence[ClusterRun], work: Callable[[ClusterRun], None]) -> None:
        def guarded(cluster_run: ClusterRun) -> None:
            try:
                work(cluster_run)
            except Exception as error:
                cluster_run.apply = cluster_run.secret_removal = None
                if cluster_run.subject is None or cluster_run.result.report is not None:
                    raise
                self._reporter.report(
                    cluster_run, conditions.adapter_failed(cluster_run.subject, "", _defect(error))
                )

        results = run_batch(cluster_runs, guarded, concurrency=self._settings.concurrency, stop=self._stop)
        for cluster_run, result in zip(cluster_runs, results):
            if isinstance(result, Failure):
                cluster_run.apply = cluster_run.secret_removal = None
                self._reporter.failed(cluster_run, result.kind, result.message)

    def _handle_one(self, cluster_run: ClusterRun, clusters: ClusterReader) -> None:
        cluster_run.started_at = time.monotonic()
        result = cluster_run.result
        deadline = self._settings.deadline(cluster_run.retry_observer)
        try:
            cluster = clusters.of(result.cluster_id, deadline, result.traceparent)
        except NotFound:
            return self._reporter.gone(cluster_run)
        except PullSecretError as error:
            return self._reporter.failed(cluster_run, error.kind, str(error))
        result.generation = generation_of(cluster)
        try:
            statuses = self._api_breaker.call(
                lambda: self._api.statuses(
                    result.cluster_id, deadline, cluster=cluster, traceparent=result.traceparent
                )
            )
        except NotFound:
            return self._reporter.gone(cluster_run)
        except Exception as error:  # noqa: BLE001 - a defect is no worse than an unavailable API
            return self._statuses_unread(cluster_run, cluster, _defect(error))
        own = statuses.get(self._config.adapter)
        cluster_run.subject = subject = self._subject(result, cluster, own)
        decision = decide(
            cluster,
            statuses,
            lambda: [lack.reason for lack in self._preconditions.unmet(cluster, statuses)],
            own=own,
            traceparent=result.traceparent,
            placement=self._config.placement,
        )
        if isinstance(decision, UnmetPreconditions):
            return self._reporter.report(cluster_run, conditions.preconditions_unmet(subject, decision))
        if isinstance(decision, Refuse):
            return self._reporter.report(cluster_run, conditions.refused(subject, decision))
        if isinstance(decision, Remove):
            return self._begin_removal(cluster_run, decision)
        result.project = decision.order.project
        if self._config.execution == "inline":
            cluster_run.apply = decision
            return None
        return self._apply(cluster_run, decision)

    def _statuses_unread(
        self, cluster_run: ClusterRun, cluster: Mapping[str, Any], error: PullSecretError
    ) -> None:
        """The statuses could not be read."""
        if may_hold(cluster, self._config.adapter):
            # A report would replace the data that a removal needs, and possibly correct conditions.
            return self._reporter.failed(cluster_run, error.kind, str(error))
        cluster_run.subject = self._subject(cluster_run.result, cluster, None)
        return self._reporter.report(
            cluster_run, conditions.adapter_failed(cluster_run.subject, "Statuses", error)
        )

    def _apply(self, cluster_run: ClusterRun, decision: Apply) -> None:
        subject = cluster_run.known_subject
        try:
            found = self._jobs.apply(decision, self._settings.deadline(cluster_run.retry_observer))
        except Exception as error:  # noqa: BLE001 - a defect must not stop other clusters
            report = conditions.adapter_failed(subject, "Kubernetes", _defect(error), decision.order)
            return self._reporter.report(cluster_run, report)
        return self._observed(cluster_run, decision, found)

    def _observed(self, cluster_run: ClusterRun, decision: Apply, found: Observed) -> None:
        result, subject = cluster_run.result, cluster_run.known_subject
        result.actions = found.actions
        result.job_created = found.made
        result.ends = found.ends
        self._reporter.report(cluster_run, conditions.observed(subject, decision.order, found))
        if result.outcome == OUTCOME_GONE and found.made and not self.check_mode:
            self._withdraw(cluster_run)

    def _withdraw(self, cluster_run: ClusterRun) -> None:
        """Handle a cluster that was deleted for good while its Job was created."""
        cluster_id, own = cluster_run.result.cluster_id, cluster_run.known_subject.last_status
        with suppress(PullSecretError):
            if own is not None and any(reported_places(own.data)):
                # There may be secrets, and only the Jobs know where. The sweep removes them.
                self._jobs.suspend(cluster_id, self._settings.deadline())
            else:
                self._jobs.remove(cluster_id, self._settings.deadline())

    def _begin_removal(self, cluster_run: ClusterRun, decision: Remove) -> None:
        """Delete the Jobs first: a pod that still runs would write the secrets again."""
        subject, result = cluster_run.known_subject, cluster_run.result
        removal = JobRemoval(gone=True, left=(), actions=())
        try:
            removal = self._jobs.remove(
                result.cluster_id, self._settings.deadline(cluster_run.retry_observer)
            )
        except PullSecretError as error:
            # Inline work has created no Jobs and needs no permission for them.
            if self._config.execution != "inline" or error.kind != "permission_denied":
                report = conditions.deleting(subject, (), [(error.kind, str(error))])
                return self._reporter.report(cluster_run, report)
        result.actions, result.ends = removal.actions, removal.ends
        if not removal.gone and not self.check_mode:
            return self._reporter.report(cluster_run, conditions.deleting(subject, removal.left))
        made = decision.made or bool(removal.actions)
        cluster_run.secret_removal = SecretRemoval(result.cluster_id, decision, made)
        return None

    def _work_in_places(self, cluster_runs: Sequence[ClusterRun]) -> None:
        """Do the work in Secret Manager and Kubernetes for all clusters together, then report each."""
        after: list[tuple[ClusterRun, Callable[[], None]]] = []
        applied = [
            (cluster_run, cluster_run.apply) for cluster_run in cluster_runs if cluster_run.apply is not None
        ]
        for (cluster_run, decision), found in zip(
            applied, self._provisioner.apply([one for _run, one in applied])
        ):
            after.append((cluster_run, partial(self._observed, cluster_run, decision, found)))
        removed = [
            (cluster_run, cluster_run.secret_removal)
            for cluster_run in cluster_runs
            if cluster_run.secret_removal is not None
        ]
        results = remove_secrets(
            self._provisioner,
            [one for _run, one in removed],
            store=self._config.deletion.store,
            lacks_namespace=lambda namespace: self._jobs.lacks_namespace(
                namespace, self._settings.deadline()
            ),
        )
        for (cluster_run, _one), removal_result in zip(removed, results):
            after.append((cluster_run, partial(self._removed, cluster_run, removal_result)))
        steps = {id(cluster_run): step for cluster_run, step in after}
        self._for_each(
            [cluster_run for cluster_run, _step in after], lambda cluster_run: steps[id(cluster_run)]()
        )

    def _removed(self, cluster_run: ClusterRun, removal_result: SecretRemovalResult) -> None:
        subject, result = cluster_run.known_subject, cluster_run.result
        result.actions = (*result.actions, *removal_result.actions)
        if removal_result.failures:
            return self._reporter.report(
                cluster_run, conditions.deleting(subject, (), removal_result.failures)
            )
        return self._reporter.report(cluster_run, conditions.deleted(subject, removal_result.kept))

    def _subject(
        self, result: ClusterResult, cluster: Mapping[str, Any], own: AdapterStatus | None
    ) -> ReportSubject:
        return ReportSubject(
            result.cluster_id,
            self._config.adapter,
            generation_of(cluster),
            own,
            result.traceparent,
            bool(cluster.get("deleted_time")),
        )


def _defect(error: Exception) -> PullSecretError:
    """Return our own errors unchanged, and only the type and line of any other error."""
    return error if isinstance(error, PullSecretError) else Internal(Failure.of(error).message)
