# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ansible.utils.display import Display

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.limits import Limits
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.job.work import GCP, Job
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import (
    safely,
    validated_by_spec,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.options import run_options
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.quiet_action import QuietAction

_OPTIONS = ("gcp", "kubernetes", "retry")
display = Display()


class ActionModule(QuietAction):
    """Runs both workflows for one cluster, with the settings and the log of the job contract."""

    def spec(self) -> dict[str, Any]:
        """Return the spec of the connections' options. The modules check their content."""
        options = run_options()
        return {name: options[name] for name in _OPTIONS}

    def act(
        self, arguments: dict[str, Any], hidden: set[str], task_vars: Mapping[str, Any]
    ) -> dict[str, Any]:
        """See M(hyperfleet.pull_secret.pull_secret_job)."""
        return safely(lambda: self._worked(arguments, task_vars))

    def _worked(self, arguments: dict[str, Any], task_vars: Mapping[str, Any]) -> dict[str, Any]:
        # Check the arguments with the modules' specs now. Otherwise they would fail after the job has begun.
        Limits(self.spec()).check(validated_by_spec(self.spec(), arguments))
        job = Job(
            lambda phase, target, run: self._ask(phase, {**target, **run}, task_vars),
            display.display,
            check_mode=self._task.check_mode,
        )
        ended = job.run({**os.environ, **self.task_environment()}, arguments)
        result: dict[str, Any] = {"changed": ended.changed}
        if ended.version is not None:
            result["version"] = ended.version
        if ended.problem is not None:
            return {**result, "failed": True, "msg": ended.problem, "logged": True}
        return result

    def _ask(self, phase: str, arguments: dict[str, Any], task_vars: Mapping[str, Any]) -> dict[str, Any]:
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
