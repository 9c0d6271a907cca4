# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Summarises many results: counts, and a sentence that names the first failures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["counts", "failure_text", "failures", "not_run", "state_of", "whole"]

_SHOWN = 5


def counts(total: int, changed: Iterable[Any], failed: int) -> dict[str, int]:
    """Return a ``summary``.

    :param changed: a true value for each changed one.
    """
    return {"total": total, "changed": sum(1 for one in changed if one), "failed": failed}


def failure_text(failed: Sequence[tuple[str, str]], total: int, what: str, rest: str = "") -> str:
    """Return ``2 of 7 targets failed: a: why; b: why``.

    :param failed: name and reason of each.
    :param rest: where the others are listed, as `` in failed_targets``.
    """
    shown = "; ".join(f"{name}: {reason}" for name, reason in failed[:_SHOWN])
    more = f"; and {len(failed) - _SHOWN} more{rest}" if len(failed) > _SHOWN else ""
    return f"{len(failed)} of {total} {what} failed: {shown}{more}"


def failures(results: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the entries of ``failed_targets``."""
    return [
        {name: result[name] for name in ("id", "place", "kind", "msg")}
        for result in results
        if result.get("failed")
    ]


def not_run(said: str) -> dict[str, str]:
    """Return why a target has no result.

    :param said: what ended the task before it handled the target.
    """
    return {"kind": "not_run", "msg": f"not reached: {said}"}


def state_of(result: Mapping[str, Any]) -> str:
    """Return the state of a target in a table; empty if the task did not handle the target."""
    if not result:
        return "not reached"
    done = list(result.get("actions") or ())
    if result.get("failed"):
        return ", ".join([*done, "failed"])
    return ", ".join(done) or "unchanged"


def whole(results: list[dict[str, Any]], diffs: Sequence[Any] = ()) -> dict[str, Any]:
    """Return a batch module's result from its targets' results."""
    failed = failures(results)
    answer: dict[str, Any] = {
        "changed": any(result["changed"] for result in results),
        "targets": results,
        "failed_targets": failed,
        "summary": counts(len(results), (result["changed"] for result in results), len(failed)),
    }
    if diffs:
        answer["diff"] = list(diffs)
    if failed:
        named = [(str(entry["id"]), str(entry["msg"])) for entry in failed]
        answer["failed"] = True
        # A task with one target has its failure.
        answer["msg"] = (
            named[0][1]
            if len(results) == 1
            else failure_text(named, len(results), "targets", " in failed_targets")
        )
    return answer
