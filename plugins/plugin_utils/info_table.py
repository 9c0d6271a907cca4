# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of ``pull_secret_info``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .table import ROWS, aligned

__all__ = ["info_table"]

_HEADERS = ("CLUSTER", "NEWEST", "VERSIONS", "SECRET MANAGER", "MANAGEMENT SECRET", "RESULT")


def info_table(result: Mapping[str, Any]) -> list[str]:
    """Lines for people: a small fleet whole, of a large one what differs or failed.

    :param result: the module's.
    """
    targets: Sequence[Mapping[str, Any]] = result.get("targets") or ()
    shown = list(targets) if len(targets) <= ROWS else [one for one in targets if not one.get("in_sync")]
    cut = shown[:ROWS]
    lines = aligned([_HEADERS, *map(_cells, cut)]) if cut else []
    if len(shown) > len(cut):
        lines.append(f"... and {len(shown) - len(cut)} more that differ or failed")
    said = [f"{one['id']} failed: {one['msg']}" for one in cut if one.get("failed")]
    said += [f"{one['id']} drift: {text}" for one in cut for text in one.get("drift") or ()]
    said += [f"{one['id']} warning: {text}" for one in cut for text in one.get("warnings") or ()]
    unlisted = result.get("unlisted") or ()
    said += [_unlisted(one) for one in unlisted[:ROWS]]
    if len(unlisted) > ROWS:
        said.append(f"... and {len(unlisted) - ROWS} more that belong to no cluster of the list")
    said += result.get("unlisted_failed") or ()
    return [*lines, *([""] if lines else []), *said, *([""] if said else []), _counts(targets, result)]


def _cells(one: Mapping[str, Any]) -> tuple[str, ...]:
    if one.get("failed"):
        return (str(one["id"]), "-", "-", "-", "-", "FAILED")
    stored, placed = one["secret_manager"], one["management_secret"]
    versions = stored.get("versions") or ()
    enabled = sum(1 for version in versions if version["state"] == "enabled")
    held = f"version {placed['version']}" if placed.get("version") else "no version named"
    return (
        str(one["id"]),
        str(stored.get("newest") or "-"),
        f"{len(versions)} ({enabled} enabled)" if versions else "-",
        _whose(stored, "ours"),
        _whose(placed, held),
        "in sync" if one["in_sync"] else "drift",
    )


def _whose(found: Mapping[str, Any], ours: str) -> str:
    if not found["exists"]:
        return "absent"
    return f"foreign ({found['owner'] or 'no owner'})" if found["foreign"] else ours


def _unlisted(one: Mapping[str, Any]) -> str:
    owner = f" (cluster {one['cluster_id']})" if one["cluster_id"] else ""
    return f"in no cluster of the list: {one['place']}{owner}"


def _counts(targets: Sequence[Mapping[str, Any]], result: Mapping[str, Any]) -> str:
    failed = sum(1 for one in targets if one.get("failed"))
    synced = sum(1 for one in targets if one.get("in_sync"))
    drift = len(targets) - synced - failed
    plural = "" if len(targets) == 1 else "s"
    line = f"{len(targets)} cluster{plural}: {synced} in sync, {drift} drift, {failed} failed"
    if result.get("unlisted") is None:
        return line
    return f"{line}; {len(result['unlisted'])} in no cluster of the list"
