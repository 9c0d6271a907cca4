# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The base class of the collection's action plugins, which keeps secrets out of results and logs.

* Ansible passes a task's arguments to callbacks with the result. They receive arguments without secrets.
* The plugin refuses what would show a secret: a docker config in the wrong option, ``async``, and (with
  ansible-core 2.18) a variable that Ansible would print.
* The item of a loop is part of its result. If the item holds a secret, the result is hidden.
* Finally, the plugin removes ``invocation`` and all forms of the task's secrets from the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ansible.errors import AnsibleError
from ansible.module_utils.common.text.converters import to_text
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ..module_utils.model.shown import MISPLACED
from ..module_utils.runtime.secrecy import Mask, forms_in, misplaced
from ..module_utils.tasks.entry import safely
from ..module_utils.tasks.secret_options import hidden_texts, quiet_arguments
from .playbook_process import ends_with_playbook, finished_first
from .printed_variables import PRINTS_VARIABLES, printed_variables

__all__ = ["QuietAction", "as_module_argument"]

_display = Display()


class QuietAction(ActionBase):
    """An action plugin whose arguments no callback sees, and whose result shows none of their secrets.

    ``MODULE`` is the full name of its module, if it runs one.
    """

    MODULE: ClassVar[str]
    TRANSFERS_FILES = False
    _given: dict[str, Any] | None = None

    def spec(self) -> dict[str, Any]:
        """Return the argument spec, which marks secrets with ``no_log``."""
        raise NotImplementedError

    def act(
        self, arguments: dict[str, Any], hidden: set[str], task_vars: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Do the plugin's own work, and return its result.

        :param arguments: plain dictionaries, lists and scalars.
        :param hidden: the texts that the result must not show; the plugin adds what it reads.
        """
        raise NotImplementedError

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Refuse what would show a secret, or do the work; return the result without secrets."""
        return safely(lambda: self._run(tmp, task_vars), AnsibleError)

    @ends_with_playbook
    def _run(self, tmp: Any, task_vars: Any) -> dict[str, Any]:
        variables: Mapping[str, Any] = task_vars or {}
        arguments = self._taken()
        hidden = forms_in(arguments) | hidden_texts(self.spec(), arguments)
        in_item = self._task.loop is not None and _holds(_looped(variables), hidden)
        if in_item:
            self._task.no_log = True
        result = self._refusal(arguments, hidden, variables)
        if result is None:
            super().run(tmp, task_vars)
            result = self.act(arguments, hidden, variables)
        result.pop("invocation", None)
        shown: dict[str, Any] = Mask(hidden).value(result)
        return self._censored(shown) if in_item else shown

    def task_environment(self) -> dict[str, str]:
        """Return the variables of ``environment`` of the task, its blocks and its play."""
        variables: dict[str, Any] = {}
        self._compute_environment_string(variables)
        return {str(name): to_text(value) for name, value in variables.items()}

    def _execute(self, arguments: dict[str, Any], task_vars: Any) -> dict[str, Any]:
        """Run the module in its own process."""
        # A run of the adapter must keep its directory locked until its module has ended.
        with finished_first():
            result: dict[str, Any] = self._execute_module(
                module_name=self.MODULE, module_args=_Arguments(arguments), task_vars=task_vars
            )
        return result

    def _taken(self) -> dict[str, Any]:
        """Return the task's arguments, which callbacks no longer see."""
        # A retried task runs again with the same action plugin.
        self._given = self._given or dict(self._task.args)
        # ansible-core 2.18 turns a vault into a value that is not a string, which would not be checked.
        arguments: dict[str, Any] = as_module_argument(self._given)
        self._task.args = quiet_arguments(self.spec(), arguments)
        return arguments

    def _refusal(
        self, arguments: Mapping[str, Any], hidden: set[str], task_vars: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        wrong = misplaced(arguments)
        if wrong:
            return _failed(
                f"{', '.join(wrong)}: {MISPLACED}; "
                "nothing was done; give it by reference, or as a string or a mapping in source.inline"
            )
        if self._task.async_val:
            return _failed(
                "async: the task cannot run in the background, since Ansible would write its arguments "
                "to a file; remove async"
            )
        if PRINTS_VARIABLES and not self._task.no_log:
            printed = printed_variables(self._task, task_vars, lambda value: _holds(value, hidden))
            if printed:
                return _failed(
                    f"{', '.join(printed)}: this variable contains both a secret and a template, and "
                    "ansible-core 2.18 prints the whole variable when the template fails; nothing was done; "
                    "keep the secret in a variable of its own, give it by reference, or set no_log on the task"
                )
        return None

    def _censored(self, result: dict[str, Any]) -> dict[str, Any]:
        name = self._task.action.rsplit(".", 1)[-1]
        _display.warning(
            f"{name}: an item of the loop holds a secret, so its result is hidden as with no_log; "
            "use targets, or loop over names"
        )
        if PRINTS_VARIABLES and result.get("failed"):
            # Newer versions print the message of a failed task whose result is hidden.
            _display.error(f"{name}: {result.get('msg')}")
        return {**result, "_ansible_no_log": True}


class _Arguments(dict):  # type: ignore[type-arg]
    """A module's arguments. ansible-core prints them with ANSIBLE_DEBUG, so their ``repr`` shows nothing."""

    def __repr__(self) -> str:
        return "(arguments not shown)"


def _failed(message: str) -> dict[str, Any]:
    return {"failed": True, "msg": message}


def _looped(task_vars: Mapping[str, Any]) -> list[Any]:
    """Return what Ansible adds to the result of an item: the item and, with ``extended``, all items."""
    return [task_vars.get(str(task_vars.get("ansible_loop_var"))), task_vars.get("ansible_loop")]


def _holds(value: Any, hidden: set[str]) -> bool:
    """Return whether a value holds a docker config, or one of these texts."""
    given = as_module_argument(value)
    return bool(forms_in(given)) or Mask(hidden).value(given) != given


def as_module_argument(value: Any) -> Any:
    """Return the value as a module receives it, without Ansible's own types of strings, lists and dictionaries."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Mapping):
        return {as_module_argument(key): as_module_argument(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_module_argument(item) for item in value]
    # A date from YAML, or a value from a vault.
    return value.isoformat() if hasattr(value, "isoformat") else to_text(value)
