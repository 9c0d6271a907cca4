# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Holds the state of one cluster in one run, and sends its status to the API."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Callable

from ....clients.hyperfleet.client import HyperFleetClient
from ....model.errors import Internal, NotFound, PullSecretError
from ....runtime.breaker import Breaker
from ....runtime.retry import RetryObserver
from ....runtime.run_settings import RunSettings
from .decide import Apply
from .report import ClusterReport, ReportSubject
from .run_results import OUTCOME_DISCARDED, OUTCOME_FAILED, OUTCOME_GONE, OUTCOME_REPORTED, ClusterResult
from .secret_removal import SecretRemoval

__all__ = ["ClusterRun", "StatusReporter"]


@dataclass
class ClusterRun:
    """One cluster while a run handles it.

    :param subject: the subject of its report; None until the cluster was read.
    :param apply: pending work that is done for all clusters together, as is ``secret_removal``.
    """

    result: ClusterResult
    started_at: float = field(default_factory=time.monotonic)
    subject: ReportSubject | None = None
    apply: Apply | None = None
    secret_removal: SecretRemoval | None = None

    @property
    def known_subject(self) -> ReportSubject:
        """Return the subject, which exists as soon as the cluster was read."""
        if self.subject is None:
            raise Internal("a cluster was reported on before it was read")
        return self.subject

    @property
    def retry_observer(self) -> RetryObserver:
        """Count retries in the result, and log a warning for each."""
        result = self.result

        def observe(attempt: int, pause: float, error: PullSecretError) -> None:
            result.retries += 1
            result.warnings.append(f"try {attempt} failed, next in {pause:.1f} s: {error.message}")

        return observe


class StatusReporter:
    """Sends reports to the API and records their outcome in the result. Thread-safe.

    :param breaker: the API's circuit breaker.
    :param check_mode: nothing is reported; the result shows what would be.
    :param on_result: called with each cluster's result as soon as it exists.
    """

    def __init__(
        self,
        api: HyperFleetClient,
        breaker: Breaker,
        settings: RunSettings,
        *,
        check_mode: bool,
        on_result: Callable[[ClusterResult], None] | None,
    ) -> None:
        self._api = api
        self._breaker = breaker
        self._settings = settings
        self._check_mode = check_mode
        self._on_result = on_result

    def report(self, cluster_run: ClusterRun, report: ClusterReport) -> None:
        """Send a report to the API. In check mode only put it into the result."""
        result, own = cluster_run.result, cluster_run.known_subject.last_status
        result.report = report
        if self._check_mode:
            result.outcome = OUTCOME_REPORTED
            return self._done(cluster_run)
        deadline = self._settings.deadline(cluster_run.retry_observer)
        try:
            reported = self._breaker.call(
                lambda: self._api.report(
                    result.cluster_id, report.api_report, deadline, stored=own, traceparent=result.traceparent
                )
            )
        except NotFound:
            return self.gone(cluster_run)
        except PullSecretError as error:
            return self.failed(cluster_run, error.kind, f"status not reported: {error}")
        result.outcome = OUTCOME_REPORTED if reported.accepted else OUTCOME_DISCARDED
        return self._done(cluster_run)

    def gone(self, cluster_run: ClusterRun) -> None:
        """Record that the cluster no longer exists in the API."""
        cluster_run.result.outcome = OUTCOME_GONE
        self._done(cluster_run)

    def failed(self, cluster_run: ClusterRun, kind: str, message: str) -> None:
        """Record that no status could be reported."""
        cluster_run.result.outcome = OUTCOME_FAILED
        cluster_run.result.kind = kind
        cluster_run.result.message = message
        self._done(cluster_run)

    def _done(self, cluster_run: ClusterRun) -> None:
        cluster_run.result.duration = int((time.monotonic() - cluster_run.started_at) * 1000)
        if self._on_result is not None:
            self._on_result(cluster_run.result)
