# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run's result as the adapter's action writes it, with a Job's termination message."""

from __future__ import annotations

from typing import Any


def call(operation: str, status: str = "200", count: int = 1, seconds: float = 0.1) -> dict[str, Any]:
    return {"operation": operation, "status_code": status, "count": count, "seconds": seconds}


def success(seconds: float = 12.5, **more: Any) -> dict[str, Any]:
    """What a Job says that stored a new version."""
    return {
        "result": "success",
        "version": "3",
        "secret": "projects/p/secrets/s",
        "management_secret": {"namespace": "clusters-cls-1", "name": "cls-1-pull-secret"},
        "changed": True,
        "versions_created": 1,
        "phase": "k8s-secret",
        "duration_seconds": seconds,
        "gcp_api_calls": [call("get_secret"), call("add_secret_version", "503"), call("add_secret_version")],
        "k8s_api_calls": [call("get_secret", "404"), call("create_secret", "201", seconds=0.2)],
        **more,
    }


def failure(kind: str = "permission_denied", seconds: float = 2.5, **more: Any) -> dict[str, Any]:
    """What a Job says that could not store anything."""
    return {
        "result": "failure",
        "changed": False,
        "versions_created": 0,
        "kind": kind,
        "message": "PERMISSION_DENIED on projects/p/secrets/s",
        "phase": "gcp-secret-manager",
        "duration_seconds": seconds,
        "gcp_api_calls": [call("get_secret", "403", count=3, seconds=0.6)],
        "k8s_api_calls": [],
        **more,
    }


def row(cluster: str = "cls-1", outcome: str = "reported", **more: Any) -> dict[str, Any]:
    """One cluster of a run."""
    reports = {"accepted": 0, "discarded": 0, "failed": 0}
    reports[{"reported": "accepted", "discarded": "discarded", "failed": "failed"}.get(outcome, "failed")] = 1
    return {
        "id": cluster,
        "generation": 2,
        "outcome": outcome,
        "state": "succeeded",
        "again": None,
        "reason": "PullSecretStored",
        "job_created": False,
        "reports": {"accepted": 0, "discarded": 0, "failed": 0} if outcome == "gone" else reports,
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "job": None,
        **more,
    }


def result(*rows: dict[str, Any]) -> dict[str, Any]:
    """What one run wrote down."""
    times = {"started": "2026-11-22T09:00:00Z", "ended": "2026-11-22T09:00:01Z"}
    return {"version": 1, **times, "clusters": list(rows)}
