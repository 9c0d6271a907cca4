# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The variables of a task that ansible-core 2.18 would print whole if a template in them failed.

It templates a task's arguments before it loads an action plugin, and an error quotes the variable with the
template. Nothing of ours runs then. So such a variable is refused when the templates in it are right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

from ansible.release import __version__

from .templates import MARKS, is_unsafe, templates, used

__all__ = ["PRINTS_VARIABLES", "printed_variables"]

PRINTS_VARIABLES = __version__.startswith("2.18.")

# Mappings that hold every variable of a host: who uses them names none.
_ALL = frozenset({"hostvars", "vars", "groups", "ansible_facts"})


def printed_variables(task: Any, task_vars: Mapping[str, Any], is_secret: Callable[[Any], bool]) -> list[str]:
    """The names of variables that hold both a template and a secret, in the order in which they are reached.

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
    """The value without what is a template and nothing else: `inline: "{{ other }}"` prints a name."""
    if isinstance(value, Mapping):
        return {name: _literals(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_literals(item) for item in value]
    if is_unsafe(value):
        return value
    if isinstance(value, str) and value.strip().startswith(MARKS) and value.strip().endswith(("}}", "%}")):
        return None
    return value
