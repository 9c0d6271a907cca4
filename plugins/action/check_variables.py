# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from ansible.utils.vars import load_extra_vars

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.entry import validated_by_spec
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.secrecy import shown
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.misspelt import (
    is_referred_to,
    meant,
    nearest,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.quiet_action import QuietAction
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.role_options import (
    options_of,
    registered_by,
    wrong_options,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.variables import unusable

_SHOWN = 50


class ActionModule(QuietAction):
    """Refuses wrong and unknown variables; see M(hyperfleet.pull_secret.check_variables)."""

    _requires_connection = False

    def spec(self) -> dict[str, Any]:
        """The names of what is checked."""
        return {
            "role": {"type": "str"},
            "playbook": {"type": "list", "elements": "str"},
            "prefix": {"type": "str"},
        }

    def act(
        self, arguments: dict[str, Any], hidden: set[str], task_vars: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Nothing is read or written but the role's own description."""
        try:
            given = validated_by_spec(self.spec(), arguments)
            problems = list(dict.fromkeys(self._problems(given, task_vars)))
        except ConfigurationError as error:
            problems = [str(error)]
        if problems:
            more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
            return {"failed": True, "msg": "; ".join(problems[:_SHOWN]) + more}
        return {"changed": False}

    def _problems(self, arguments: Mapping[str, Any], variables: Mapping[str, Any]) -> Iterator[str]:
        role, playbook = arguments["role"], arguments["playbook"]
        options = options_of(role) if role else {}
        if playbook is None:
            yield from wrong_options(options, variables, self._templar)
            role_of_task = self._task._role
            addressed = {**role_of_task.vars, **role_of_task.get_role_params()} if role_of_task else {}
            wrong = dict(_misspelt(variables, options))
        else:
            yield from unusable(playbook, variables, self._templar)
            addressed, wrong = load_extra_vars(self._loader), {}
        known = {*options, *(playbook or ())}
        prefix = arguments["prefix"] or (f"{role}_" if role else None)
        wrong.update(_astray(addressed, known, prefix))
        results = registered_by(role) if role else set()
        for name, better in wrong.items():
            if name not in results and not is_referred_to(name, variables):
                yield f"{shown(name)}: unknown variable; did you mean {better}?"


def _misspelt(variables: Iterable[Any], known: Collection[str]) -> Iterator[tuple[str, str]]:
    for name in variables:
        near = meant(name, known) if isinstance(name, str) else None
        if near is not None:
            yield name, near


def _astray(
    addressed: Iterable[Any], known: Collection[str], prefix: str | None
) -> Iterator[tuple[str, str]]:
    yield from _misspelt(addressed, known)
    for name in addressed:
        if prefix and known and isinstance(name, str) and name.startswith(prefix) and name not in known:
            yield name, meant(name, known) or nearest(name, known)
