# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules' tasks in this process, against a stand-in."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import validated
from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.support.kubernetes.running import FAST_RETRY

MANDATORY = {"Applied": "True", "Available": "True", "Health": "True", "Finalized": "False"}


def run(
    task: ModuleType,
    lab: HyperFleetLab,
    params: dict[str, Any],
    *,
    check_mode: bool = False,
    diff: bool = False,
) -> dict[str, Any]:
    """The result that the module would end with."""
    flavour = {"today": "current", "seed": "contract"}[lab.options.flavour]
    given = {
        "retry": FAST_RETRY,
        "timeout": 20,
        "hyperfleet": {"url": lab.url, "flavour": flavour},
        **params,
    }
    # As JSON, as Ansible sends it: the validator fills in nested options in place.
    options = validated(task.target_options, json.loads(json.dumps(given)))
    result: dict[str, Any] = task.run(options, check_mode=check_mode, diff=diff)
    json.dumps(result)
    return result


def conditions(**statuses: str) -> list[dict[str, str]]:
    """The four conditions, those given with another status."""
    return [
        {"type": kind, "status": status, "reason": "Tested", "text": "said"}
        for kind, status in {**MANDATORY, **statuses}.items()
    ]
