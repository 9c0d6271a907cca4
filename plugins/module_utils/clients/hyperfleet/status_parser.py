# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Parses the statuses of a cluster from the API's responses. Pure.

Invalid parts are left out: another adapter's mistake must not stop us.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from .report_format import STATUSES, TRANSITIONS, transitions_of
from .statuses import AdapterStatus, Condition

__all__ = ["conditions_of", "statuses_of_cluster", "statuses_of_items"]


def statuses_of_items(items: Iterable[Any]) -> dict[str, AdapterStatus]:
    """Return by adapter the items of ``GET /clusters/{id}/statuses``; of two items of one adapter, the later
    report.
    """
    found: dict[str, AdapterStatus] = {}
    for item in items:
        status = _status(item.get("adapter"), item, None) if isinstance(item, Mapping) else None
        if status is None:
            continue
        before = found.get(status.adapter)
        if before is None or status.generation >= before.generation:
            found[status.adapter] = status
    return found


def statuses_of_cluster(cluster: Mapping[str, Any]) -> dict[str, AdapterStatus]:
    """Return by adapter ``status.adapters`` of a cluster in the contract's form: ``{available, data}``.

    It has no generation: it counts as about the current cluster, and as not ``dated``. The time of a
    condition's change is in the ``data``, where our reports store it (``reporting.TRANSITIONS``).
    """
    adapters = _mapping(_mapping(cluster.get("status")).get("adapters"))
    found: dict[str, AdapterStatus] = {}
    for name, said in adapters.items():
        if not isinstance(said, Mapping):
            continue
        status = _status(name, said, _whole(cluster.get("generation")) or 1)
        if status is not None:
            data = dict(status.data)
            kept = transitions_of(data.get(TRANSITIONS))
            if kept:
                del data[TRANSITIONS]
            found[status.adapter] = replace(
                status,
                data=data,
                transitions={**kept, **status.transitions},
                dated=_generation(said) is not None,
            )
    return found


def conditions_of(given: Any) -> dict[str, Condition]:
    """Return by type the conditions in a list."""
    found: dict[str, Condition] = {}
    for condition in given if isinstance(given, list) else ():
        if not isinstance(condition, Mapping):
            continue
        kind, status = condition.get("type"), condition.get("status")
        if isinstance(kind, str) and kind and status in STATUSES:
            found[kind] = Condition(
                kind, status, _text(condition.get("reason")), _text(condition.get("message"))
            )
    return found


def _status(adapter: Any, said: Mapping[str, Any], generation: int | None) -> AdapterStatus | None:
    generation = _generation(said) or generation
    if not isinstance(adapter, str) or not adapter or generation is None:
        return None
    conditions = conditions_of(said.get("conditions"))
    available = said.get("available")
    if "Available" not in conditions and available is not None:
        # The notations of YAML and Go.
        status = str(available).capitalize()
        if status in STATUSES:
            conditions["Available"] = Condition("Available", status, "", "")
    return AdapterStatus(
        adapter,
        generation,
        conditions,
        _mapping(said.get("data")),
        _mapping(said.get("metadata")),
        _first(said, _text, "last_report_time", "observed_time", "lastUpdated") or None,
        transitions=_transitions(said.get("conditions")),
    )


def _generation(said: Mapping[str, Any]) -> int | None:
    found: int | None = _first(said, _whole, "observed_generation", "observedGeneration")
    return found


def _transitions(given: Any) -> dict[str, tuple[str, str]]:
    """Of a list of conditions."""
    found = {}
    for one in given if isinstance(given, list) else ():
        if isinstance(one, Mapping) and isinstance(one.get("type"), str):
            since = _first(one, _text, "lastTransitionTime", "last_transition_time")
            found[one["type"]] = {"status": one.get("status"), "since": since}
    return transitions_of(found)


def _first(said: Mapping[str, Any], read: Any, *names: str) -> Any:
    return next((value for value in (read(said.get(name)) for name in names) if value), None)


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
