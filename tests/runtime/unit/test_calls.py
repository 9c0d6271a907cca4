# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Counting of the requests to Google, Kubernetes and HyperFleet."""

from __future__ import annotations

import threading
from http import HTTPStatus

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.calls import (
    Calls,
    kubernetes_operation,
    snake,
)


@pytest.mark.parametrize(
    ("method", "path", "operation"),
    [
        ("GET", "/api/v1/namespaces/n/secrets/s", "get_secret"),
        ("GET", "/api/v1/namespaces/n/secrets", "list_secrets"),
        ("GET", "/api/v1/secrets", "list_secrets"),
        ("POST", "/api/v1/namespaces/n/secrets", "create_secret"),
        ("PATCH", "/api/v1/namespaces/n/secrets/s", "patch_secret"),
        ("DELETE", "/apis/batch/v1/namespaces/n/jobs/j", "delete_job"),
        ("POST", "/apis/batch/v1/namespaces/n/jobs", "create_job"),
        ("PATCH", "/apis/apps/v1/namespaces/n/daemonsets/d/status", "patch_daemonset_status"),
        ("GET", "/api/v1/namespaces/n", "get_namespace"),
        ("GET", "/api/v1/namespaces", "list_namespaces"),
        ("GET", "/", "request"),
    ],
)
def test_an_operation_holds_no_name(method: str, path: str, operation: str) -> None:
    assert kubernetes_operation(method, path) == operation


def test_an_operation_of_google() -> None:
    assert snake("AddSecretVersion") == "add_secret_version"


def test_calls_are_counted_by_operation_and_code() -> None:
    calls = Calls()
    for status in (200, HTTPStatus.OK, 503):
        with calls.timed(Calls.GCP, "get_secret") as call:
            call.status = status
    with calls.timed(Calls.KUBERNETES, "create_secret") as call:
        call.status = 201
    with pytest.raises(ValueError, match="no answer"), calls.timed(Calls.GCP, "get_secret"):
        raise ValueError("no answer")
    found = calls.of(Calls.GCP)
    assert [(entry["operation"], entry["status_code"], entry["count"]) for entry in found] == [
        ("get_secret", "200", 2),
        ("get_secret", "503", 1),
        ("get_secret", "none", 1),
    ]
    assert all(entry["seconds"] >= 0 for entry in found)
    assert [entry["status_code"] for entry in calls.of(Calls.KUBERNETES)] == ["201"]


def test_no_call_is_lost_between_threads() -> None:
    calls = Calls()

    def many() -> None:
        for dummy in range(500):
            with calls.timed(Calls.GCP, "get_secret") as call:
                call.status = 200

    threads = [threading.Thread(target=many) for dummy in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls.of(Calls.GCP)[0]["count"] == 4000


def test_what_was_taken_back_before_is_taken_back() -> None:
    """To count only its own calls, a run subtracts the earlier ones first and adds the total later."""
    before, after = Calls(), Calls()
    before.add(Calls.GCP, "get_secret", "200", 3, 6.0)
    after.merge(before)
    after.add(Calls.GCP, "get_secret", "200", 1, 0.5)
    run = Calls()
    run.merge(before, -1)
    assert run.of(Calls.GCP) == []
    run.merge(after)
    assert [(entry["count"], entry["seconds"]) for entry in run.of(Calls.GCP)] == [(1, 0.5)]
    run.add(Calls.GCP, "get_secret", "200", 0, -0.6)
    assert run.of(Calls.GCP)[0]["seconds"] == 0.0, "a rounding error must not make the sum negative"
