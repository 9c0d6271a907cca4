# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading request bodies: the checks that need no store, in the API's words where they were recorded."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .problems import ApiError
from .times import parse_time

__all__ = ["StatusReport", "check_mandatory", "parse_body", "parse_cluster", "parse_patch", "parse_report"]

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SECOND = 1_000_000_000
_AHEAD, _OLD = 5 * 60 * _SECOND, 30 * 60 * _SECOND
_TOKENS = {
    "Expecting property name enclosed in double quotes": "looking for beginning of object key string",
    "Expecting value": "looking for beginning of value",
    "Expecting ':' delimiter": "after object key",
    "Expecting ',' delimiter": "after object key:value pair",
}


@dataclass(frozen=True)
class StatusReport:
    """A report as sent, its time in nanoseconds."""

    adapter: str
    generation: int
    observed: int
    conditions: tuple[dict[str, Any], ...]
    data: Mapping[str, Any]
    metadata: Mapping[str, Any] | None


def parse_body(raw: bytes, *, decoder_words: bool) -> dict[str, Any]:
    """The JSON object in a body; `decoder_words`: say what Go's decoder says of a bad one."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        detail = _decoder_error(error) if decoder_words else "Invalid JSON in request body"
        raise ApiError("VAL-006", detail) from None
    if not isinstance(body, dict):
        raise ApiError("VAL-006", "Invalid JSON in request body")
    return body


def _decoder_error(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        if error.pos >= len(error.doc):
            return "Invalid request format: unexpected EOF"
        where = _TOKENS.get(error.msg, "in the document")
        return f"Invalid request format: invalid character {error.doc[error.pos]!r} {where}"
    return "Invalid request format: not JSON"


def parse_cluster(raw: bytes) -> dict[str, Any]:
    """A POST of a cluster: {"name", "labels", "spec"}."""
    body = parse_body(raw, decoder_words=False)
    if body.get("kind") != "Cluster":
        raise ApiError("VAL-000", "kind must be 'Cluster'" if body.get("kind") else "kind is required")
    name = body.get("name")
    if not name:
        raise ApiError("VAL-000", "name is required")
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
    body = parse_body(raw, decoder_words=False)
    unknown = sorted(set(body) - {"spec", "labels", "references"})
    if unknown:
        raise ApiError("VAL-006", f'Invalid request format: json: unknown field "{unknown[0]}"')
    patch = {key: body[key] for key in ("spec", "labels") if isinstance(body.get(key), dict)}
    if not patch:
        raise ApiError("VAL-005", "nothing to change")
    return patch


def parse_report(raw: bytes, now: int, *, seed: bool) -> StatusReport:
    """A status report; `seed` reads the earlier design's camelCase names."""
    body = parse_body(raw, decoder_words=True)
    generation_key, time_key = (
        ("observedGeneration", "lastUpdated") if seed else ("observed_generation", "observed_time")
    )
    generation = body.get(generation_key, 0)
    if isinstance(generation, bool) or not isinstance(generation, int):
        kinds = {str: "string", bool: "bool", float: "number", list: "array", dict: "object"}
        raise ApiError(
            "VAL-006",
            f"Invalid request format: json: cannot unmarshal {kinds.get(type(generation), 'value')} into "
            f"Go struct field AdapterStatusCreateRequest.{generation_key} of type int32",
        )
    given = body.get(time_key)
    try:
        observed = now if given is None else parse_time(str(given))
    except ValueError:
        shown = str(given)
        raise ApiError(
            "VAL-006",
            f'Invalid request format: parsing time "{shown}" as "2006-01-02T15:04:05Z07:00": '
            f'cannot parse "{shown}" as "2006"',
        ) from None
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
    return StatusReport(
        adapter, generation, observed, conditions, body.get("data") or {}, body.get("metadata")
    )


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


def check_mandatory(report: StatusReport) -> None:
    """Decided only after the discards: a stale report may lack a condition."""
    present = {condition["type"] for condition in report.conditions}
    for name in ("Available", "Applied", "Health"):
        if name not in present:
            raise ApiError(
                "VAL-000",
                f"missing mandatory condition '{name}': "
                "all adapters must report Available, Applied, and Health",
            )
