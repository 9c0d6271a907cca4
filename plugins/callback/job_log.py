# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: job_log
type: stdout
short_description: Print nothing but the structured log of a job
version_added: 0.1.0
description:
  - For the playbook C(hyperfleet.pull_secret.job) in a container.
    M(hyperfleet.pull_secret.pull_secret_job) prints its log by
    itself; this keeps Ansible's own lines away from it, and has each line written when it is logged.
  - What fails outside of that log, such as a template, is printed as an entry of it.
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

import sys
from typing import Any

from ansible.plugins.callback import CallbackBase

from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.job import render


class CallbackModule(CallbackBase):
    """Silent but for failures that nobody else has told."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "hyperfleet.pull_secret.job_log"

    def __init__(self) -> None:
        """Have each line written at once: into a container's pipe Python would keep them until the end."""
        super().__init__()
        reconfigure = getattr(sys.stdout, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(line_buffering=True)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        """What the job has logged by itself it marks as logged."""
        if not ignore_errors and not result._result.get("logged"):
            self._tell(result)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """Never expected on the machine itself."""
        self._tell(result)

    def v2_playbook_on_no_hosts_matched(self) -> None:
        """The inventory does not have localhost, so nothing ran."""
        self._print("no hosts matched: nothing was done")

    def _tell(self, result: Any) -> None:
        # The message only: a task's whole result may hold anything.
        self._print(str(result._result.get("msg") or "the task failed"))

    def _print(self, message: str) -> None:
        line = render({"level": "error", "phase": "ansible", "message": message}, level="info", form="json")
        if line is not None:
            self._display.display(line)
