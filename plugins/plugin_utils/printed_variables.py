# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds the variables of a task that ansible-core 2.18 would print completely if a template in them failed.

ansible-core templates a task's arguments before it loads an action plugin, and its error quotes the variable with
the template. The collection cannot prevent that. So it refuses such a variable already when its templates work.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

from ansible.release import __version__

from .templates import MARKS, is_unsafe, templates, used

__all__ = ["PRINTS_VARIABLES", "printed_variables"]

PRINTS_VARIABLES = __version__.startswith("2.18.")

# Mappings that hold every variable of a host. A template that uses them does not name a single variable.
_ALL = frozenset({"hostvars", "vars", "groups", "ansible_facts"})


def printed_variables(task: Any, task_vars: Mapping[str, Any], is_secret: Callable[[Any], bool]) -> list[str]:
    """Return the names of variables that hold both a template and a secret, in the order of their use.

    :param is_secret: whether a value without templates holds a secret.
    """
    begun = [getattr(task, "untemplated_args", None), task.loop, getattr(task, "module_defaults", None)]
    names = list(dict.fromkeys(name for value in begun for name in used(value)))
    found = []
    for name in names:
        if name in _ALL or name not in task_vars:
            continue
        value = task_vars[name]
        others = list(used(value))
        names += [other for other in dict.fromkeys(others) if other not in names]
        if any(True for _text in templates(value)) and is_secret(_literals(value)):
            found.append(name)
    return found


def _literals(value: Any) -> Any:
    """Return the value without strings that are only a template: `inline: "{{ other }}"` prints just a name."""
    if isinstance(value, Mapping):
        return {name: _literals(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_literals(item) for item in value]
    if is_unsafe(value):
        return value
    if isinstance(value, str) and value.strip().startswith(MARKS) and value.strip().endswith(("}}", "%}")):
        return None
    return value
