# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Label and field selectors of LIST and WATCH."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.stand_ins.kubernetes.resources import Resource
from tests.stand_ins.kubernetes.status import ApiError

Object = dict[str, Any]
Predicate = Callable[[Object], bool]

_KEY = r"[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?"
_VALUE = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?"
_SET = re.compile(rf"^({_KEY})\s+(in|notin)\s*\(([^()]*)\)$")
_EQUALS = re.compile(rf"^({_KEY})\s*(==|=|!=)\s*({_VALUE})$")
_EXISTS = re.compile(rf"^(!?)\s*({_KEY})$")


def _labels(obj: Object) -> dict[str, str]:
    labels: dict[str, str] | None = obj["metadata"].get("labels")
    return labels or {}


def _requirement(text: str) -> Predicate:
    if found := _EQUALS.match(text):
        key, operator, value = found.groups()
        if operator == "!=":
            return lambda obj: _labels(obj).get(key) != value
        return lambda obj: _labels(obj).get(key) == value
    if found := _SET.match(text):
        key, operator, inside = found.groups()
        values = {part.strip() for part in inside.split(",")}
        if operator == "in":
            return lambda obj: _labels(obj).get(key) in values
        return lambda obj: _labels(obj).get(key) not in values
    if found := _EXISTS.match(text):
        absent, key = found.groups()
        return lambda obj: (key in _labels(obj)) != bool(absent)
    raise ApiError(400, f"unable to parse requirement: {text!r}")


def label_selector(text: str) -> list[Predicate]:
    """Parse ``a=b,c!=d,e in (f,g),h,!i``; 400 when it cannot be read."""
    parts = [part.strip() for part in re.split(r",(?![^()]*\))", text)]
    if parts == [""]:
        return []
    return [_requirement(part) for part in parts]


def _field(obj: Object, path: str) -> str:
    value: Any = obj
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return "" if value is None else str(value)


def field_selector(text: str, resource: Resource) -> list[Predicate]:
    """Parse ``metadata.name=x,metadata.namespace!=y``; 400 for a field the kind cannot select by."""
    out: list[Predicate] = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        found = re.match(r"^([^=!]+?)(==|=|!=)(.*)$", part)
        if not found:
            raise ApiError(400, f"invalid selector: '{text}'; can't understand '{part}'")
        path, operator, value = found.groups()
        if path not in resource.selectable:
            raise ApiError(400, f"field label not supported: {path}")
        out.append(_field_predicate(path, operator, value))
    return out


def _field_predicate(path: str, operator: str, value: str) -> Predicate:
    if operator == "!=":
        return lambda obj: _field(obj, path) != value
    return lambda obj: _field(obj, path) == value
