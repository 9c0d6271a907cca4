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
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.problems import ClusterError
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.provision import summary_rows
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.table import table

display = Display()

_NAMES = ("clusters", "secret_manager", "management")


class ActionModule(ActionBase):
    """What became of every cluster: a table for people, rows for programs."""

    TRANSFERS_FILES = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Nothing is read or written; see M(hyperfleet.pull_secret.pull_secret_report)."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        # A name stays as it is. What was given in its place may be a secret, and callbacks are shown it.
        self._task.args = quiet(self._task.args)
        dummy, arguments = self.validate_argument_spec(
            argument_spec=dict(
                {option: dict(type="str", required=True) for option in _NAMES},
                show=dict(type="bool", default=True),
            )
        )
        # By name: as arguments, a fleet and its results would be templated and copied value by value.
        named = {option: (task_vars or {}).get(arguments[option]) for option in _NAMES}
        for option, value in named.items():
            # What a module returned holds no templates.
            if value is None or (option != "clusters" and not isinstance(value, Mapping)):
                what = "a variable" if option == "clusters" else "a registered result"
                return {**result, "failed": True, "msg": f"{option} is not the name of {what}"}
        clusters, stored, placed = named.values()
        try:
            rows = summary_rows(self._templar.template(clusters), stored or {}, placed or {})
        except ClusterError as error:
            return {**result, "failed": True, "msg": str(error)}
        if arguments["show"]:
            display.display("\n".join(["", *table(rows, check_mode=self._task.check_mode)]))
        failed = [(row["cluster"], row["reason"]) for row in rows if row["failed"]]
        changed = (row["changed"] and not row["failed"] for row in rows)
        # The two modules have reported the changes; counting them again would double them.
        result.update(changed=False, clusters=rows, summary=counts(len(rows), changed, len(failed)))
        if failed:
            result["msg"] = failure_text(failed, len(rows), "clusters")
        return result
