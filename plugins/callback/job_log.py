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
  - M(hyperfleet.pull_secret.pull_secret_job) prints its log by itself. This plugin hides Ansible's own output
    and writes each line when it is logged.
  - A failure outside of that log, such as in a template, is printed as an entry of the log.
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

import io
import os
import sys
from contextlib import suppress
from typing import Any

from ansible.plugins.callback import CallbackBase

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.job.log import render


class CallbackModule(CallbackBase):
    """Prints only failures that nothing else has logged."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "hyperfleet.pull_secret.job_log"

    def __init__(self) -> None:
        """Have each line written at once: into a container's pipe Python would keep them until the end."""
        super().__init__()
        if sys.stdout is None:
            # The job was started without it; Ansible would end its own thread at the first line.
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the process ends
        elif isinstance(sys.stdout, io.TextIOWrapper):
            _write_lines(sys.stdout)

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


def _write_lines(stream: io.TextIOWrapper) -> None:
    """Flush each line.  That nobody reads them any more ends neither the work nor, for ever, the process.

    Ansible stops listening to its workers at the first error of a write, and waits for them. What could not
    be written stays in the buffer, so that Python tells of it with an exit code of 120.
    """
    write = stream.write

    def guarded(text: str) -> int:
        with suppress(OSError):
            return write(text)
        return len(text)

    stream.reconfigure(line_buffering=True)
    stream.write = guarded  # type: ignore[method-assign]
