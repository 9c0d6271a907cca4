# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.entry import fitting
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.job.work import GCP, Job
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.options import run_options
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.batch_action import plain

_OPTIONS = ("gcp", "kubernetes", "retry")
display = Display()


class ActionModule(ActionBase):
    """Both workflows for one cluster, configured and logged as seed 003's job is."""

    TRANSFERS_FILES = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """See M(hyperfleet.pull_secret.pull_secret_job)."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        try:
            # By the modules' own specs: their first phase would find out after the job has begun.
            options = plain(self._task.args)
            fitting({name: run_options()[name] for name in _OPTIONS}, options)
        except ConfigurationError as error:
            return {**result, "failed": True, "msg": str(error)}
        job = Job(
            lambda phase, arguments: self._ask(phase, arguments, task_vars),
            display.display,
            check_mode=self._task.check_mode,
        )
        ended = job.run(os.environ, options)
        result["changed"] = ended.changed
        if ended.version is not None:
            result["version"] = ended.version
        if ended.problem is not None:
            return {**result, "failed": True, "msg": ended.problem, "logged": True}
        return result

    def _ask(self, phase: str, arguments: dict[str, Any], task_vars: Any) -> dict[str, Any]:
        """Run one of the modules through its own action plugin."""
        task = self._task.copy()
        task.args = arguments
        module = "gcp_pull_secret" if phase == GCP else "k8s_pull_secret"
        handler = self._shared_loader_obj.action_loader.get(
            f"hyperfleet.pull_secret.{module}",
            task=task,
            connection=self._connection,
            play_context=self._play_context,
            loader=self._loader,
            templar=self._templar,
            shared_loader_obj=self._shared_loader_obj,
        )
        answer: dict[str, Any] = handler.run(task_vars=task_vars)
        return answer
