# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The variables of a task that ansible-core 2.18 would print whole if a template in them failed.

It templates a task's arguments before it loads an action plugin, and an error quotes the variable with the
template. Nothing of ours runs then. So such a variable is refused when the templates in it are right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Callable

from ansible.release import __version__
from jinja2 import Environment, TemplateError, nodes

__all__ = ["PRINTS_VARIABLES", "printed_variables"]

PRINTS_VARIABLES = __version__.startswith("2.18.")

# Mappings that hold every variable of a host: who uses them names none.
_ALL = frozenset({"hostvars", "vars", "groups", "ansible_facts"})
_MARKS = ("{{", "{%")
_jinja = Environment(autoescape=True)


def printed_variables(task: Any, task_vars: Mapping[str, Any], is_secret: Callable[[Any], bool]) -> list[str]:
    """The names of variables that hold both a template and a secret, in the order in which they are reached.

    :param is_secret: whether a value without templates holds a secret.
    """
    begun = [getattr(task, "untemplated_args", None), task.loop, getattr(task, "module_defaults", None)]
    names = list(dict.fromkeys(name for value in begun for name in _used(value)))
    found = []
    for name in names:
        if name in _ALL or name not in task_vars:
            continue
        value = task_vars[name]
        used = list(_used(value))
        names += [other for other in dict.fromkeys(used) if other not in names]
        if any(True for _text in _templates(value)) and is_secret(_literals(value)):
            found.append(name)
    return found


def _used(value: Any) -> Iterator[str]:
    """The variables that the templates in a value name."""
    for text in dict.fromkeys(_templates(value)):
        try:
            parsed = _jinja.parse(text)
        except TemplateError:
            continue
        yield from dict.fromkeys(node.name for node in parsed.find_all(nodes.Name) if node.ctx == "load")


def _templates(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _templates(name)
            yield from _templates(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _templates(item)
    elif isinstance(value, str) and any(mark in value for mark in _MARKS) and not _is_unsafe(value):
        yield value


def _is_unsafe(value: Any) -> bool:
    """Whether it is ``!unsafe``, or came from a module: Ansible takes no such text for a template."""
    return bool(getattr(value, "__UNSAFE__", False))


def _literals(value: Any) -> Any:
    """The value without what is a template and nothing else: `inline: "{{ other }}"` prints a name."""
    if isinstance(value, Mapping):
        return {name: _literals(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_literals(item) for item in value]
    if _is_unsafe(value):
        return value
    if isinstance(value, str) and value.strip().startswith(_MARKS) and value.strip().endswith(("}}", "%}")):
        return None
    return value
