# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.secrecy import quiet
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.provision import summary_rows
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.table import table

display = Display()

_SHOWN = 5


class ActionModule(ActionBase):
    """What became of every cluster: a table for people, rows for programs."""

    TRANSFERS_FILES = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Nothing is read or written; see M(hyperfleet.pull_secret.pull_secret_report)."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _validated, arguments = self.validate_argument_spec(
            argument_spec=dict(
                clusters=dict(type="list", elements="dict", required=True),
                secret_manager=dict(type="dict", required=True),
                management=dict(type="dict", required=True),
                show=dict(type="bool", default=True),
            )
        )
        # Callbacks are given the task's arguments with its result; a cluster's source may be inline.
        self._task.args = quiet(self._task.args)
        rows = summary_rows(arguments["clusters"], arguments["secret_manager"], arguments["management"])
        if arguments["show"]:
            display.display("\n".join(["", *table(rows, check_mode=self._task.check_mode)]))
        failed = [row for row in rows if row["failed"]]
        # The two modules have reported the changes; counting them again would double them.
        result.update(
            changed=False,
            clusters=rows,
            summary={
                "total": len(rows),
                "changed": sum(1 for row in rows if row["changed"]),
                "failed": len(failed),
            },
        )
        if failed:
            first = "; ".join(f"{row['cluster']}: {row['reason']}" for row in failed[:_SHOWN])
            more = f"; and {len(failed) - _SHOWN} more" if len(failed) > _SHOWN else ""
            result["msg"] = f"{len(failed)} of {len(rows)} clusters failed: {first}{more}"
        return result
