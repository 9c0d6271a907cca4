# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Evaluates Ansible variables, and distinguishes missing variables from undefined references.

Jinja's ``x | default('')`` and ``x is defined`` cannot distinguish a missing variable from one whose value refers
to something undefined. Here, a variable without a raw value is not given. Every other variable is evaluated
completely, and an undefined reference is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Callable

from ansible.errors import AnsibleLookupError

from ..module_utils.model.shown import shown
from .clusters import is_given
from .plain_values import decrypted, not_in_json
from .templates import is_unsafe, used

__all__ = ["VariableError", "given", "named", "unusable", "value_of"]


class VariableError(AnsibleLookupError):
    """A variable cannot be used. The message names variables and never quotes a value."""


def given(names: Iterable[str], variables: Mapping[str, Any], templar: Any) -> dict[str, Any]:
    """Return the given variables by name; null and an empty string count as not given.

    :param variables: the raw variables, as Ansible passes them to a lookup or an action plugin.
    :param templar: Ansible's, with these variables.
    :raises VariableError: a value cannot be evaluated.
    """
    values = ((name, value_of(name, variables, templar)) for name in names)
    return {name: value for name, value in values if is_given(value)}


def value_of(name: str, variables: Mapping[str, Any], templar: Any) -> Any:
    """Return the variable's evaluated value, or None if there is no such variable.

    :raises VariableError: it cannot be evaluated, or has a date, such as an unquoted 2026-01-02.
    """
    value = _evaluated(name, variables, templar)
    problem = not_in_json(value, shown(name))
    if problem:
        raise VariableError(problem)
    return value


def _evaluated(name: str, variables: Mapping[str, Any], templar: Any) -> Any:
    raw = variables.get(name)
    # Thousands of clusters rarely contain a template, and copying them takes seconds.
    if _is_literal(raw):
        return raw
    try:
        value = templar.template(raw, fail_on_undefined=True)
        # Look now, because a newer ansible-core evaluates the content of ``hostvars`` when it is read.
        is_template = False
        if not _is_literal(value):
            value = decrypted(value)
            is_template = _is_template(value, templar)
    except Exception as error:  # noqa: BLE001 - a template's error, or that of any plugin in it
        if type(error).__name__ == "AnsibleValueOmittedError":
            return None
        # Ansible's error quotes the variable, with any docker config in it.
        raise VariableError(f"{shown(name)}: {_reason(error, raw, variables)}") from None
    if is_template:
        raise VariableError(
            f"{shown(name)}: it still contains a template after evaluation, for example because a variable in "
            "hostvars uses an undefined variable; define that variable, or mark text that contains braces as "
            "!unsafe"
        )
    # The value of ``omit`` up to ansible-core 2.18; a newer one raises the error above.
    return None if isinstance(value, str) and value == variables.get("omit") else value


def named(names: Iterable[str], variables: Mapping[str, Any], templar: Any) -> dict[str, bool]:
    """Return the given names, each with true. A list or a mapping counts as given, and is not evaluated.

    :raises VariableError: a value cannot be evaluated.
    """
    names = list(names)
    large = {name: True for name in names if isinstance(variables.get(name), (list, tuple, dict))}
    small = given([name for name in names if name not in large], variables, templar)
    return {name: True for name in names if name in large or name in small}


def unusable(names: Iterable[str], read: Callable[[str], Any]) -> Iterator[str]:
    """Return what is wrong with each variable that cannot be evaluated.

    :param read: evaluates a variable, as ``value_of`` does.
    """
    for name in names:
        try:
            read(name)
        except VariableError as error:
            yield str(error.message)


def _is_literal(raw: Any) -> bool:
    """Return whether a value has no template; a vault's value is unknown."""
    if isinstance(raw, str):
        return "{" not in raw and not raw.startswith("#jinja2:")
    if isinstance(raw, dict):
        return all(map(_is_literal, raw.values()))
    if isinstance(raw, (list, tuple)):
        return all(map(_is_literal, raw))
    return raw is None or isinstance(raw, (bool, int, float))


def _is_template(value: Any, templar: Any) -> bool:
    """Return whether a text in an evaluated value is a template: ansible-core 2.18 leaves it so if
    ``hostvars`` fail.
    """
    if isinstance(value, dict):
        return any(_is_template(item, templar) for pair in value.items() for item in pair)
    if isinstance(value, (list, tuple)):
        return any(_is_template(item, templar) for item in value)
    # The value is ``!unsafe``, or from a module. Since ansible-core 2.19, ``templar`` does not treat it as a
    # template either.
    if not isinstance(value, str) or is_unsafe(value):
        return False
    return bool(templar.is_template(value))


def _reason(error: Exception, raw: Any, variables: Mapping[str, Any]) -> str:
    if _is_of_vault(error):
        return "a vaulted value in it cannot be decrypted; check the vault's password, or encrypt it again"
    said = str(error)
    for name in _absent(raw, variables, set()):
        if f"'{name}' is undefined" in said:
            return (
                f"it refers to the undefined variable '{shown(name)}'; define it, or leave this variable out"
            )
    if "undefined" in type(error).__name__.lower() or "undefined" in said or "has no " in said:
        return "it refers to an undefined value; define it, or leave this variable out"
    return f"it cannot be evaluated ({type(error).__name__}); correct its template"


def _is_of_vault(error: BaseException | None) -> bool:
    while error is not None and "Vault" not in type(error).__name__:
        error = error.__cause__
    return error is not None


def _absent(raw: Any, variables: Mapping[str, Any], seen: set[str]) -> Iterator[str]:
    """Return names without a variable that a value's templates use, directly or through other variables."""
    for name in used(raw):
        if name in seen:
            continue
        seen.add(name)
        if name in variables:
            yield from _absent(variables[name], variables, seen)
        else:
            yield name
