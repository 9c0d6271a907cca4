# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the variables of the collection's roles from the roles themselves."""

from __future__ import annotations

import functools
import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Callable

from ..module_utils.model.cluster import CLUSTER_KEYS
from ..module_utils.model.errors import ConfigurationError, WrongOption
from ..module_utils.model.limits import Limits
from ..module_utils.runtime.yaml_text import load_yaml
from ..module_utils.tasks.fitting import fitted
from ..module_utils.workflows.options import run_options
from .clusters import is_given
from .variables import VariableError

__all__ = ["known_names", "options_of_run", "registered_by", "role_variables", "wrong_options"]

_ROLES = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, "roles")
_PLAYBOOKS = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, "playbooks")
_REGISTER = re.compile(r"^ *register: (\w+)$", re.MULTILINE)


def role_variables(role: str) -> dict[str, Mapping[str, Any]]:
    """A role's variables with their types, from its ``meta/argument_specs.yml``.

    :raises ConfigurationError: the collection has no such role.
    """
    options: dict[str, Mapping[str, Any]] = load_yaml(_text(role, "meta", "argument_specs.yml"))[
        "argument_specs"
    ]["main"]["options"]
    return options


@functools.cache
def known_names() -> frozenset[str]:
    """Return the variables of all roles and playbooks: one file of variables may serve several playbooks.

    A playbook lists its own in variables of the play that end with ``_variables``; those of one cluster are
    its keys.
    """
    names = {*CLUSTER_KEYS, *(name for role in sorted(os.listdir(_ROLES)) for name in role_variables(role))}
    for playbook in sorted(glob.glob(os.path.join(_PLAYBOOKS, "*.yml"))):
        with open(playbook, "rb") as stream:
            plays = load_yaml(stream.read())
        for name, value in plays[0].get("vars", {}).items():
            if name.endswith("_variables") and isinstance(value, list):
                names.update(value)
    return frozenset(names)


def registered_by(role: str) -> set[str]:
    """Return the variables in which a role leaves its results."""
    files = [
        (part, name)
        for part in ("tasks", "handlers")
        if os.path.isdir(os.path.join(_ROLES, role, part))
        for name in os.listdir(os.path.join(_ROLES, role, part))
    ]
    return {name for file in files for name in _REGISTER.findall(_text(role, *file).decode("utf-8"))}


def options_of_run(names: Iterable[str], prefix: str) -> dict[str, Mapping[str, Any]]:
    """Return those of a playbook's variables that set an option of a module's run, with the module's spec.

    :param prefix: of the variables' names, such as ``job_``.
    """
    options = run_options()
    shorts = ((name, name.removeprefix(prefix)) for name in names if name.startswith(prefix))
    return {name: options[short] for name, short in shorts if short in options}


def wrong_options(
    options: Mapping[str, Mapping[str, Any]], prefix: str, read: Callable[[str], Any]
) -> Iterator[str]:
    """Return what is wrong with variables that set a module's options, without their values.

    :param options: the variables with their specs.
    :param prefix: what each name has before the module's own name of the option, such as ``provision_``.
    :param read: evaluates a variable, as ``value_of`` does.
    """
    for name, spec in options.items():
        try:
            value = read(name)
            # Null and an empty string count as not set: the role's tasks then use the module's default.
            if not is_given(value):
                if spec.get("required") and "default" not in spec:
                    raise VariableError(f"{name} is required; give it a value")
            # Clusters are checked one by one, and fail one by one, when their targets are made.
            elif spec.get("elements") != "raw":
                _check(name, name.removeprefix(prefix), value, spec)
        except (VariableError, ConfigurationError) as error:
            yield str(error.message)


def _check(name: str, option: str, value: Any, spec: Mapping[str, Any]) -> None:
    """Check a value as the module checks its option.

    :raises ConfigurationError: it has the wrong type or exceeds a limit; names the variable.
    """
    if spec.get("type") == "dict":
        # A role describes no keys of a mapping.
        spec = run_options().get(option, spec)
    fit = fitted(name, value, spec)
    try:
        Limits({option: spec}).check({option: fit})
    except WrongOption as error:
        raise error.called({option: name}) from None


def _text(role: str, *path: str) -> bytes:
    if role not in os.listdir(_ROLES):
        raise ConfigurationError("role: the collection has no role of that name")
    with open(os.path.join(_ROLES, role, *path), "rb") as stream:
        return stream.read()
