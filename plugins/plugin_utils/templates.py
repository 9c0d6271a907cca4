# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds the templates in a variable's value, and the variables that they use. Renders nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jinja2 import Environment, TemplateError, nodes

from ..module_utils.model.misspelt import OTHERS

__all__ = ["MARKS", "is_referred_to", "is_unsafe", "templates", "used"]

MARKS = ("{{", "{%")
_JINJA = Environment(autoescape=True)


def templates(value: Any) -> Iterator[str]:
    """Yield every text of a value that Ansible treats as a template, including keys of mappings."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from templates(name)
            yield from templates(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from templates(item)
    elif isinstance(value, str) and any(mark in value for mark in MARKS) and not is_unsafe(value):
        yield value


def used(value: Any) -> Iterator[str]:
    """Return the variables that the templates in a value read; an invalid template reads none."""
    for text in dict.fromkeys(templates(value)):
        try:
            parsed = _JINJA.parse(text)
        except (TemplateError, RecursionError):
            continue
        yield from dict.fromkeys(node.name for node in parsed.find_all(nodes.Name) if node.ctx == "load")


def is_referred_to(name: str, variables: Mapping[str, Any]) -> bool:
    """Return whether the template of another variable reads the variable, so that it has an effect."""
    return any(
        name in used(value)
        for other, value in variables.items()
        if other != name and not str(other).startswith(OTHERS)
    )


def is_unsafe(value: Any) -> bool:
    """Return whether it is ``!unsafe``, or came from a module: Ansible does not treat such a text as a
    template.
    """
    return bool(getattr(value, "__UNSAFE__", False))
