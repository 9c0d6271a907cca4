# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rules, dashboard and documentation name exactly the metrics that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from prometheus_client import Metric

from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.recorder import MonitoringRecorder
from tests.monitoring.unit.results import failure, result, row, success
from tests.support import doc_tables as tables
from tests.support import monitoring

PAGE = tables.page("monitoring")
METRICS = tables.table(PAGE, "metric", "type", "labels", "what it counts")
ALERTS = tables.table(PAGE, "alert", "severity", "it fires when", "what to do")


def families(*, per_cluster: bool) -> dict[str, Metric]:
    """All metric families by their Prometheus name, after each kind of event was recorded once."""
    recorder = MonitoringRecorder(per_cluster=per_cluster)
    recorder.event("type")
    recorder.garbage("kind")
    rows = row(job_created=True, job=success()), row("cls-2", "failed", job=failure())
    recorder.run_ended(result(*rows), 1.0)
    found = recorder.metrics.registry.collect()
    return {
        one.name + ("_total" if one.type == "counter" else ""): one
        for one in found
        if one.name.startswith("pullsecret_")
    }


def labels(metric: Metric) -> set[str]:
    return {name for sample in metric.samples for name in sample.labels} - {"le"}


def documented() -> Iterator[tuple[str, str, set[str]]]:
    """Name, type and labels of each row of the documentation's table."""
    for name, kind, said, _counts in METRICS:
        yield name.strip("`"), kind, set(tables.literals(said))


def test_the_page_has_every_metric_as_it_is() -> None:
    there = {
        (name, metric.type, frozenset(labels(metric))) for name, metric in families(per_cluster=True).items()
    }
    assert {(name, kind, frozenset(said)) for name, kind, said in documented()} == there


def test_only_what_is_marked_so_is_by_cluster() -> None:
    marks = {name.strip("`"): "``cluster_id`` [1]_" in said for name, _kind, said, _counts in METRICS}
    for name, metric in families(per_cluster=False).items():
        assert "cluster_id" not in labels(metric)
        assert marks[name] == ("cluster_id" in labels(families(per_cluster=True)[name]))


def test_rules_and_dashboard_name_metrics_that_there_are() -> None:
    there = set(families(per_cluster=False))
    expressions = [rule["expr"] for rule in monitoring.rules()]
    expressions += [query.expression for query in monitoring.queries()]
    named = set().union(*map(monitoring.names, expressions))
    assert named <= there
    # The dashboard shows all of them.
    assert named == there


@pytest.mark.parametrize(
    "name",
    [
        "pullsecret_adapter_events_processed_total",
        "pullsecret_adapter_jobs_created_total",
        "pullsecret_adapter_status_updates_total",
        "pullsecret_gcp_api_calls_total",
        "pullsecret_gcp_api_duration_seconds",
        "pullsecret_job_duration_seconds",
        "pullsecret_job_total",
        "pullsecret_k8s_api_calls_total",
        "pullsecret_k8s_api_duration_seconds",
        "pullsecret_secret_versions_created_total",
    ],
)
def test_the_job_contracts_metric_names_exist(name: str) -> None:
    assert name in families(per_cluster=False)


def test_every_alert_is_on_the_page_and_in_the_tests() -> None:
    alerts = [rule["alert"] for rule in monitoring.rules()]
    tests = (monitoring.DIRECTORY / "alerts_test.yml").read_text()
    assert [row[0] for row in ALERTS] == alerts
    severities = {alert: severity for alert, severity, _when, _what in ALERTS}
    for rule in monitoring.rules():
        assert severities[rule["alert"]] == rule["labels"]["severity"]
        assert f"alertname: {rule['alert']}\n" in tests
        assert rule["annotations"]["runbook"] == f"docs/docsite/rst/monitoring.rst, {rule['alert']}"
        assert rule["annotations"]["summary"]


def test_the_dashboard_has_the_job_contracts_panels() -> None:
    rows: dict[str, list[str]] = {}
    for panel in monitoring.dashboard()["panels"]:
        if panel["type"] == "row":
            here = rows.setdefault(panel["title"], [])
        else:
            here.append(panel["title"])
    assert rows["Pull Secret Overview"][:2] == ["Total jobs executed", "Average job duration"]
    assert {"GCP API call rate", "Kubernetes secret creation rate"} <= set(rows["Pull Secret Overview"])
    errors = {"Top error types", "Failure rate by cluster", "Retry attempts histogram"}
    assert errors <= set(rows["Error Tracking"])
    performance = ["Job execution time percentiles", "GCP API latency", "Kubernetes API latency"]
    assert rows["Performance"] == performance


def test_the_dashboard_can_be_laid_out() -> None:
    panels = monitoring.dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells
        for target in panel.get("targets", ()):
            assert target["datasource"]["uid"] == panel["datasource"]["uid"] == "${datasource}"
            # The dashboard's own variables and Grafana's built-in ones.
            used = set(re.findall(r"\$(\w+)", target["expr"]))
            assert used <= {"namespace", "job", "__rate_interval", "__range"}
    assert {one["name"] for one in monitoring.dashboard()["templating"]["list"]} == {
        "datasource",
        "namespace",
        "job",
    }
