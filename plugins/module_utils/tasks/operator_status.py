# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The work of ``operator_status``: the status of a custom resource after the role of its kind has run."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

from ..model.managed_object import GROUP, VERSION
from ..model.summary import state_of
from ..workflows.operator.events import report
from ..workflows.operator.status import WAITING, TargetRow, next_status
from ..workflows.options import run_options
from ..workflows.run import Run
from .operator_check import INVALID, managed

__all__ = ["run", "target_options"]


def target_options() -> dict[str, Any]:
    """Return the whole argument spec: the task has no targets."""
    mappings = {"type": "list", "elements": "dict", "default": []}
    return {
        "object": {"type": "dict", "required": True},
        "rows": mappings,
        "results": mappings,
        "problem": {"type": "dict"},
        **run_options(),
    }


def run(
    params: Mapping[str, Any], *, check_mode: bool, diff: bool, stop: threading.Event | None = None
) -> dict[str, Any]:
    """Write the status, and fail if the operator has to repeat the run.

    :raises PullSecretError: the status cannot be written.
    """
    item, kind = managed(params["object"])
    shared = Run(params, "operator", check_mode=check_mode, diff=diff, stop=stop)
    deadline, now = shared.settings.deadline(), time.time()
    is_deleted = item.deletion is not None
    rows = _rows(params)
    if not rows and not is_deleted and not kind.is_fleet:
        rows = [TargetRow(item.name, state=WAITING, detail="nothing is selected")]
    unfinished = [row for row in rows if row.has_failed or (is_deleted and row.state == WAITING)]
    must_repeat = is_deleted and any(row.kind != INVALID for row in unfinished) and not item.is_overdue(now)
    status = next_status(item, rows, kind.noun, now)
    client, message = shared.kubernetes.get(deadline), status["conditions"][0]["message"]
    if not check_mode and (must_repeat or not is_deleted):
        body = {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": kind.name,
            "metadata": {"name": item.name, "namespace": item.namespace},
            "status": status,
        }
        client.apply(item.namespace, kind.resource, body, deadline, dry_run=False, subresource="status")
    if unfinished and not check_mode:
        reason = "LeftBehind" if is_deleted and not must_repeat else "Degraded"
        report(client, item, reason, message, now, deadline)
    result = {"changed": False, "status": status, "failed": must_repeat}
    return {**result, "msg": f"{item} stays, until this is deleted: {message}"} if must_repeat else result


def _rows(params: Mapping[str, Any]) -> list[TargetRow]:
    digests = {str(result.get("id")): str(result.get("digest") or "") for result in params["results"]}
    rows = [_row(row, digests) for row in params["rows"]]
    problem: Mapping[str, Any] = params.get("problem") or {}
    if problem:
        # A report also has a row for each cluster that was not reached.
        rows = [row for row in rows if row.kind != "not_run"]
        rows.append(TargetRow("run", reason=str(problem.get("msg") or "failed"), kind="run_failed"))
    return rows


def _row(row: Mapping[str, Any], digests: Mapping[str, str]) -> TargetRow:
    # Of a report, or of a module's result.
    name = str(row.get("cluster") or row.get("id"))
    nodes = str(row.get("nodes") or "")
    in_sync, _of, wanted = nodes.partition(" of ")
    is_rolling_out = in_sync != wanted
    details = [f"{nodes} nodes have it"] if is_rolling_out else []
    details += (row.get("warnings") or ())[-1:]
    reason = str(row.get("reason") or row.get("msg") or "failed") if row.get("failed") else ""
    if reason and row.get("management_secret") == state_of({}):
        reason += "; its Secret in the management cluster was not tried"
    return TargetRow(
        id=name,
        version=str(row.get("version") or ""),
        digest=digests.get(name, ""),
        state=WAITING if is_rolling_out else str(row.get("state") or ""),
        reason=reason,
        kind=str(row.get("kind") or ""),
        detail="; ".join(map(str, details)),
        is_changed=bool(row.get("changed")),
    )
