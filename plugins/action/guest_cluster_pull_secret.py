# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, ClassVar

from ansible.module_utils.parsing.convert_bool import boolean
from ansible.utils.display import Display

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import guest_cluster_pull_secret
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.batch_action import BatchAction
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.guest_table import guest_table

_display = Display()


class ActionModule(BatchAction):
    """Runs M(hyperfleet.pull_secret.guest_cluster_pull_secret), and prints its table."""

    MODULE = "hyperfleet.pull_secret.guest_cluster_pull_secret"
    TASK: ClassVar[ModuleType] = guest_cluster_pull_secret

    def act(
        self, arguments: dict[str, Any], hidden: set[str], task_vars: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Run the module, and print its table if the task asks for it."""
        result = super().act(arguments, hidden, task_vars)
        if "targets" in result and boolean(arguments.get("show_table") or False, strict=False):
            _display.display("\n".join(["", *guest_table(result, check_mode=self._task.check_mode)]))
        return result
