# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Running a task's function in this process, with parameters validated as Ansible validates them."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.options import with_targets

# The real delays of 1 s and more would only make the tests slow.
FAST_RETRY = {"tries": 5, "delay": 0.01, "max_delay": 0.02}


def run_task(
    task: ModuleType, params: dict[str, Any], *, check_mode: bool = False, diff: bool = False
) -> dict[str, Any]:
    """The result that the module would end with."""
    # As JSON, as Ansible sends it: the validator fills in nested options in place.
    given = json.loads(json.dumps({"retry": FAST_RETRY, "timeout": 20, **params}))
    validated = ArgumentSpecValidator(with_targets(task.target_options())).validate(given)
    assert not validated.error_messages, validated.error_messages
    result: dict[str, Any] = task.run(validated.validated_parameters, check_mode=check_mode, diff=diff)
    return result
