# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading request bodies: the checks that need no store, in the API's words except for unreadable ones."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from typing import Any

from .conditions import Report
from .problems import ApiError
from .times import parse_time

__all__ = ["check_mandatory", "parse_cluster", "parse_patch", "parse_report"]

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_AHEAD, _OLD = timedelta(minutes=5), timedelta(minutes=30)


def _object(raw: bytes) -> dict[str, Any]:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise ApiError("VAL-006", "Invalid JSON in request body")
    return body


def parse_cluster(raw: bytes) -> dict[str, Any]:
    """A POST of a cluster: {"name", "labels", "spec"}."""
    body = _object(raw)
    name = body.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ApiError(
            "VAL-000",
            "name must start and end with lowercase letter or number, and contain only lowercase letters, "
            "numbers, and hyphens",
        )
    if not isinstance(body.get("spec"), dict):
        raise ApiError("VAL-000", "spec is required")
    return {"name": name, "labels": dict(body.get("labels") or {}), "spec": body["spec"]}


def parse_patch(raw: bytes) -> dict[str, Any]:
    """A PATCH of a cluster: {"spec"?, "labels"?}, each replacing the whole."""
    body = _object(raw)
    patch = {key: body[key] for key in ("spec", "labels") if isinstance(body.get(key), dict)}
    if not patch or set(body) - set(patch):
        raise ApiError("VAL-006", "Invalid request format: there is nothing to change, or an unknown field")
    return patch


def parse_report(raw: bytes, now: datetime, *, seed: bool) -> Report:
    """A status report; `seed` reads the earlier design's camelCase names."""
    body = _object(raw)
    generation_key, time_key = (
        ("observedGeneration", "lastUpdated") if seed else ("observed_generation", "observed_time")
    )
    generation = body.get(generation_key, 0)
    if isinstance(generation, bool) or not isinstance(generation, int):
        raise ApiError("VAL-006", f"Invalid request format: {generation_key} is not an integer")
    given = body.get(time_key)
    try:
        observed = now if given is None else parse_time(str(given))
    except ValueError:
        raise ApiError("VAL-006", f"Invalid request format: {time_key} is not a time") from None
    adapter = body.get("adapter")
    if not isinstance(adapter, str) or not adapter:
        raise ApiError("VAL-000", "adapter is required")
    if generation < 1:
        raise ApiError("VAL-000", f"{generation_key} must be >= 1")
    conditions = _conditions(body.get("conditions") or [])
    if observed > now + _AHEAD:
        raise ApiError("VAL-000", f"{time_key} must not be more than 5m0s in the future")
    if observed < now - _OLD:
        raise ApiError("VAL-000", f"{time_key} must not be more than 30m0s in the past")
    data, metadata = body.get("data") or {}, body.get("metadata")
    return Report(adapter, generation, observed, observed, conditions, data, metadata)


def _conditions(given: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(given, list) or not all(isinstance(condition, dict) for condition in given):
        raise ApiError("VAL-006", "Invalid request format: conditions is not a list of objects")
    seen: set[str] = set()
    for index, condition in enumerate(given):
        kind = condition.get("type") or ""
        if not kind:
            raise ApiError("VAL-000", f"the condition at index {index} has no type")
        if kind in seen:
            raise ApiError("VAL-000", f"duplicate condition type '{kind}' at index {index}")
        seen.add(kind)
        if condition.get("status") not in ("True", "False", "Unknown"):
            raise ApiError(
                "VAL-000",
                f"invalid status value '{condition.get('status', '')}' for condition at index {index} "
                f"(type: {kind}): must be 'True', 'False', or 'Unknown'",
            )
    keys = ("type", "status", "reason", "message")
    return tuple({key: condition[key] for key in keys if key in condition} for condition in given)


def check_mandatory(report: Report) -> None:
    """Decided only after the discards: a stale report may lack a condition."""
    present = {condition["type"] for condition in report.conditions}
    for name in ("Available", "Applied", "Health"):
        if name not in present:
            raise ApiError(
                "VAL-000",
                f"missing mandatory condition '{name}': "
                "all adapters must report Available, Applied, and Health",
            )
