# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from types import ModuleType
from typing import ClassVar

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import operator_status
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.batch_action import BatchAction


class ActionModule(BatchAction):
    """Runs M(hyperfleet.pull_secret.operator_status)."""

    MODULE = "hyperfleet.pull_secret.operator_status"
    TASK: ClassVar[ModuleType] = operator_status
