# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A callback for tests: each task's result as a line of JSON in the file that TEST_RECORD names."""

from __future__ import annotations

import json
import os
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: record
type: notification
short_description: Record results for tests
description: Writes each task's result as a line of JSON.
"""


class CallbackModule(CallbackBase):  # type: ignore[misc]
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "record"
    CALLBACK_NEEDS_ENABLED = True

    def v2_runner_on_ok(self, result: Any) -> None:
        self._write("ok", result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._write("failed", result)

    def v2_runner_on_skipped(self, result: Any) -> None:
        self._write("skipped", result)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._write("unreachable", result)

    def _write(self, status: str, result: Any) -> None:
        # Renamed in ansible-core 2.19; both are there today, and the old ones warn.
        task = result.task if hasattr(result, "task") else result._task
        data = result.result if hasattr(result, "result") else result._result
        line = {"name": task.get_name(), "action": str(task.action), "status": status, "result": data}
        with open(os.environ["TEST_RECORD"], "a", encoding="utf-8") as stream:
            stream.write(json.dumps(line, default=str) + "\n")
