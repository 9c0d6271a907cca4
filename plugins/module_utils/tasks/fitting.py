# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks a value against an option's spec. Errors name its path, and never quote it.

Ansible's own validation says "dictionary requested" without the option, quotes values, lets a required option
be null, and makes strings of mappings. This module reads the same argument specs and converts as Ansible
does, but a list, a mapping or a boolean never becomes a string, and a boolean never a number or a list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Callable

from ansible.module_utils.common.validation import (
    check_type_bool,
    check_type_dict,
    check_type_float,
    check_type_int,
    check_type_list,
    check_type_path,
)

from ..model.errors import ConfigurationError
from ..model.limits import LIMITS
from ..model.naming import allows
from ..model.shown import is_name, quoted
from ..workflows.options import exclusive, identities

__all__ = ["check_arguments", "fitted", "wrong_targets"]

_SHOWN = 5

_Spec = Mapping[str, Any]

# A type in the specs to the Python type, Ansible's conversion of other values, and its name.
_TYPES: dict[str, tuple[type, Callable[[Any], Any], str]] = {
    "bool": (bool, check_type_bool, "true or false"),
    "dict": (dict, check_type_dict, "a mapping"),
    "float": (float, check_type_float, "a number"),
    "int": (int, check_type_int, "a whole number"),
    "list": (list, check_type_list, "a list"),
}
# Python counts true as 1 and false as 0, and Ansible converts them. "destroy_after: false" would destroy at once.
_NOT_BOOLEAN = ("float", "int", "list")
# Keys of a list's spec that concern its elements.
_OF_ELEMENTS = ("options", "mutually_exclusive", "required_one_of")


def check_arguments(
    arguments: Mapping[str, Any], spec: Mapping[str, _Spec], *, expands: bool = False
) -> dict[str, Any]:
    """Check a task's arguments as they were given, and return those with a value as the module receives them.

    Ansible reports unknown options.

    :param expands: as in ``fitted``.
    :raises ConfigurationError: names the first invalid option, and what it accepts.
    """
    fits: dict[str, Any] = {}
    for name, its in spec.items():
        if name in arguments:
            value = arguments[name]
            if value is not None:
                fits[name] = fitted(name, value, its, expands=expands)
            elif its.get("required"):
                raise _null(name)
    return fits


def fitted(name: str, value: Any, spec: _Spec, *, with_defaults: bool = True, expands: bool = False) -> Any:
    """Return the value as the module receives it.

    :param name: the option's name in messages, such as ``source.kubernetes``.
    :param expands: whether ``~`` and variables in paths are replaced: only on the machine that does the work.
    :param with_defaults: whether suboptions that are not given get their defaults, or None without one.
    :raises ConfigurationError: names the option and the rule, never the value.
    """
    kind = spec.get("type", "str")
    if kind == "raw":
        return value
    if kind in ("str", "path"):
        value = _string(name, value, spec.get("choices") or ())
        if kind == "path" and expands:
            value = check_type_path(value)
    else:
        wanted, convert, described = _TYPES[kind]
        if isinstance(value, bool) and kind in _NOT_BOOLEAN:
            limit = LIMITS.get(name)
            described = limit.text if limit else described
            raise ConfigurationError(f"{name} must be {described}, not true or false")
        if not isinstance(value, wanted):
            try:
                value = convert(value)
            except (TypeError, ValueError, OverflowError):
                raise ConfigurationError(f"{name} must be {_expected(described, spec)}") from None
    if spec.get("choices") and value not in spec["choices"]:
        raise ConfigurationError(f"{name} must be one of {', '.join(spec['choices'])}")
    if kind == "list" and "elements" in spec:
        element = {"type": spec["elements"], **{key: spec[key] for key in _OF_ELEMENTS if key in spec}}
        return [
            fitted(f"{name}[{index}]", item, element, with_defaults=with_defaults, expands=expands)
            for index, item in enumerate(value)
        ]
    return (
        _suboptions(name, value, spec, with_defaults, expands)
        if kind == "dict" and "options" in spec
        else value
    )


def _string(name: str, value: Any, choices: Sequence[Any]) -> str:
    if isinstance(value, str):
        return value
    # As Ansible would, except true, which was meant as a word, and containers.
    if isinstance(value, (int, float)) and (not isinstance(value, bool) or str(value) in choices):
        return str(value)
    raise ConfigurationError(f"{name} must be a string")


def _expected(described: str, spec: _Spec) -> str:
    one_of: Sequence[Sequence[str]] = spec.get("required_one_of", ())
    if one_of:
        return f"{described} with one of {', '.join(one_of[0])}"
    return f"{described} with {', '.join(spec['options'])}" if "options" in spec else described


def _suboptions(
    name: str, value: Mapping[Any, Any], spec: _Spec, with_defaults: bool, expands: bool
) -> dict[str, Any]:
    options: Mapping[str, _Spec] = spec["options"]
    unknown = [key for key in value if key not in options]
    if unknown:
        key = unknown[0]
        found = f"the key {quoted(key)}" if isinstance(key, str) else "a key that is not a string"
        raise ConfigurationError(
            f"{name} has {found}, which is not allowed; it must be {_expected('a mapping', spec)}"
        )
    given = {
        key: fitted(f"{name}.{key}", item, options[key], with_defaults=with_defaults, expands=expands)
        for key, item in value.items()
        if item is not None
    }
    for option, its in options.items():
        if option not in given:
            if its.get("required"):
                path = f"{name}.{option}"
                raise _null(path) if option in value else ConfigurationError(f"{path} is missing")
            if with_defaults:
                given[option] = its.get("default")
    for group in spec.get("required_one_of", ()):
        if all(given.get(option) is None for option in group):
            raise ConfigurationError(f"{name} must be {_expected('a mapping', spec)}")
    for group in spec.get("mutually_exclusive", ()):
        # Ansible counts given options, with or without a value.
        both = [option for option in group if option in value]
        if len(both) > 1:
            raise ConfigurationError(f"{name} has both {both[0]} and {both[1]}")
    return given


def _null(name: str) -> ConfigurationError:
    return ConfigurationError(f"{name} is null; give it a value")


def wrong_targets(arguments: Any, spec: Mapping[str, Any]) -> str:
    """Return ``; in target 3 (cls-7)`` for an error about the arguments: Ansible does not name the target."""
    targets = arguments.get("targets") if isinstance(arguments, Mapping) else None
    if not isinstance(targets, list) or len(targets) < 2:
        return ""
    options = spec["targets"]["options"]
    one = {"type": "dict", "options": options, "mutually_exclusive": exclusive(options)}
    wrong = []
    for position, target in enumerate(targets, start=1):
        try:
            fitted("target", target, one)
        except ConfigurationError:
            wrong.append(f"{position}{_called(target)}")
    shown = ", ".join(wrong[:_SHOWN]) + (f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else "")
    return f"; in target{'s' if len(wrong) > 1 else ''} {shown}" if wrong else ""


def _called(target: Any) -> str:
    identity, cluster_id = identities(target) if isinstance(target, Mapping) else (None, None)
    if isinstance(identity, str) and is_name(identity):
        return f" ({identity})"
    return f" ({cluster_id})" if isinstance(cluster_id, str) and allows("cluster_id", cluster_id) else ""
