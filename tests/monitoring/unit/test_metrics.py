# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the metrics count of runs, and which values never become a series."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import generate_latest

from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring import metrics as metrics_module
from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.metrics import AdapterMetrics
from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.recent_maximum import WINDOW
from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.recorder import MonitoringRecorder
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.job_vocabulary import (
    KINDS,
)
from tests.monitoring.unit.results import call, failure, result, row, success
from tests.tools.env import ROOT


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def value(metrics: AdapterMetrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"pullsecret_{name}", labels)


def series(metrics: AdapterMetrics) -> set[str]:
    """All series in the exposition format, without their values."""
    lines = generate_latest(metrics.registry).decode().splitlines()
    return {line.rpartition(" ")[0] for line in lines if not line.startswith("#")}


def test_a_run_is_counted_by_the_job_contracts_names() -> None:
    metrics = AdapterMetrics()
    metrics.count(
        result(
            row("cls-1", job_created=True),
            row("cls-2", "discarded", job=success()),
            row("cls-3", "failed", kind="unavailable", job=failure()),
            row("cls-4", "gone"),
        )
    )
    assert value(metrics, "adapter_jobs_created_total") == 1
    for label in ("success", "discarded", "failure"):
        assert value(metrics, "adapter_status_updates_total", result=label) == 1
    for outcome in ("reported", "discarded", "failed", "gone"):
        assert value(metrics, "adapter_clusters_processed_total", outcome=outcome) == 1
    assert value(metrics, "adapter_failures_total", kind="unavailable") == 1
    assert value(metrics, "job_total", result="success") == 1
    assert value(metrics, "job_total", result="failure") == 1
    assert value(metrics, "job_failures_total", kind="permission_denied", phase="gcp-secret-manager") == 1
    assert value(metrics, "job_duration_seconds", result="success") == 12.5
    assert value(metrics, "job_run_seconds_count", result="success") == 1
    assert value(metrics, "job_run_seconds_bucket", result="failure", le="5.0") == 1
    assert value(metrics, "job_program_seconds_sum", result="success") == 2.5
    assert value(metrics, "secret_versions_created_total") == 1
    # Only the 503 of the first Job is retried; the 403 of the other one is not.
    assert value(metrics, "job_retries_sum") == 1
    assert value(metrics, "job_retries_bucket", le="0.0") == 1
    assert value(metrics, "gcp_api_calls_total", operation="add_secret_version", status_code="503") == 1
    assert value(metrics, "gcp_api_calls_total", operation="get_secret", status_code="403") == 3
    assert value(metrics, "gcp_api_seconds_total", operation="get_secret", status_code="403") == 0.6
    assert value(metrics, "k8s_api_calls_total", operation="create_secret", status_code="201") == 1
    # The longest mean of a Job: 0.6 s for three requests (0.2 s each) is longer than 0.1 s for one.
    assert value(metrics, "gcp_api_duration_seconds", operation="get_secret") == pytest.approx(0.2)
    assert value(metrics, "k8s_api_duration_seconds", operation="create_secret") == 0.2


def test_what_is_counted_first_has_a_rate_too() -> None:
    """Prometheus sees no increase when a series begins at 1, so every series starts at 0."""
    metrics = AdapterMetrics()
    before = series(metrics)
    metrics.count(
        result(row(job_created=True, job=success()), row("cls-2", "failed", kind="timeout", job=failure()))
    )
    begun = {one for one in series(metrics) - before if "_total" in one}
    assert {one for one in begun if "_api_" not in one} == set()
    # Of the API calls, the successful ones that nearly every Job makes also start at 0.
    assert not [one for one in begun if 'status_code="20' in one]


def test_what_a_run_asks_beside_the_jobs_is_counted_and_is_no_job() -> None:
    metrics = AdapterMetrics()
    asked = {"gcp_api_calls": [call("get_secret", count=4, seconds=8.0)], "k8s_api_calls": [call("bogus"), 7]}
    metrics.count({**result(row(job=success())), **asked})
    assert value(metrics, "gcp_api_calls_total", operation="get_secret", status_code="200") == 5
    assert value(metrics, "k8s_api_calls_total", operation="other", status_code="200") == 1
    assert value(metrics, "gcp_api_duration_seconds", operation="get_secret") == pytest.approx(0.1)
    assert value(metrics, "job_total", result="success") == 1
    metrics.count({**result(), "gcp_api_calls": "x", "k8s_api_calls": None})


def test_a_slow_job_is_seen_for_ten_minutes_behind_quicker_ones_and_then_no_longer() -> None:
    clock = Clock()
    metrics = AdapterMetrics(clock=clock)
    metrics.count(result(row(job=success(seconds=400.0))))
    clock.now += 100
    metrics.count(result(row(job=success(seconds=30.0))))
    metrics.count(result(row(job=success(seconds=20.0))))
    assert value(metrics, "job_duration_seconds", result="success") == 400.0
    clock.now += WINDOW - 50
    assert value(metrics, "job_duration_seconds", result="success") == 30.0
    clock.now += 100
    assert value(metrics, "job_duration_seconds", result="success") is None


def test_what_rules_watch_is_there_before_it_happened() -> None:
    metrics = AdapterMetrics()
    for result_ in ("success", "failure"):
        assert value(metrics, "job_total", result=result_) == 0
    assert value(metrics, "adapter_status_updates_total", result="failure") == 0
    assert value(metrics, "adapter_runs_total", result="died") == 0
    assert value(metrics, "gcp_api_calls_total", operation="add_secret_version", status_code="503") == 0


HOSTILE = [
    {"result": "success\n", "duration_seconds": "NaN"},
    {"result": {"a": 1}, "kind": ["x"], "phase": 7, "versions_created": -1, "duration_seconds": -5},
    failure(kind='x"} 1\npullsecret_job_total{result="success'),
    failure(kind="k" * 4000, seconds=float("inf")),
    success(seconds=float("nan"), versions_created=1e300),
    success(duration_seconds=10**400, versions_created=True),
    success(gcp_api_calls=[call(f"operation_{number}") for number in range(60)]),
    success(gcp_api_calls=[call("get_secret", f"{number}") for number in range(600, 660)]),
    success(gcp_api_calls=[call("get_secret", count=10**9), call("get_secret", count=-1), 5, None]),
    success(k8s_api_calls=[call(f"get_secret{number}s") for number in range(60)]),
    success(k8s_api_calls=[call("get_secret\n"), call("create_bogus"), {"operation": []}]),
    success(gcp_api_calls={"operation": "get_secret"}, k8s_api_calls="x" * 100),
    success(gcp_api_calls=[{"operation": {}, "status_code": [], "count": "7", "seconds": {}}]),
    success(gcp_api_calls=[call("get_secret", seconds=float("nan"))]),
]


@pytest.mark.parametrize("per_cluster", [False, True])
def test_a_hostile_termination_message_makes_no_series(per_cluster: bool) -> None:
    metrics = AdapterMetrics(per_cluster=per_cluster)
    metrics.count(result(row(job=success()), row(job=failure("other"))))
    metrics.count(
        result(
            row(job=success(gcp_api_calls=[call(one, "x") for one in ("get_secret", "x")])),
            row(job=success(k8s_api_calls=[call("x", "x"), call("get_secret", "x")])),
            row(job=failure("other", phase="other")),
        )
    )
    known = series(metrics)
    for said in HOSTILE:
        metrics.count(result(row(job=said)))
    made = series(metrics) - known
    # A wrong value becomes ``other``; the other label of the pair may be right.
    assert all('"other"' in one for one in made), made
    assert len(made) < 10
    text = generate_latest(metrics.registry).decode()
    assert "NaN" not in text
    # Later results are still counted correctly.
    before = value(metrics, "gcp_api_calls_total", operation="get_secret", status_code="200") or 0
    assert before < 100
    metrics.count(result(row(job=success())))
    assert value(metrics, "gcp_api_calls_total", operation="get_secret", status_code="200") == before + 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["clusters", "id", "outcome", "reports", "ends", "accepted", "gcp_api_calls", "count", "kind"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(JSON)
@settings(max_examples=30, deadline=None)
def test_whatever_a_result_holds_it_is_counted_or_left_out(said: Any) -> None:
    recorder = MonitoringRecorder(per_cluster=True)
    recorder.run_ended(said if isinstance(said, dict) else {"clusters": said}, 1.0)
    recorder.run_ended(
        {"clusters": [{"id": "cls-1", "outcome": "reported", "ends": said, "reports": said}]}, 1.0
    )
    assert value(recorder.metrics, "adapter_clusters_processed_total", outcome="reported") is not None


def test_clusters_are_labels_only_with_the_option() -> None:
    metrics = AdapterMetrics()
    for number in range(50):
        metrics.count(result(row(f"cls-{number}", job_created=True, job=success())))
    assert not [one for one in series(metrics) if "cls-" in one]

    metrics = AdapterMetrics(per_cluster=True)
    metrics.count(result(row("cls-1", job_created=True, job=success()), row("cls-2", job=failure())))
    assert value(metrics, "adapter_jobs_created_total", cluster_id="cls-1") == 1
    assert value(metrics, "secret_versions_created_total", cluster_id="cls-1") == 1
    assert value(metrics, "job_total", result="failure", cluster_id="cls-2") == 1
    assert value(metrics, "job_duration_seconds", result="success", cluster_id="cls-1") == 12.5


def test_a_cluster_that_is_gone_keeps_no_series() -> None:
    clock = Clock()
    metrics = AdapterMetrics(per_cluster=True, clock=clock)
    metrics.count(result(row("cls-1", job_created=True, job=success()), row("cls-2", job=success())))
    metrics.count(result(row("cls-1", state="deleted")))
    metrics.count(result(row("cls-2", "gone")))
    clock.now += WINDOW + 1
    assert not [one for one in series(metrics) if "cls-" in one]


def test_clusters_beyond_the_limit_share_a_series(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics_module, "CLUSTERS", 2)
    metrics = AdapterMetrics(per_cluster=True)
    metrics.count(result(*(row(f"cls-{number}", job=success()) for number in range(5))))
    assert value(metrics, "secret_versions_created_total", cluster_id="other") == 3
    metrics.count(
        result(row("../etc", job=success()), row('x"', job=success()), row("a" * 64, job=success()))
    )
    assert value(metrics, "secret_versions_created_total", cluster_id="other") == 6


def test_an_invalid_cluster_id_is_no_label() -> None:
    metrics = AdapterMetrics(per_cluster=True)
    wrong: list[Any] = ["../etc", 'x"', "a" * 64, "", "x\n", "-x", "\u00e4", 5, None, ["cls-1"], {}]
    metrics.count(result(*(row(one, job=success()) for one in wrong)))
    assert value(metrics, "secret_versions_created_total", cluster_id="other") == len(wrong)
    assert all('"other"' in one for one in series(metrics) if "cluster_id=" in one)


def test_all_kinds_of_our_errors_are_known() -> None:
    texts = [path.read_text() for path in (ROOT / "plugins" / "module_utils").rglob("errors.py")]
    kinds = {
        kind for text in texts for kind in re.findall(r'^    kind(?:: .*)? = "(\w+)"', text, re.MULTILINE)
    }
    assert len(kinds) > 12
    # A stopped run or Job raises no error, so its kind has no class.
    assert kinds | {"stopped"} == KINDS


def test_the_source_tells_its_own() -> None:
    recorder = MonitoringRecorder()
    metrics = recorder.metrics
    recorder.event("cluster")
    recorder.event("cluster")
    recorder.garbage("json")
    recorder.acknowledged(2)
    recorder.acknowledged(1, "failure")
    recorder.batch(7)
    recorder.waiting(5)
    recorder.broker(True)
    recorder.run_started()
    assert value(metrics, "adapter_runs_active") == 1
    recorder.run_ended(result(row()), 2.5)
    recorder.run_ended(result(row(), row("cls-2", "failed")), 2.5)
    stamp = value(metrics, "adapter_last_run_timestamp_seconds")
    recorder.run_ended(None, 2.5)
    assert value(metrics, "adapter_last_run_timestamp_seconds") == stamp
    assert value(metrics, "adapter_runs_active") == 0
    for verdict in ("success", "failure", "died"):
        assert value(metrics, "adapter_runs_total", result=verdict) == 1
    assert value(metrics, "adapter_run_duration_seconds_sum") == 7.5
    assert value(metrics, "adapter_batch_clusters_sum") == 7
    assert value(metrics, "adapter_clusters_waiting") == 5
    assert value(metrics, "adapter_broker_connected") == 1
    assert value(metrics, "adapter_events_received_total", kind="cluster") == 2
    assert value(metrics, "adapter_garbage_total", kind="json") == 1
    assert value(metrics, "adapter_events_processed_total", result="success") == 2
    assert value(metrics, "adapter_events_processed_total", result="failure") == 1
    assert value(metrics, "adapter_events_processed_total", result="garbage") == 1


def test_kinds_of_events_are_few() -> None:
    recorder = MonitoringRecorder()
    for number in range(1000):
        recorder.event(f"com.example.type{number}")
        recorder.garbage(f"kind{number}")
    recorder.event('x"}\n')
    kinds = [one for one in series(recorder.metrics) if "kind=" in one and "fail" not in one]
    assert len(kinds) == 2 * 17
    assert value(recorder.metrics, "adapter_events_received_total", kind="other") == 985


def test_all_is_readable_by_those_who_read_json() -> None:
    # Results are parsed from JSON, which may contain NaN and Infinity.
    metrics = AdapterMetrics()
    metrics.count(json.loads('{"clusters": [{"id": "c", "ends": [{"duration_seconds": Infinity}]}]}'))
    assert value(metrics, "job_run_seconds_count", result="failure") is None
