# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import cloud_event
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.quiet_action import QuietAction


class ActionModule(QuietAction):
    """Runs M(hyperfleet.pull_secret.cloud_event) on the task's host."""

    MODULE = "hyperfleet.pull_secret.cloud_event"

    def spec(self) -> dict[str, Any]:
        """Return the module's argument spec."""
        return cloud_event.spec()

    def act(
        self, arguments: dict[str, Any], hidden: set[str], task_vars: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Run the module."""
        return self._execute(arguments, task_vars)
