# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Records what the event source does, as metrics and as readiness."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Callable

from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.label_values import LimitedLabels
from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.metrics import (
    GARBAGE,
    AdapterMetrics,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.readiness import (
    HUNG_AFTER_SECONDS,
    Readiness,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.run_results import RESULTS
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.recorder import ActivityRecorder

__all__ = ["MonitoringRecorder"]

# Kinds of events and of garbage: each is a series.
_KINDS = 16


class MonitoringRecorder(ActivityRecorder):
    """Records events, runs and the broker's connection. No method ever raises.

    :param per_cluster: whether Jobs are counted by cluster.
    :param hung_after: seconds after which a run counts as hanging.
    :param clock: seconds, monotonic.
    """

    def __init__(
        self,
        *,
        per_cluster: bool = False,
        hung_after: float = HUNG_AFTER_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self.metrics = AdapterMetrics(per_cluster=per_cluster, clock=clock)
        self.state = Readiness(hung_after=hung_after)
        self._events = LimitedLabels(_KINDS)
        self._garbage = LimitedLabels(_KINDS)
        # Before the first run, alerting rules count from the start of the process.
        self.metrics.last_run.set_to_current_time()

    def configured(self, loaded: bool = True) -> None:
        """The adapter's configuration was read, or can no longer be read."""
        self.state.configured = loaded

    def event(self, kind: str) -> None:
        """An event was received."""
        self.metrics.received.labels(self._events(kind)).inc()

    def garbage(self, kind: str) -> None:
        """A message, or a part of it, was unusable; ``acknowledged`` does not count it."""
        self.metrics.garbage.labels(self._garbage(kind)).inc()
        self.metrics.processed.labels(GARBAGE).inc()

    def acknowledged(self, n: int, result: str = "success") -> None:
        """Messages with events were acknowledged; ``failure``: one of their clusters failed."""
        self.metrics.processed.labels(result if result in RESULTS else "failure").inc(max(0, n))

    def batch(self, size: int) -> None:
        """A run with this number of clusters is requested."""
        self.metrics.batch.observe(max(0, size))

    def run_started(self) -> None:
        """A run was begun."""
        self.state.run_begins.append(self._clock())
        self.metrics.running.set(len(self.state.run_begins))

    def run_ended(self, result: Mapping[str, Any] | None, seconds: float) -> None:
        """A run ended after this time.

        :param result: the result that it wrote; None if it died before.
        """
        self.state.run_ended(self._clock(), seconds)
        self.metrics.running.set(len(self.state.run_begins))
        self.metrics.run_seconds.observe(max(0.0, seconds))
        self.metrics.runs.labels(_verdict(result)).inc()
        if result is not None:
            self.metrics.last_run.set_to_current_time()
            self.metrics.count(result)

    def broker(self, connected: bool) -> None:
        """The broker is connected, or no longer."""
        self.state.connected = connected
        self.metrics.connected.set(1 if connected else 0)

    def waiting(self, n: int) -> None:
        """This number of clusters waits for a run."""
        self.metrics.waiting.set(max(0, n))

    def unready(self) -> dict[str, str]:
        """Return what prevents the adapter's work, by topic; empty if it is ready."""
        return self.state.unready(self._clock())


def _verdict(result: Any) -> str:
    """A run with a failed cluster is a failure; a run without a result has died."""
    if result is None:
        return "died"
    clusters = result.get("clusters") if isinstance(result, Mapping) else None
    if not isinstance(clusters, list):
        return "failure"
    failed = any(isinstance(one, dict) and one.get("outcome") == "failed" for one in clusters)
    return "failure" if failed else "success"
