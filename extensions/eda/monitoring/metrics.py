# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The metrics of the adapter contract, and some more for operators (docs/docsite/rst/monitoring.rst)."""

from __future__ import annotations

import time
from typing import Any, Callable

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring import run_results
from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.recent_maximum import RecentMaximum
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model import job_vocabulary

__all__ = ["CLUSTERS", "GARBAGE", "AdapterMetrics"]

# Maximum values of the optional label cluster_id; later ones are "other".
CLUSTERS = 10_000
# The result of a message that is not an event.
GARBAGE = "garbage"
_JOB = (1, 2, 5, 10, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1200)
_RUN = (0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200)
_BATCH = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_RETRIES = (0, 1, 2, 3, 5, 10, 20, 50)
# A series that starts with its first count has no rate: no rule would detect the first error, and no panel
# would show the first Secret. So these series start at 0.
_EXPECTED = ("get_secret", "create_secret", "add_secret_version", "access_secret_version")
_ERRORS = ("401", "403", "500", "503", "504", "none")
_USUAL = {
    "gcp": [("get_secret", "404"), *((operation, "200") for operation in _EXPECTED)],
    "k8s": [("get_secret", "200"), ("get_secret", "404"), ("create_secret", "201"), ("patch_secret", "200")],
}


class AdapterMetrics:
    """All metrics of one adapter, in their own registry.

    :param per_cluster: whether Jobs are counted by cluster; this makes as many series as there are clusters.
    :param clock: seconds, monotonic.
    """

    def __init__(self, *, per_cluster: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        # The library's only switch for the unused creation times, which would double the series.
        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry(auto_describe=True)
        self._per_cluster = per_cluster
        self._clusters_with_series: set[str] = set()
        self._by = ["cluster_id"] if per_cluster else []
        self._process()
        self._adapter()
        self._jobs(clock)

    def _counter(self, name: str, documentation: str, *labels: str) -> Counter:
        return Counter(f"pullsecret_{name}", documentation, labels, registry=self.registry)

    def _gauge(self, name: str, documentation: str, *labels: str) -> Gauge:
        return Gauge(f"pullsecret_{name}", documentation, labels, registry=self.registry)

    def _histogram(self, name: str, documentation: str, buckets: Any, *labels: str) -> Histogram:
        return Histogram(f"pullsecret_{name}", documentation, labels, registry=self.registry, buckets=buckets)

    def _process(self) -> None:
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self.connected = self._gauge("adapter_broker_connected", "Whether the broker is connected: 1 or 0")
        self.waiting = self._gauge("adapter_clusters_waiting", "Clusters that wait for a run")
        self.running = self._gauge("adapter_runs_active", "Runs that have begun and not ended")
        self.last_run = self._gauge(
            "adapter_last_run_timestamp_seconds",
            "When the last run with a result ended; until then, when this process began",
        )
        self.runs = self._counter(
            "adapter_runs_total", "Runs that ended; died means without a result", "result"
        )
        self.run_seconds = self._histogram("adapter_run_duration_seconds", "Seconds that runs took", _RUN)
        self.batch = self._histogram("adapter_batch_clusters", "Clusters in one run", _BATCH)
        self.received = self._counter("adapter_events_received_total", "Events that were received", "kind")
        self.garbage = self._counter(
            "adapter_garbage_total", "Messages that were not an event and were discarded", "kind"
        )
        for result in ("success", "failure", "died"):
            self.runs.labels(result)

    def _adapter(self) -> None:
        self._kinds_by_cluster: dict[str, str] = {}
        self.failing = self._gauge(
            "adapter_clusters_failing", "Clusters that failed or were refused at their last look", "kind"
        )
        self.processed = self._counter(
            "adapter_events_processed_total", "Events that were acknowledged to the broker", "result"
        )
        self.created = self._counter("adapter_jobs_created_total", "Jobs that were created", *self._by)
        self.updates = self._counter(
            "adapter_status_updates_total", "Statuses sent to the HyperFleet API", "result"
        )
        self.clusters = self._counter(
            "adapter_clusters_processed_total", "Clusters that a run processed", "outcome"
        )
        self.failed = self._counter(
            "adapter_failures_total",
            "Looks at clusters that failed or were refused, by kind of failure",
            "kind",
        )
        for result in (*run_results.RESULTS, GARBAGE):
            self.processed.labels(result)
        for result in run_results.REPORTS.values():
            self.updates.labels(result)
        for outcome in run_results.OUTCOMES:
            self.clusters.labels(outcome)
        for kind in sorted(job_vocabulary.END_KINDS):
            self.failed.labels(kind)
            self.failing.labels(kind)

    def _jobs(self, clock: Callable[[], float]) -> None:
        self.jobs = self._counter("job_total", "Jobs that ended", "result", *self._by)
        self.failures = self._counter(
            "job_failures_total", "Jobs that failed, by kind of failure", "kind", "phase"
        )
        self.job_seconds = self._histogram(
            "job_run_seconds", "Seconds from a Job's start to its end", _JOB, "result"
        )
        self.program_seconds = self._histogram(
            "job_program_seconds",
            "Seconds that the program in a Job's pod took, as it reported",
            _JOB,
            "result",
        )
        self.retries = self._histogram("job_retries", "Requests that a Job repeated", _RETRIES)
        self.versions = self._counter(
            "secret_versions_created_total", "Versions added to secrets of Secret Manager", *self._by
        )
        self.duration = self._recent_maximum("job", "Job that ended", clock, "result", *self._by)
        self.calls = {}
        self.call_seconds = {}
        self.call_duration = {}
        for api, place in (("gcp", "Secret Manager"), ("k8s", "the management cluster")):
            self.calls[api] = self._counter(
                f"{api}_api_calls_total", f"Requests to {place}", "operation", "status_code"
            )
            self.call_seconds[api] = self._counter(
                f"{api}_api_seconds_total",
                f"Seconds of requests to {place}",
                "operation",
                "status_code",
            )
            self.call_duration[api] = self._recent_maximum(
                f"{api}_api", f"mean time of a Job's requests to {place}", clock, "operation"
            )
            for operation, status in _USUAL[api]:
                self.calls[api].labels(operation, status)
                self.call_seconds[api].labels(operation, status)
        for operation in _EXPECTED:
            for status in _ERRORS:
                self.calls["gcp"].labels(operation, status)
                self.call_seconds["gcp"].labels(operation, status)
        for kind in sorted(job_vocabulary.KINDS):
            for phase in job_vocabulary.PHASES:
                self.failures.labels(kind, phase)
        for kind in sorted(job_vocabulary.KUBERNETES_KINDS):
            self.failures.labels(kind, job_vocabulary.OTHER)
        if not self._per_cluster:
            self._expect_job_end(())

    def _recent_maximum(
        self, name: str, what: str, clock: Callable[[], float], *labels: str
    ) -> RecentMaximum:
        said = f"The longest {what} in the last ten minutes; absent if there was none"
        longest = RecentMaximum(f"pullsecret_{name}_duration_seconds", said, labels, clock)
        self.registry.register(longest)
        return longest

    def count(self, result: Any) -> None:
        """Count a run's result. Never raises, whatever it is."""
        for row in run_results.cluster_rows(result):
            self.clusters.labels(row.outcome).inc()
            self._failure(row.cluster, row.kind)
            for label, number in row.reports.items():
                self.updates.labels(label).inc(number)
            by = self._labels(row.cluster)
            if row.job_created:
                _add(self.created, by, 1)
                self._expect_job_end(by)
            for end in row.ends:
                self._end(end, by)
            if row.ended and row.cluster in self._clusters_with_series:
                self._forget(row.cluster)
        for api, calls in run_results.run_requests(result):
            self._count_requests(api, calls)

    def _failure(self, cluster: str, kind: str | None) -> None:
        before = self._kinds_by_cluster.pop(cluster, None)
        if before is not None:
            self.failing.labels(before).dec()
        if kind is None:
            return
        self.failed.labels(kind).inc()
        if len(self._kinds_by_cluster) < CLUSTERS:
            self._kinds_by_cluster[cluster] = kind
            self.failing.labels(kind).inc()

    def _labels(self, cluster: str) -> tuple[str, ...]:
        if not self._per_cluster:
            return ()
        if cluster not in self._clusters_with_series:
            if len(self._clusters_with_series) >= CLUSTERS:
                return (job_vocabulary.OTHER,)
            self._clusters_with_series.add(cluster)
        return (cluster,)

    def _expect_job_end(self, by: tuple[str, ...]) -> None:
        """Create both ends of a Job as 0 in advance, so that the end has a rate."""
        for result in run_results.RESULTS:
            self.jobs.labels(result, *by)

    def _end(self, job: run_results.JobEnd, by: tuple[str, ...]) -> None:
        self.jobs.labels(job.result, *by).inc()
        if job.kind:
            self.failures.labels(job.kind, job.phase).inc()
        if job.seconds is not None:
            self.job_seconds.labels(job.result).observe(job.seconds)
            self.duration.add((job.result, *by), job.seconds)
        for seconds in job.program_seconds:
            self.program_seconds.labels(job.result).observe(seconds)
        self.retries.observe(job.retries)
        _add(self.versions, by, job.versions)
        for api, calls in (("gcp", job.gcp), ("k8s", job.k8s)):
            self._count_requests(api, calls)
            self._mean_seconds(api, calls)

    def _count_requests(self, api: str, calls: tuple[run_results.RequestCount, ...]) -> None:
        for call in calls:
            self.calls[api].labels(call.operation, call.status).inc(call.count)
            self.call_seconds[api].labels(call.operation, call.status).inc(call.seconds)

    def _mean_seconds(self, api: str, calls: tuple[run_results.RequestCount, ...]) -> None:
        together: dict[str, tuple[int, float]] = {}
        for call in calls:
            count, seconds = together.get(call.operation, (0, 0.0))
            together[call.operation] = count + call.count, seconds + call.seconds
        for operation, (count, seconds) in together.items():
            self.call_duration[api].add((operation,), seconds / count)

    def _forget(self, cluster: str) -> None:
        """Remove the series of a deleted cluster."""
        self._clusters_with_series.discard(cluster)
        for metric in (self.created, self.versions):
            _remove(metric, cluster)
        for result in run_results.RESULTS:
            _remove(self.jobs, result, cluster)


def _add(metric: Counter, by: tuple[str, ...], number: int) -> None:
    # The library refuses labels() for a metric without labels.
    (metric.labels(*by) if by else metric).inc(number)


def _remove(metric: Counter, *labels: str) -> None:
    try:
        metric.remove(*labels)
    except KeyError:
        pass  # it never had one
