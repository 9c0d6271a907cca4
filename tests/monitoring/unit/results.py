# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run's result as the adapter's action writes it, with what is counted of Jobs' ends."""

from __future__ import annotations

from typing import Any


def call(operation: str, status: str = "200", count: int = 1, seconds: float = 0.1) -> dict[str, Any]:
    return {"operation": operation, "status_code": status, "count": count, "seconds": seconds}


def success(seconds: float = 12.5, **more: Any) -> dict[str, Any]:
    """The end of a Job that stored a new version."""
    return {
        "result": "success",
        "versions_created": 1,
        "duration_seconds": seconds,
        "program_seconds": [seconds / 5],
        "gcp_api_calls": [call("get_secret"), call("add_secret_version", "503"), call("add_secret_version")],
        "k8s_api_calls": [call("get_secret", "404"), call("create_secret", "201", seconds=0.2)],
        **more,
    }


def failure(kind: str = "permission_denied", seconds: float = 2.5, **more: Any) -> dict[str, Any]:
    """The end of a Job that could not store anything."""
    return {
        "result": "failure",
        "versions_created": 0,
        "kind": kind,
        "phase": "gcp-secret-manager",
        "duration_seconds": seconds,
        "program_seconds": [seconds / 5],
        "gcp_api_calls": [call("get_secret", "403", count=3, seconds=0.6)],
        "k8s_api_calls": [],
        **more,
    }


def row(cluster: str = "cls-1", outcome: str = "reported", *, job: Any = None, **more: Any) -> dict[str, Any]:
    """One cluster of a run; ``job``: the end of its Job."""
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
        "ends": [] if job is None else [job],
        **more,
    }


def result(*rows: dict[str, Any]) -> dict[str, Any]:
    """What one run wrote down."""
    times = {"started": "2026-11-22T09:00:00Z", "ended": "2026-11-22T09:00:01Z"}
    return {"version": 1, **times, "clusters": list(rows)}
