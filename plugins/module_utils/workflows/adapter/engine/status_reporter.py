# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster in a run's hands, and telling the API and the run's result of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Callable, Optional

from ....clients.hyperfleet.client import HyperFleetClient
from ....model.errors import Internal, NotFound, PullSecretError
from ....runtime.breaker import Breaker
from ....runtime.retry import RetryObserver
from ....runtime.settings import Settings
from .deciding import Apply
from .report import ClusterReport, ReportSubject
from .run_results import OUTCOME_DISCARDED, OUTCOME_FAILED, OUTCOME_GONE, OUTCOME_REPORTED, ClusterResult
from .secret_removal import SecretRemoval

__all__ = ["ClusterRun", "StatusReporter"]


@dataclass
class ClusterRun:
    """A cluster that is being handled.

    :param subject: what is said is said of; None until the cluster was read.
    :param apply: what is left to be done in the places, for all clusters at once; so is ``removing``.
    """

    handled: ClusterResult
    begun: float = field(default_factory=time.monotonic)
    subject: Optional[ReportSubject] = None
    apply: Optional[Apply] = None
    removing: Optional[SecretRemoval] = None

    @property
    def known(self) -> ReportSubject:
        """The subject, which it has as soon as its cluster was read."""
        if self.subject is None:
            raise Internal("a cluster is told of before it was read")
        return self.subject

    @property
    def observer(self) -> RetryObserver:
        """Notes what is tried again."""
        handled = self.handled

        def observe(attempt: int, pause: float, error: PullSecretError) -> None:
            handled.retries += 1
            handled.warnings.append(f"try {attempt} failed, next in {pause:.1f} s: {error.message}")

        return observe


class StatusReporter:
    """Reports to the API.  Thread-safe.

    :param breaker: the API's.
    :param check_mode: nothing is reported; what would be is in the result.
    :param tell: given each cluster's result as soon as it is there.
    """

    def __init__(
        self,
        api: HyperFleetClient,
        breaker: Breaker,
        settings: Settings,
        *,
        check_mode: bool,
        tell: Optional[Callable[[ClusterResult], None]],
    ) -> None:
        self._api = api
        self._breaker = breaker
        self._settings = settings
        self._check_mode = check_mode
        self._tell = tell

    def report(self, case: ClusterRun, told: ClusterReport) -> None:
        """Say it to the API; in check mode only in the result."""
        handled, own = case.handled, case.known.own
        handled.told = told
        if self._check_mode:
            handled.outcome = OUTCOME_REPORTED
            return self._done(case)
        deadline = self._settings.deadline(case.observer)
        try:
            reported = self._breaker.call(
                lambda: self._api.report(
                    handled.cluster_id, told.report, deadline, stored=own, traceparent=handled.traceparent
                )
            )
        except NotFound:
            return self.gone(case)
        except PullSecretError as error:
            return self.failed(case, error.kind, f"status not reported: {error}")
        handled.outcome = OUTCOME_REPORTED if reported.accepted else OUTCOME_DISCARDED
        return self._done(case)

    def gone(self, case: ClusterRun) -> None:
        """The API has no such cluster any more."""
        case.handled.outcome = OUTCOME_GONE
        self._done(case)

    def failed(self, case: ClusterRun, kind: str, message: str) -> None:
        """Nothing could be said to the API."""
        case.handled.outcome = OUTCOME_FAILED
        case.handled.kind = kind
        case.handled.message = message
        self._done(case)

    def _done(self, case: ClusterRun) -> None:
        case.handled.duration = int((time.monotonic() - case.begun) * 1000)
        if self._tell is not None:
            self._tell(case.handled)
