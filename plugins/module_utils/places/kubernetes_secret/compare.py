# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compares an existing object with the wanted one.

An existing object also has defaults and foreign values, so only wanted values are compared. Other keys of a
mapping belong to others, unless it is an ``ExactMapping``. ``None`` means that the value must be absent.
Lists are compared completely, because merge patches replace lists completely.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

__all__ = ["ExactMapping", "Quantity", "differences", "merge_patch", "parse_quantity", "without_empty_values"]

_NOTHING: tuple[Any, ...] = (None, "", {}, [])
_POWERS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?\Z")
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}


class ExactMapping(dict):  # type: ignore[type-arg]
    """A mapping that must have these keys and no others."""


class Quantity(str):
    """A quantity of a resource, which the API server normalises: ``1000m`` becomes ``1``."""


def parse_quantity(text: str) -> Decimal:
    """:raises ValueError: it is not a quantity."""
    for suffix, power in _BINARY.items():
        if text.endswith(suffix):
            return _number(text[: -len(suffix)]) * Decimal(1024**power)
    if text[-1:] in _POWERS and not text[-1:].isdigit():
        return _number(text[:-1]).scaleb(_POWERS[text[-1:]])
    return _number(text)


def _number(text: str) -> Decimal:
    # Decimal accepts more: white space, underscores, infinity.
    if not _NUMBER.match(text):
        raise ValueError("not a number")
    return Decimal(text)


def differences(wanted: Any, there: Any, path: str = "") -> list[str]:
    """Return the paths, such as ``spec.template.spec.containers[0].image``, at which ``there`` differs from
    the wanted object.
    """
    if wanted in _NOTHING:
        return [] if there in _NOTHING else [path]
    if isinstance(wanted, Mapping):
        there = {} if there is None else there
        if not isinstance(there, Mapping):
            return [path]
        found = [
            text for key in wanted for text in differences(wanted[key], there.get(key), _below(path, key))
        ]
        extra = [key for key in there if key not in wanted] if isinstance(wanted, ExactMapping) else []
        return found + [_below(path, key) for key in extra]
    if isinstance(wanted, list):
        if not isinstance(there, list) or len(there) != len(wanted):
            return [path]
        return [
            text
            for index, (one, other) in enumerate(zip(wanted, there))
            for text in differences(one, other, f"{path}[{index}]")
        ]
    return [] if _same(wanted, there) else [path]


def merge_patch(wanted: Mapping[str, Any], there: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON merge patch (RFC 7386) from ``there`` to the wanted object, empty if there is no
    difference.
    """
    patch: dict[str, Any] = {}
    for key, value in wanted.items():
        if not differences(value, there.get(key)):
            continue
        below = there.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping) and value:
            patch[key] = merge_patch(value, below)
        else:
            patch[key] = without_empty_values(value)
    if isinstance(wanted, ExactMapping):
        patch.update({key: None for key in there if key not in wanted})
    return patch


def without_empty_values(value: Any) -> Any:
    """Return a value for a new object, without the empty values."""
    if isinstance(value, Mapping):
        made = {str(key): without_empty_values(item) for key, item in value.items()}
        return {key: item for key, item in made.items() if item is not None} or None
    if isinstance(value, list):
        return [without_empty_values(item) for item in value]
    return str(value) if isinstance(value, str) else value


def _same(wanted: Any, there: Any) -> bool:
    if isinstance(wanted, Quantity) and isinstance(there, str):
        try:
            return parse_quantity(wanted) == parse_quantity(there)
        except ValueError:
            return False
    return (
        type(wanted) is type(there) and wanted == there if isinstance(wanted, bool) else bool(wanted == there)
    )


def _below(path: str, key: Any) -> str:
    # Keys with dots, such as those of annotations.
    text = f"[{key}]" if "." in str(key) else str(key)
    return f"{path}{'' if not path or text.startswith('[') else '.'}{text}"
