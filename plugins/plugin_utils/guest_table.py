# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of ``guest_cluster_pull_secret``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .table import ROWS, aligned, counted, fitting

__all__ = ["guest_table"]

_HEADERS = ("GUEST", "STATE", "ACTIONS", "RESULT")
_STATES = ("delivered", "repaired", "waiting", "pruned", "skipped")


def guest_table(result: Mapping[str, Any], *, check_mode: bool) -> list[str]:
    """Return the lines of the table.

    A small fleet has all its guests there, a large one those that changed, failed or have warnings.

    :param result: the module's result.
    """
    guests: Sequence[Mapping[str, Any]] = result.get("targets") or ()
    if len(guests) > ROWS:
        # Those that failed, however many others only warn.
        guests = sorted(guests, key=lambda guest: (not guest.get("failed"), not guest["changed"]))
    shown, more = fitting(
        guests,
        "that changed, failed or have warnings",
        lambda guest: bool(guest["changed"] or guest.get("failed") or guest.get("warnings")),
    )
    lines = [*(aligned([_HEADERS, *map(_cells, shown)]) if shown else []), *more]
    texts = [f"{guest['id']} failed: {guest['msg']}" for guest in shown if guest.get("failed")]
    texts += [f"{guest['id']} warning: {text}" for guest in shown for text in guest.get("warnings") or ()]
    texts += result.get("notes") or ()
    return [*lines, *([""] if lines else []), *texts, *([""] if texts else []), _counts(guests, check_mode)]


def _cells(guest: Mapping[str, Any]) -> tuple[str, ...]:
    is_failed = bool(guest.get("failed"))
    state = "failed" if is_failed else str(guest["state"])
    outcome = "FAILED" if is_failed else "changed" if guest["changed"] else "ok"
    return str(guest["id"]), state, ", ".join(guest.get("actions") or ()) or "-", outcome


def _counts(guests: Sequence[Mapping[str, Any]], check_mode: bool) -> str:
    failed = sum(1 for guest in guests if guest.get("failed"))
    changed = sum(1 for guest in guests if guest["changed"] and not guest.get("failed"))
    states = [guest["state"] for guest in guests if not guest.get("failed")]
    parts = [f"{states.count(state)} {state}" for state in _STATES if state in states]
    verbs = ("would change", "would fail") if check_mode else ("changed", "failed")
    return f"{counted(len(guests), 'guest')}: " + ", ".join(
        [*parts, f"{changed} {verbs[0]}", f"{failed} {verbs[1]}"]
    )
