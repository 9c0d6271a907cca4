# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.secrecy import quiet
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.summary import counts, failure_text
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.hosted import hosted_rows
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.problems import ClusterError
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.table import HOSTED, table

display = Display()


class ActionModule(ActionBase):
    """What became of every hosted cluster: a table for people, rows for programs."""

    TRANSFERS_FILES = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Nothing is read or written; see M(hyperfleet.pull_secret.hosted_cluster_report)."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        # A name stays as it is. What was given in its place may be a secret, and callbacks are shown it.
        self._task.args = quiet(self._task.args)
        dummy, arguments = self.validate_argument_spec(
            argument_spec=dict(
                clusters=dict(type="str", required=True),
                defaults=dict(type="str"),
                result=dict(type="str", required=True),
                show=dict(type="bool", default=True),
            )
        )
        # By name: as arguments, a fleet and its results would be templated and copied value by value.
        variables = task_vars or {}
        clusters, done = variables.get(arguments["clusters"]), variables.get(arguments["result"])
        defaults = variables.get(arguments["defaults"]) if arguments["defaults"] else None
        if clusters is None or (arguments["defaults"] and defaults is None):
            name = "clusters" if clusters is None else "defaults"
            return {**result, "failed": True, "msg": f"{name} is not the name of a variable"}
        # What a module returned holds no templates.
        if not isinstance(done, Mapping):
            return {**result, "failed": True, "msg": "result is not the name of a registered result"}
        try:
            rows = hosted_rows(self._templar.template(clusters), done, self._templar.template(defaults))
        except ClusterError as error:
            return {**result, "failed": True, "msg": str(error)}
        if arguments["show"]:
            check_mode = self._task.check_mode
            display.display("\n".join(["", *table(rows, check_mode=check_mode, columns=HOSTED)]))
        failed = [(row["cluster"], row["reason"]) for row in rows if row["failed"]]
        changed = (row["changed"] and not row["failed"] for row in rows)
        # The module has reported the changes; counting them again would double them.
        result.update(changed=False, clusters=rows, summary=counts(len(rows), changed, len(failed)))
        if failed:
            result["msg"] = failure_text(failed, len(rows), "clusters")
        return result
