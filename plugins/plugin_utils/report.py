# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the reports of both workflows share: variables by name in, a table and one result out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.secrecy import quiet
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.summary import counts, failure_text
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.problems import ClusterError
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.table import PROVISION, Columns, table

__all__ = ["ReportAction"]

display = Display()


class ReportAction(ActionBase):
    """The action plugin of a report.

    ``VARIABLES`` are its options that name variables, ``OPTIONAL`` those of them that may be left out, and
    ``RESULTS`` those that name registered results.
    """

    VARIABLES: ClassVar[tuple[str, ...]]
    OPTIONAL: ClassVar[tuple[str, ...]] = ()
    RESULTS: ClassVar[tuple[str, ...]]
    COLUMNS: ClassVar[Columns] = PROVISION
    TRANSFERS_FILES = False

    def rows(self, named: Mapping[str, Any]) -> list[dict[str, Any]]:
        """One row a cluster.

        :param named: what the options name; None for one that was left out.
        :raises ClusterError: there is no list of clusters.
        """
        raise NotImplementedError

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Nothing is read or written."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        # A name stays as it is. What was given in its place may be a secret, and callbacks are shown it.
        self._task.args = quiet(self._task.args)
        options = (*self.VARIABLES, *self.RESULTS)
        spec: dict[str, Any] = {
            option: dict(type="str", required=option not in self.OPTIONAL) for option in options
        }
        dummy, arguments = self.validate_argument_spec(
            argument_spec=dict(spec, show=dict(type="bool", default=True))
        )
        named: dict[str, Any] = {}
        for option in options:
            # By name: as arguments, a fleet and its results would be templated and copied value by value.
            value = (task_vars or {}).get(arguments[option]) if arguments[option] else None
            is_result = option in self.RESULTS
            if (value is None and arguments[option]) or (is_result and not isinstance(value, Mapping)):
                what = "a registered result" if is_result else "a variable"
                return {**result, "failed": True, "msg": f"{option} is not the name of {what}"}
            named[option] = value
        # What a module returned holds no templates.
        named.update((option, self._templar.template(named[option])) for option in self.VARIABLES)
        try:
            rows = self.rows(named)
        except ClusterError as error:
            return {**result, "failed": True, "msg": str(error)}
        if arguments["show"]:
            lines = table(rows, check_mode=self._task.check_mode, columns=self.COLUMNS)
            display.display("\n".join(["", *lines]))
        failed = [(row["cluster"], row["reason"]) for row in rows if row["failed"]]
        changed = (row["changed"] and not row["failed"] for row in rows)
        # The modules have reported the changes; counting them again would double them.
        result.update(changed=False, clusters=rows, summary=counts(len(rows), changed, len(failed)))
        if failed:
            result["msg"] = failure_text(failed, len(rows), "clusters")
        return result
