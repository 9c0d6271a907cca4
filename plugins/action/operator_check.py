# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import contextlib
from types import ModuleType
from typing import ClassVar

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.library import (
    import_library,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import PullSecretError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import operator_check
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.batch_action import BatchAction

# Ansible loads this file in the process that forks one for each task, and all of these need the library. If it is
# missing, the tasks say so.
with contextlib.suppress(PullSecretError):
    import_library()


class ActionModule(BatchAction):
    """Runs M(hyperfleet.pull_secret.operator_check)."""

    MODULE = "hyperfleet.pull_secret.operator_check"
    TASK: ClassVar[ModuleType] = operator_check
