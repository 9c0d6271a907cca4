# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The base class of both workflows' reports: reads variables by name, prints a table and returns one result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ansible.utils.display import Display

from ..module_utils.model.errors import ConfigurationError
from ..module_utils.model.summary import counts, failure_text
from ..module_utils.tasks.entry import validated_by_spec
from .problems import ClusterError
from .quiet_action import QuietAction
from .table import PROVISION, Columns, table
from .variables import VariableError, value_of

__all__ = ["ReportAction"]

_display = Display()


class ReportAction(QuietAction):
    """The action plugin of a report.

    ``VARIABLES`` are its options that name variables. ``OPTIONAL`` are the optional ones of them, and ``RESULTS``
    those that name registered results.
    """

    VARIABLES: ClassVar[tuple[str, ...]]
    OPTIONAL: ClassVar[tuple[str, ...]] = ()
    RESULTS: ClassVar[tuple[str, ...]]
    COLUMNS: ClassVar[Columns] = PROVISION

    def rows(self, named: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return one row per cluster.

        :param named: the named variables; None for one that was left out.
        :raises ClusterError: there is no list of clusters.
        """
        raise NotImplementedError

    def spec(self) -> dict[str, Any]:
        """Return the spec of the options: names of variables, and whether to print the table."""
        named = {
            option: {"type": "str", "required": option not in self.OPTIONAL}
            for option in (*self.VARIABLES, *self.RESULTS)
        }
        return {**named, "show": {"type": "bool", "default": True}}

    def act(
        self, arguments: dict[str, Any], hidden: set[str], task_vars: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Evaluate the named variables, and return and print the report."""
        try:
            return self._reported(validated_by_spec(self.spec(), arguments), task_vars)
        except VariableError as error:
            return {"failed": True, "msg": error.message}
        except (ConfigurationError, ClusterError) as error:
            return {"failed": True, "msg": str(error)}

    def _reported(self, arguments: Mapping[str, Any], task_vars: Mapping[str, Any]) -> dict[str, Any]:
        named: dict[str, Any] = {}
        for option in (*self.VARIABLES, *self.RESULTS):
            # As arguments instead of names, Ansible would template and copy every value of a fleet's results.
            value = task_vars.get(arguments[option]) if arguments[option] else None
            is_result = option in self.RESULTS
            # An optional variable that is null counts as not given.
            missing = value is None and not (option in self.OPTIONAL and arguments[option] in task_vars)
            if (missing and arguments[option]) or (is_result and not isinstance(value, Mapping)):
                what = "a registered result" if is_result else "a variable"
                return {"failed": True, "msg": f"{option} must be the name of {what}"}
            named[option] = value
        # A module's result holds no templates.
        named.update(
            (option, value_of(arguments[option], task_vars, self._templar))
            for option in self.VARIABLES
            if arguments[option]
        )
        rows = self.rows(named)
        if arguments["show"]:
            lines = table(rows, check_mode=self._task.check_mode, columns=self.COLUMNS)
            _display.display("\n".join(["", *lines]))
        failed = [(row["cluster"], row["reason"]) for row in rows if row["failed"]]
        changed = (row["changed"] and not row["failed"] for row in rows)
        # The modules have reported the changes; reporting them again would count them twice.
        result = {"changed": False, "clusters": rows, "summary": counts(len(rows), changed, len(failed))}
        if failed:
            result["msg"] = failure_text(failed, len(rows), "clusters")
        return result
