# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Callable, NamedTuple, TypeVar

__all__ = ["HOSTED", "PROVISION", "ROWS", "Columns", "aligned", "counted", "fitting", "table"]

_Row = TypeVar("_Row")


class Columns(NamedTuple):
    """The columns between a cluster's name and its result: header to key of a row.

    :param half: a system that may have changed before a failure, to a function that says whether a row shows that.
    """

    headers: Mapping[str, str]
    half: Mapping[str, Callable[[Mapping[str, Any]], bool]]


def _is_in_management(action: str) -> bool:
    return action.startswith("management: ")


PROVISION = Columns(
    {"VERSION": "version", "SECRET MANAGER": "secret_manager", "MANAGEMENT SECRET": "management_secret"},
    {
        "in Secret Manager": lambda row: not all(map(_is_in_management, row["actions"])),
        "in the management cluster": lambda row: any(map(_is_in_management, row["actions"])),
    },
)
HOSTED = Columns(
    {"ADDITIONAL": "additional", "GLOBAL SECRET": "global_secret", "NODES": "nodes"},
    {"in the hosted cluster": lambda row: bool(row["changed"])},
)
# Maximum rows, because a fleet's table must fit on a screen. A larger table has only changed and failed clusters.
ROWS = 40


def table(
    rows: Sequence[Mapping[str, Any]], *, check_mode: bool = False, columns: Columns = PROVISION
) -> list[str]:
    """Return the table: all clusters of a small fleet, or those of a large one that changed or failed."""
    cut, more = fitting(rows, "that changed or failed", lambda row: row["failed"] or row["changed"])
    headers = ("CLUSTER", *columns.headers, "RESULT")
    cells = [headers] + [_cells(row, columns) for row in cut]
    lines = [*(aligned(cells) if cut else []), *more]
    for row in cut:
        if row["failed"]:
            lines += ["", f"{row['cluster']} failed: {row['reason']}"]
    warned = [(row["cluster"], text) for row in cut for text in row["warnings"]]
    if warned:
        lines.append("")
        lines += [f"{cluster} warning: {text}" for cluster, text in warned]
    return [*lines, *([""] if lines else []), _counts(rows, check_mode, columns)]


def fitting(
    rows: Sequence[_Row], what: str, is_wanted: Callable[[_Row], bool] = lambda _row: True
) -> tuple[list[_Row], list[str]]:
    """Return the rows that fit on a screen, and a line that counts those that do not, if there are any.

    :param what: describes the rows that do not fit, such as ``that changed or failed``.
    :param is_wanted: which rows are shown if not all of them fit.
    """
    shown = list(rows) if len(rows) <= ROWS else [row for row in rows if is_wanted(row)]
    left = len(shown) - ROWS
    return shown[:ROWS], [f"... and {left} more {what}"] if left > 0 else []


def counted(number: int, noun: str) -> str:
    """Return ``1 cluster`` or ``2 clusters``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def aligned(cells: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table. The last column is not padded."""
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]) - 1)]
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(line, widths)), line[-1]]).rstrip()
        for line in cells
    ]


def _cells(row: Mapping[str, Any], columns: Columns) -> tuple[str, ...]:
    result = "FAILED" if row["failed"] else "changed" if row["changed"] else "ok"
    return (str(row["cluster"]), *(str(row[key] or "-") for key in columns.headers.values()), result)


def _counts(rows: Sequence[Mapping[str, Any]], check_mode: bool, columns: Columns) -> str:
    changed = sum(1 for row in rows if row["changed"] and not row["failed"])
    failed = sum(1 for row in rows if row["failed"])
    verbs = ("would change", "would fail") if check_mode else ("changed", "failed")
    # For example, the first step succeeded and the second did not: neither unchanged nor done.
    done = [
        (where, sum(1 for row in rows if row["failed"] and was_done(row)))
        for where, was_done in columns.half.items()
    ]
    apart = ", ".join(f"{number} after a change {where}" for where, number in done if number)
    line = f"{counted(len(rows), 'cluster')}: {changed} {verbs[0]}, {failed} {verbs[1]}"
    return f"{line} ({apart})" if apart else line
