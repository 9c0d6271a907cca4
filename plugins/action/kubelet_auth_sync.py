# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any, ClassVar

from ansible.errors import AnsibleConnectionFailure

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import sensitive_forms
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import kubelet_auth_sync
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import (
    safely,
    validated_by_spec,
    without_stderr,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.batch_action import (
    BatchAction,
    with_digest_key,
)

# The controller reads the docker config with these options; a node must not receive them.
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.playbook_process import leave_if_gone

_HERE_ONLY = ("layers", "precedence", "policy", "drop", "strict", "gcp", "kubernetes", "hyperfleet", "retry")


class ActionModule(BatchAction):
    """Reads the docker config on the controller, by reference, and passes it to the node's module over a pipe.

    See M(hyperfleet.pull_secret.kubelet_auth_sync).
    """

    MODULE = "hyperfleet.pull_secret.kubelet_auth_sync"
    TASK: ClassVar[ModuleType] = kubelet_auth_sync

    def spec(self) -> dict[str, Any]:
        """Return the module's argument spec."""
        return kubelet_auth_sync.spec()

    def act(
        self, arguments: dict[str, Any], hidden: set[str], task_vars: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Run the module on the node."""

        def work() -> dict[str, Any]:
            # It expands variables in paths.
            with self._in_task_environment():
                params = validated_by_spec(self.spec(), arguments)
            given = with_digest_key(
                {name: value for name, value in arguments.items() if name not in _HERE_ONLY}
            )
            if params["state"] != "present":
                given.pop("source", None)
                return self._execute(given, task_vars)
            if not self._is_pipelining_enabled("new"):
                return {
                    "failed": True,
                    "msg": "this task needs pipelining on the connection to the node, and "
                    "ANSIBLE_KEEP_REMOTE_FILES off; otherwise Ansible would write the docker config to a file on "
                    "the node; enable pipelining",
                }
            with self._in_task_environment(), without_stderr():
                config, origins = kubelet_auth_sync.resolve(params)
            text = config.canonical().decode("utf-8")
            hidden.update(sensitive_forms(text))
            leave_if_gone()
            result = self._execute({**given, "source": {"inline": text}}, task_vars)
            return kubelet_auth_sync.with_layers(result, origins)

        return safely(work, AnsibleConnectionFailure)

    @contextmanager
    def _in_task_environment(self) -> Iterator[None]:
        """Give this process the task's ``environment`` while it does work of its own.

        Ansible gives it to a module's process only. Processes that Ansible starts must not inherit it: the PATH of
        a node is not that of the controller's ssh.
        """
        variables = self.task_environment()
        before = {name: os.environ.get(name) for name in variables}
        try:
            os.environ.update(variables)
            yield
        finally:
            # Threads of a client may read the other variables meanwhile.
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
