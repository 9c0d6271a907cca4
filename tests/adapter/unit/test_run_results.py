# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The result of a run for each cluster, and when a run gives up on an API."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    DependencyMissing,
    NotFound,
    OwnershipConflict,
    PermissionDenied,
    QuotaExceeded,
    Unavailable,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.breaker import Breaker
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.calls import Calls
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.engine import (
    conditions,
    run_results,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.engine.decide import (
    Refuse,
    UnmetPreconditions,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.engine.report import (
    ClusterReport,
    ReportSubject,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.engine.run_results import (
    ClusterResult,
)
from tests.support import doc_tables as tables

SUBJECT = ReportSubject("cls-1", "pullsecret", 3)
TOLD = conditions.preconditions_unmet(SUBJECT, UnmetPreconditions(("dns",)))
TRACE = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"


def many(count: int, outcome: str = run_results.OUTCOME_REPORTED) -> list[ClusterResult]:
    return [ClusterResult(f"cls-{index}", outcome, 1, report=TOLD) for index in range(count)]


def test_the_result_files_entries_are_the_contract() -> None:
    calls = Calls()
    calls.add(Calls.GCP, "get_secret", "200", 2, 0.5)
    document = run_results.result_document(
        [ClusterResult("cls-1", run_results.OUTCOME_REPORTED, 3, TRACE, TOLD)], "a", "b", calls
    )
    assert json.loads(json.dumps(document)) == {
        "version": 1,
        "started": "a",
        "ended": "b",
        "clusters": [
            {
                "id": "cls-1",
                "generation": 3,
                "outcome": "reported",
                "state": "unmet",
                "again": None,
                "reason": "PreconditionsNotMet",
                "kind": None,
                "job_created": False,
                "reports": {"accepted": 1, "discarded": 0, "failed": 0},
                "traceparent": TRACE,
                "ends": [],
            }
        ],
        "gcp_api_calls": [{"operation": "get_secret", "status_code": "200", "count": 2, "seconds": 0.5}],
        "k8s_api_calls": [],
    }


@pytest.mark.parametrize(
    ("outcome", "kind", "again"),
    [
        (run_results.OUTCOME_FAILED, "unavailable", 15.0),
        (run_results.OUTCOME_FAILED, "permission_denied", 60.0),
        (run_results.OUTCOME_FAILED, "stopped", 2.0),
        (run_results.OUTCOME_GONE, None, None),
        (run_results.OUTCOME_DISCARDED, None, None),
    ],
)
def test_a_failure_is_requeued(outcome: str, kind: str | None, again: float | None) -> None:
    one = ClusterResult("cls-1", outcome, 3, report=TOLD, kind=kind)
    assert one.requeue_after == again
    assert sum(one.entry()["reports"].values()) == (0 if outcome == run_results.OUTCOME_GONE else 1)


def test_a_few_clusters_are_listed_and_of_many_only_those_that_need_attention() -> None:
    assert len(run_results.module_result(many(50), None)["clusters"]) == 50
    assert run_results.module_result(many(51), None)["clusters"] == []
    assert len(run_results.module_result(many(51), "all")["clusters"]) == 51
    assert run_results.module_result(many(3), "log")["clusters"] == []
    mixed = [*many(51), ClusterResult("bad", kind="unavailable", message="no answer")]
    whole = run_results.module_result(mixed, None)
    assert [entry["id"] for entry in whole["clusters"]] == ["bad"]
    assert whole["msg"] == "1 of 52 clusters failed: bad: no answer"
    assert whole["summary"] == {
        "total": 52,
        "reported": 51,
        "discarded": 0,
        "gone": 0,
        "unreported": 1,
        "failed": 1,
        "changed": 0,
        "states": {"unmet": 51},
    }


def test_the_log_has_the_fields_of_the_job_contract() -> None:
    one = ClusterResult(
        "cls-1", run_results.OUTCOME_DISCARDED, 3, TRACE, TOLD, actions=("created job x",), project="p-1"
    )
    one.duration = 7
    first, last = run_results.log_entries(one)
    assert (first["message"], first["operation"]) == ("created job x", "create-job")
    assert last["message"].startswith("The API discarded the report: PreconditionsNotMet")
    for entry in (first, last):
        assert entry["component"] == "pullsecret-adapter"
        assert entry["trace_id"] == "a" * 32
        assert (entry["cluster_id"], entry["gcp_project"]) == ("cls-1", "p-1")
    assert (last["level"], last["duration_ms"], last["outcome"]) == ("warn", 7, "discarded")


def test_the_log_says_where_the_pull_secret_is_and_why_not() -> None:
    data = {
        "gcp_secret": "projects/p-1/secrets/hyperfleet-cls-1-pull-secret",
        "management_secret": {"namespace": "clusters-cls-1", "name": "cls-1-pull-secret"},
        "secret_version": "4",
    }
    told = replace(TOLD, api_report=replace(TOLD.api_report, data=data))
    (line,) = run_results.log_entries(ClusterResult("cls-1", run_results.OUTCOME_REPORTED, 3, report=told))
    assert (line["namespace"], line["secret_name"], line["version"]) == (
        "clusters-cls-1",
        "hyperfleet-cls-1-pull-secret",
        "4",
    )
    failed = ClusterResult(
        "cls-1", run_results.OUTCOME_FAILED, 3, report=TOLD, kind="unavailable", message="no answer"
    )
    (line,) = run_results.log_entries(failed)
    assert (line["error"], line["namespace"], line["version"]) == ("unavailable", None, None)


@pytest.mark.parametrize(
    ("report", "level"),
    [
        (TOLD, "info"),
        (conditions.refused(SUBJECT, Refuse("InvalidClusterSpec", "x")), "error"),
        (conditions.refused(SUBJECT, Refuse("InvalidPullSecret", "x", "invalid_document")), "error"),
        (conditions.adapter_failed(SUBJECT, "Kubernetes", OwnershipConflict("x")), "error"),
        (conditions.adapter_failed(SUBJECT, "Kubernetes", DependencyMissing("x")), "error"),
        (conditions.adapter_failed(SUBJECT, "Kubernetes", PermissionDenied("x")), "error"),
        (conditions.adapter_failed(SUBJECT, "Kubernetes", Unavailable("x")), "warn"),
        (conditions.adapter_failed(SUBJECT, "Kubernetes", QuotaExceeded("x")), "warn"),
    ],
)
def test_a_failure_that_a_person_must_mend_is_an_error(report: ClusterReport, level: str) -> None:
    (line,) = run_results.log_entries(ClusterResult("cls-1", run_results.OUTCOME_REPORTED, 3, report=report))
    assert line["level"] == level


def test_refused_and_failed_clusters_are_counted_and_listed() -> None:
    refused = conditions.refused(SUBJECT, Refuse("InvalidPullSecret", "quay.io: no auth", "invalid_document"))
    results = [*many(51), ClusterResult("bad", run_results.OUTCOME_REPORTED, 3, report=refused)]
    whole = run_results.module_result(results, None)
    assert [(entry["id"], entry["kind"]) for entry in whole["clusters"]] == [("bad", "invalid_document")]
    assert whole["msg"] == "1 of 52 clusters failed: bad: quay.io: no auth"
    assert (whole["summary"]["failed"], whole["summary"]["unreported"]) == (1, 0)


def test_the_page_names_the_fields_of_the_log() -> None:
    rows = tables.table(tables.page("monitoring"), "field", "meaning")
    one = ClusterResult(
        "cls-1", run_results.OUTCOME_FAILED, 3, TRACE, TOLD, "unavailable", actions=("created secret x",)
    )
    fields = {name for entry in run_results.log_entries(one) for name in entry}
    named = {name for row in rows for name in tables.literals(row[0])}
    assert named == fields - {"timestamp", "level", "component", "message"}


@pytest.mark.parametrize(
    ("action", "operation", "secret"),
    [
        ("created secret x", "create-secret", "x"),
        ("updated secret x", "update-secret", "x"),
        ("deleted job x", "delete-job", None),
        ("noted the end of job x", "apply", None),
        ("version added: projects/p/secrets/s", "apply", None),
    ],
)
def test_operations_have_the_names_of_the_contract(action: str, operation: str, secret: str | None) -> None:
    entry, _last = run_results.log_entries(
        ClusterResult("cls-1", run_results.OUTCOME_REPORTED, 3, report=TOLD, actions=(action,))
    )
    assert (entry["operation"], entry.get("secret_name")) == (operation, secret)


def unavailable() -> None:
    raise Unavailable("no answer")


def test_an_api_that_does_not_answer_is_given_up_for_the_rest_of_the_run() -> None:
    breaker = Breaker()
    for _number in range(8):
        assert not breaker.is_open
        with pytest.raises(Unavailable):
            breaker.call(unavailable)
    assert breaker.is_open
    asked: list[int] = []
    with pytest.raises(Unavailable) as caught:
        breaker.call(lambda: asked.append(1))
    assert asked == []
    assert caught.value.retryable is False


def test_an_answer_that_comes_late_does_not_begin_it_again() -> None:
    breaker = Breaker()

    def late() -> None:
        for _number in range(8):
            with pytest.raises(Unavailable):
                breaker.call(unavailable)

    breaker.call(late)
    assert breaker.is_open


def test_only_failures_in_a_row_count_and_only_those_of_the_place() -> None:
    breaker = Breaker()

    def not_found() -> None:
        raise NotFound("cluster cls-1")

    for _number in range(20):
        with pytest.raises(NotFound):
            breaker.call(not_found)
    for _number in range(20):
        with pytest.raises(Unavailable):
            breaker.call(unavailable)
        breaker.call(lambda: None)
    assert not breaker.is_open
