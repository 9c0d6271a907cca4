# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From cluster ids to reported statuses: read, decide, apply, observe, report.

Nothing is waited for: what runs is reported as running, and looked at again by a later run.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Callable, Optional

from ....clients.hyperfleet.client import HyperFleetClient
from ....clients.hyperfleet.many import Clusters
from ....clients.hyperfleet.statuses import AdapterStatus
from ....model.errors import Internal, NotFound, PullSecretError
from ....runtime.batch import Failure, run_batch
from ....runtime.breaker import Breaker
from ....runtime.settings import Settings
from ..cel.preconditions import Preconditions
from ..config.config import AdapterConfig
from ..jobs.job_reconciler import NOTED_END
from ..jobs.job_removal import JobRemoval
from ..model import Observed
from . import conditions
from .deciding import Apply, Refuse, Remove, Wait, decide, generation_of, may_hold
from .inline import Places, is_told
from .last_status import named
from .lazy_jobs import LazyJobs
from .report import ReportSubject
from .run_results import OUTCOME_GONE, ClusterResult
from .secret_removal import SecretRemoval, SecretRemovalResult, remove_secrets
from .status_reporter import ClusterRun, StatusReporter

__all__ = ["Engine"]


class Engine:
    """One configuration's work; ``handle`` takes a batch.

    :param places: for ``inline`` and for removals.
    :param check_mode: nothing is written or reported; what would be is told.
    :param tell: given each cluster's result as soon as it is there; from several threads.
    """

    def __init__(
        self,
        config: AdapterConfig,
        preconditions: Preconditions,
        api: HyperFleetClient,
        work: LazyJobs,
        places: Places,
        settings: Settings,
        *,
        check_mode: bool = False,
        tell: Optional[Callable[[ClusterResult], None]] = None,
    ) -> None:
        self._config = config
        self._preconditions = preconditions
        self._api = api
        self._work = work
        self._places = places
        self._settings = settings
        self.check_mode = check_mode
        self._stop = settings.retrier.stop
        self._api_breaker = Breaker()
        self._teller = StatusReporter(api, self._api_breaker, settings, check_mode=check_mode, tell=tell)

    def handle(
        self,
        cluster_ids: Sequence[str],
        traceparents: Optional[Mapping[str, str]] = None,
        given: Optional[Mapping[str, Mapping[str, Any]]] = None,
    ) -> list[ClusterResult]:
        """Do what is to be done for each cluster, once however often its id is given, and report it.

        :param traceparents: by cluster id, W3C's.
        :param given: clusters that were read a moment ago, by id.
        """
        traces = traceparents or {}
        cases = [
            ClusterRun(ClusterResult(cluster_id, traceparent=traces.get(cluster_id)))
            for cluster_id in dict.fromkeys(cluster_ids)
        ]
        names = [case.handled.cluster_id for case in cases]
        clusters = Clusters(self._api, self._settings, breaker=self._api_breaker, given=given, once=True)
        clusters.prepare(names, self._stop)
        self._work.prepare(names, self._settings.deadline())
        self._each(cases, lambda case: self._look(case, clusters))
        left = [case for case in cases if case.apply is not None or case.removing is not None]
        if left:
            self._in_places(left)
        return [case.handled for case in cases]

    def _each(self, cases: Sequence[ClusterRun], work: Callable[[ClusterRun], None]) -> None:
        def guarded(case: ClusterRun) -> None:
            try:
                work(case)
            except Exception as error:
                case.apply = case.removing = None
                if case.subject is None or case.handled.told is not None:
                    raise
                self._teller.report(case, conditions.adapter_failed(case.subject, "", _defect(error)))

        results = run_batch(cases, guarded, concurrency=self._settings.concurrency, stop=self._stop)
        for case, result in zip(cases, results):
            if isinstance(result, Failure):
                case.apply = case.removing = None
                self._teller.failed(case, result.kind, result.message)

    def _look(self, case: ClusterRun, clusters: Clusters) -> None:
        case.begun = time.monotonic()
        handled = case.handled
        deadline = self._settings.deadline(case.observer)
        try:
            cluster = clusters.of(handled.cluster_id, deadline, handled.traceparent)
        except NotFound:
            return self._teller.gone(case)
        except PullSecretError as error:
            return self._teller.failed(case, error.kind, str(error))
        handled.generation = generation_of(cluster)
        try:
            statuses = self._api_breaker.call(
                lambda: self._api.statuses(
                    handled.cluster_id, deadline, cluster=cluster, traceparent=handled.traceparent
                )
            )
        except NotFound:
            return self._teller.gone(case)
        except Exception as error:  # noqa: BLE001 - a defect is no worse than an API that does not answer
            return self._unread(case, cluster, _defect(error))
        own = statuses.get(self._config.adapter)
        case.subject = subject = self._subject(handled, cluster, own)
        decision = decide(
            cluster,
            statuses,
            lambda: [lack.reason for lack in self._preconditions.unmet(cluster, statuses)],
            own=own,
            traceparent=handled.traceparent,
            allows=self._config.placement.allows,
        )
        if isinstance(decision, Wait):
            return self._teller.report(case, conditions.preconditions_unmet(subject, decision))
        if isinstance(decision, Refuse):
            return self._teller.report(case, conditions.refused(subject, decision))
        if isinstance(decision, Remove):
            return self._begin_removal(case, decision)
        handled.project = decision.order.project
        if self._config.execution == "inline":
            case.apply = decision
            return None
        return self._apply(case, decision)

    def _unread(self, case: ClusterRun, cluster: Mapping[str, Any], error: PullSecretError) -> None:
        """The statuses could not be read."""
        if may_hold(cluster, self._config.adapter):
            # A report would replace what a removal goes by, and what may be right.
            return self._teller.failed(case, error.kind, str(error))
        case.subject = self._subject(case.handled, cluster, None)
        return self._teller.report(case, conditions.adapter_failed(case.subject, "Statuses", error))

    def _apply(self, case: ClusterRun, decision: Apply) -> None:
        subject = case.known
        try:
            found = self._work.apply(decision, self._settings.deadline(case.observer))
        except Exception as error:  # noqa: BLE001 - likewise
            told = conditions.adapter_failed(subject, "Kubernetes", _defect(error), decision.order)
            return self._teller.report(case, told)
        return self._observed(case, decision, found)

    def _observed(self, case: ClusterRun, decision: Apply, found: Observed) -> None:
        handled, subject = case.handled, case.known
        handled.actions = found.actions
        handled.job_created = found.made
        # A Job's end is noted once.
        new = is_told(found) if found.job is None else _noted_end(found)
        if found.result is not None and new:
            handled.job = found.result
        self._teller.report(case, conditions.observed(subject, decision.order, found))
        if handled.outcome == OUTCOME_GONE and found.made and not self.check_mode:
            self._withdraw(case)

    def _withdraw(self, case: ClusterRun) -> None:
        """It was deleted for good while its Job was made."""
        cluster_id, own = case.handled.cluster_id, case.known.own
        with suppress(PullSecretError):
            if own is not None and any(named(own.data)):
                # There may be secrets, and only the Jobs still say where: they are the sweep's.
                self._work.halt(cluster_id, self._settings.deadline())
            else:
                self._work.remove(cluster_id, self._settings.deadline())

    def _begin_removal(self, case: ClusterRun, decision: Remove) -> None:
        """The Jobs first: a pod that still runs would make the secrets again."""
        subject, handled = case.known, case.handled
        removal = JobRemoval(gone=True, left=(), actions=())
        try:
            removal = self._work.remove(handled.cluster_id, self._settings.deadline(case.observer))
        except PullSecretError as error:
            # Who works inline needs no right to Jobs, and has made none.
            if self._config.execution != "inline" or error.kind != "permission_denied":
                told = conditions.deleting(subject, (), [(error.kind, str(error))])
                return self._teller.report(case, told)
        handled.actions = removal.actions
        if not removal.gone and not self.check_mode:
            return self._teller.report(case, conditions.deleting(subject, removal.left))
        made = decision.made or bool(removal.actions)
        case.removing = SecretRemoval(handled.cluster_id, decision, made)
        return None

    def _in_places(self, cases: Sequence[ClusterRun]) -> None:
        """The work in both places for all clusters at once, then a report of each."""
        after: list[tuple[ClusterRun, Callable[[], None]]] = []
        applied = [(case, case.apply) for case in cases if case.apply is not None]
        for (case, decision), found in zip(applied, self._places.apply([one for _case, one in applied])):
            after.append((case, partial(self._observed, case, decision, found)))
        removed = [(case, case.removing) for case in cases if case.removing is not None]
        results = remove_secrets(
            self._places,
            [one for _case, one in removed],
            store=self._config.deletion.store,
            is_without=lambda namespace: self._work.is_without(namespace, self._settings.deadline()),
        )
        for (case, _one), taken in zip(removed, results):
            after.append((case, partial(self._removed, case, taken)))
        steps = {id(case): step for case, step in after}
        self._each([case for case, _step in after], lambda case: steps[id(case)]())

    def _removed(self, case: ClusterRun, taken: SecretRemovalResult) -> None:
        subject, handled = case.known, case.handled
        handled.actions = (*handled.actions, *taken.actions)
        if taken.failures:
            return self._teller.report(case, conditions.deleting(subject, (), taken.failures))
        return self._teller.report(case, conditions.deleted(subject, taken.kept))

    def _subject(
        self, handled: ClusterResult, cluster: Mapping[str, Any], own: Optional[AdapterStatus]
    ) -> ReportSubject:
        return ReportSubject(
            handled.cluster_id,
            self._config.adapter,
            generation_of(cluster),
            own,
            handled.traceparent,
            bool(cluster.get("deleted_time")),
        )


def _defect(error: Exception) -> PullSecretError:
    """Our own errors as they are; of anything else its type and line only."""
    return error if isinstance(error, PullSecretError) else Internal(Failure.of(error).message)


def _noted_end(found: Observed) -> bool:
    return any(action.startswith(NOTED_END) for action in found.actions)
