# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Callable

from ansible.utils.vars import load_extra_vars

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.misspelt import (
    meant,
    meant_or_cut,
    nearest,
    slip_of,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.shown import shown
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import validated_by_spec
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.clusters import OTHER_WORDS
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.given_clusters import (
    Read,
    nothing_to_do,
    wrong_choice,
    wrong_clusters,
    wrong_directory,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.quiet_action import QuietAction
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.role_options import (
    known_names,
    options_of_run,
    registered_by,
    role_variables,
    wrong_options,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.templates import is_referred_to
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.variables import (
    named,
    unusable,
    value_of,
)

_SHOWN = 50


class ActionModule(QuietAction):
    """Refuses wrong and unknown variables; see M(hyperfleet.pull_secret.check_variables)."""

    _requires_connection = False

    def spec(self) -> dict[str, Any]:
        """The names of what is checked."""
        names = {"type": "list", "elements": "str"}
        return {
            "role": {"type": "str"},
            "playbook": names,
            "of_role": {"type": "bool", "default": False},
            "prefix": {"type": "str"},
            "of_play": {**names, "default": []},
            "clusters": {"type": "str"},
            "clusters_dir": {"type": "str"},
            "of_cluster": {**names, "default": []},
            "empty_with": {"type": "str"},
        }

    def act(
        self, arguments: dict[str, Any], hidden: set[str], task_vars: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Nothing is read or written but the role's own description."""
        try:
            given = validated_by_spec(self.spec(), arguments)
            _check_names(given)
            read = functools.cache(lambda name: value_of(name, task_vars, self._templar))
            problems = list(dict.fromkeys(self._problems(given, task_vars, read)))
            if given["of_cluster"] and not problems:
                lists = [name for name in (given["clusters"], given["clusters_dir"]) if name]
                problems = list(wrong_choice(given["of_cluster"], lists, read))
        except ConfigurationError as error:
            problems = [str(error)]
        if problems:
            more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
            return {"failed": True, "msg": "; ".join(problems[:_SHOWN]) + more}
        name, other = given["clusters"], given["empty_with"]
        warnings = list(nothing_to_do(name, other, task_vars, read)) if name else []
        return {"changed": False, **({"warnings": warnings} if warnings else {})}

    def _problems(
        self, arguments: Mapping[str, Any], variables: Mapping[str, Any], read: Read
    ) -> Iterator[str]:
        role, playbook = arguments["role"], arguments["playbook"]
        options = role_variables(role) if role else {}
        extra = load_extra_vars(self._loader)
        if playbook is None:
            yield from wrong_options(options, f"{role}_", read)
            addressed = self._role_parameters()
        else:
            yield from unusable(playbook, read)
            # The role, if there is one, checks its other variables itself, unless its check is left out. Its list
            # of clusters is one of the playbook's variables.
            own = {
                name: spec
                for name, spec in options.items()
                if name in playbook or (arguments["of_role"] and spec.get("elements") != "raw")
            }
            yield from wrong_options(own, f"{role}_", read)
            prefix = arguments["prefix"]
            if prefix:
                run = options_of_run(playbook, prefix)
                yield from wrong_options(run, prefix, read)
            yield from self._too_late(arguments["of_play"], extra, variables)
            addressed = extra
        if arguments["clusters"]:
            yield from wrong_clusters(arguments["clusters"], read)
        if arguments["clusters_dir"]:
            yield from wrong_directory(arguments["clusters_dir"], read)
        known = {*options, *(playbook or ())}
        unknown = _with_prefix(addressed, known, arguments["prefix"] or (f"{role}_" if role else None))
        words = {**_short_names(role, known), **OTHER_WORDS}
        # What is given to a playbook is hardly anybody else's.
        find = meant if playbook is None else lambda name, names: meant_or_cut(name, names, words)
        wrong = {
            **_alike((name for name in variables if not _is_result(variables[name])), known, slip_of),
            **_alike([*addressed, *extra], known, find),
            **_dotted(extra, known),
        }
        others = known_names() if wrong else ()
        wrong = {**{name: better for name, better in wrong.items() if name not in others}, **dict(unknown)}
        results = registered_by(role) if role else set()
        for name, better in wrong.items():
            if name not in results and not is_referred_to(name, variables):
                yield f"{shown(name)}: unknown variable; did you mean {better}?"

    def _role_parameters(self) -> dict[str, Any]:
        role = self._task._role
        return {**role.vars, **role.get_role_params()} if role else {}

    def _too_late(
        self, names: Collection[str], extra: Mapping[str, Any], variables: Mapping[str, Any]
    ) -> Iterator[str]:
        """What is wrong with variables of the play's own keywords, which no inventory can set."""
        given = {*extra, *self._task.get_play().vars} if names else extra
        for name in named((name for name in names if name not in given), variables, self._templar):
            yield (
                f"{name}: cannot be set in the inventory, because the play reads it before it chooses its hosts; "
                "set it with -e"
            )


def _check_names(given: Mapping[str, Any]) -> None:
    """:raises ConfigurationError: the play's own list of variables was replaced, perhaps by a secret."""
    for option in ("playbook", "of_play", "of_cluster"):
        if not all(name.isidentifier() for name in given[option] or ()):
            raise ConfigurationError(f"{option} must be a list of names of variables")


def _is_result(value: Any) -> bool:
    """Whether a task has registered it: it is nobody's attempt to set a variable."""
    return isinstance(value, Mapping) and "changed" in value


def _alike(
    names: Iterable[Any], known: Collection[str], find: Callable[[str, Collection[str]], str | None]
) -> dict[str, str]:
    found = ((name, find(name, known)) for name in names if isinstance(name, str))
    return {name: near for name, near in found if near is not None}


def _dotted(names: Iterable[Any], known: Collection[str]) -> dict[str, str]:
    """``source.file``, which Ansible takes for a variable of that name -> the mapping."""
    parts = {name: name.partition(".") for name in names if isinstance(name, str)}
    return {
        name: f"{variable}: {{{shown(key)}: ...}}"
        for name, (variable, dot, key) in parts.items()
        if dot and variable in known
    }


def _short_names(role: str | None, known: Collection[str]) -> dict[str, str]:
    """A role's variables without the role's name -> the variables."""
    prefix = f"{role}_"
    return {name[len(prefix) :]: name for name in known if role and name.startswith(prefix)}


def _with_prefix(
    addressed: Iterable[Any], known: Collection[str], prefix: str | None
) -> Iterator[tuple[str, str]]:
    for name in addressed:
        if prefix and known and isinstance(name, str) and name.startswith(prefix) and name not in known:
            yield name, meant(name, known) or nearest(name, known)
