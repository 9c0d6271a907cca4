# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules' tasks in this process, against a stand-in."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.support.kubernetes.running import run_task

MANDATORY = {"Applied": "True", "Available": "True", "Health": "True", "Finalized": "False"}


def run(
    task: ModuleType,
    lab: HyperFleetLab,
    params: dict[str, Any],
    *,
    check_mode: bool = False,
    diff: bool = False,
) -> dict[str, Any]:
    """The module's result."""
    flavour = {"today": "current", "seed": "contract"}[lab.options.flavour]
    given = {"hyperfleet": {"url": lab.url, "flavour": flavour}, **params}
    return run_task(task, given, check_mode=check_mode, diff=diff)


def conditions(**statuses: str) -> list[dict[str, str]]:
    """The four conditions; the arguments change their statuses."""
    return [
        {"type": kind, "status": status, "reason": "Tested", "text": "said"}
        for kind, status in {**MANDATORY, **statuses}.items()
    ]
