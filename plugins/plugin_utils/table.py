# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table that a run ends with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["table"]

_HEADERS = ("CLUSTER", "VERSION", "SECRET MANAGER", "MANAGEMENT SECRET", "RESULT")
# A fleet's table has to fit on a screen: what changed or failed is shown, up to this many rows.
_ROWS = 40


def table(rows: Sequence[Mapping[str, Any]], *, check_mode: bool = False) -> list[str]:
    """Lines for people: a small fleet whole, of a large one what changed or failed."""
    shown = list(rows) if len(rows) <= _ROWS else [row for row in rows if row["failed"] or row["changed"]]
    cut = shown[:_ROWS]
    cells = [_HEADERS] + [_cells(row) for row in cut]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEADERS) - 1)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(line, widths)), line[-1]]).rstrip()
        for line in cells
    ]
    if not cut:
        lines = []
    if len(shown) > len(cut):
        lines.append(f"... and {len(shown) - len(cut)} more that changed or failed")
    for row in cut:
        if row["failed"]:
            lines += ["", f"{row['cluster']} failed: {row['reason']}"]
    warned = [(row["cluster"], text) for row in cut for text in row["warnings"]]
    if warned:
        lines.append("")
        lines += [f"{cluster} warning: {text}" for cluster, text in warned]
    return [*lines, *([""] if lines else []), _counts(rows, check_mode)]


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    result = "FAILED" if row["failed"] else "changed" if row["changed"] else "ok"
    return (
        str(row["cluster"]),
        str(row["version"] or "-"),
        str(row["secret_manager"]),
        str(row["management_secret"]),
        result,
    )


def _counts(rows: Sequence[Mapping[str, Any]], check_mode: bool) -> str:
    changed = sum(1 for row in rows if row["changed"] and not row["failed"])
    failed = sum(1 for row in rows if row["failed"])
    # Workflow 1 went well and workflow 2 did not: neither unchanged nor done.
    half = sum(1 for row in rows if row["changed"] and row["failed"])
    verb = "would change" if check_mode else "changed"
    apart = f" ({half} after a change in Secret Manager)" if half else ""
    return f"{len(rows)} cluster{'' if len(rows) == 1 else 's'}: {changed} {verb}, {failed} failed{apart}"
