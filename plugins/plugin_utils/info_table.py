# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of ``pull_secret_info``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .table import ROWS, aligned, counted, fitting

__all__ = ["info_table"]

_HEADERS = ("CLUSTER", "NEWEST", "VERSIONS", "SECRET MANAGER", "MANAGEMENT SECRET", "RESULT")
_VERSION_HEADERS = ("CLUSTER", "VERSION", "STATE", "CREATED", "DIGEST")
# Characters of a digest, of 32: enough to distinguish the versions of one secret.
_DIGITS = 12
_HINT = (
    f"to list versions, inspect one cluster, or up to {ROWS} with inspect_digests=all (the module's digests)"
)

_Target = Mapping[str, Any]


def info_table(result: Mapping[str, Any], *, digests: str = "newest") -> list[str]:
    """Return the lines of the table: all clusters of a small fleet, or those of a large one that differ or failed.

    Each version has a line if there is only one cluster, or if the digests of all versions of a small fleet were
    read.

    :param result: the module's result.
    :param digests: the module's option ``digests``.
    """
    targets: Sequence[_Target] = result.get("targets") or ()
    cut, more = fitting(targets, "that differ or failed", lambda one: not one.get("in_sync"))
    lines = [*(aligned([_HEADERS, *map(_cells, cut)]) if cut else []), *more]
    has_all_digests = digests == "all"
    has_versions = any(map(_versions, targets))
    is_detailed = len(targets) == 1 or (has_all_digests and len(targets) <= ROWS)
    if has_versions and is_detailed:
        lines += ["", *_version_lines(cut, has_all_digests)]
    said = [f"{one['id']} failed: {one['msg']}" for one in cut if one.get("failed")]
    said += [f"{one['id']} drift: {text}" for one in cut for text in one.get("drift") or ()]
    said += [f"{one['id']} warning: {text}" for one in cut for text in one.get("warnings") or ()]
    unlisted = result.get("unlisted") or ()
    places, more = fitting(unlisted, "that belong to no cluster of the list")
    said += [*map(_unlisted, places), *more, *(result.get("unlisted_failed") or ())]
    if has_versions and not is_detailed:
        said.append(_HINT)
    return [*lines, *([""] if lines else []), *said, *([""] if said else []), _counts(targets, result)]


def _cells(one: _Target) -> tuple[str, ...]:
    stored, placed = one.get("secret_manager") or {}, one.get("management_secret") or {}
    versions = _versions(one)
    enabled = sum(1 for version in versions if version["state"] == "enabled")
    held = f"version {placed['version']}" if placed.get("version") else "no version named"
    return (
        str(one["id"]),
        str(stored.get("newest") or "-"),
        f"{len(versions)} ({enabled} enabled)" if versions else "-",
        _whose(stored, "ours"),
        _whose(placed, held),
        "FAILED" if one.get("failed") else "in sync" if one["in_sync"] else "drift",
    )


def _versions(one: _Target) -> Sequence[Mapping[str, Any]]:
    return (one.get("secret_manager") or {}).get("versions") or ()


def _version_lines(targets: Sequence[_Target], has_digests: bool) -> list[str]:
    """Return one line per version, newest first."""
    columns = len(_VERSION_HEADERS) if has_digests else len(_VERSION_HEADERS) - 1
    cells, cut = [_VERSION_HEADERS[:columns]], []
    for one in targets:
        versions, more = fitting(_versions(one), f"versions of {one['id']}")
        cells += [_version_cells(one, version)[:columns] for version in versions]
        cut += more
    return [*aligned(cells), *cut]


def _version_cells(one: _Target, version: Mapping[str, Any]) -> tuple[str, ...]:
    digest = str(version["digest"] or "").rpartition(":")[2][:_DIGITS]
    return str(one["id"]), version["version"], version["state"], version["created"] or "-", digest or "-"


def _whose(found: Mapping[str, Any], ours: str) -> str:
    if "exists" not in found:
        return "not read" if found else "-"
    if not found["exists"]:
        return "absent"
    return f"foreign ({found['owner'] or 'no owner'})" if found["foreign"] else ours


def _unlisted(one: Mapping[str, Any]) -> str:
    owner = f" (cluster {one['cluster_id']})" if one["cluster_id"] else ""
    return f"in no cluster of the list: {one['place']}{owner}"


def _counts(targets: Sequence[_Target], result: Mapping[str, Any]) -> str:
    failed = sum(1 for one in targets if one.get("failed"))
    synced = sum(1 for one in targets if one.get("in_sync"))
    drift = len(targets) - synced - failed
    line = f"{counted(len(targets), 'cluster')}: {synced} in sync, {drift} drift, {failed} failed"
    if result.get("unlisted") is None:
        return line
    return f"{line}; {len(result['unlisted'])} in no cluster of the list"
