# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The `search` parameter: a subset of TSL (tree search language).

Terms are `field = 'text'`, `!=`, and `field in [...]`, joined by `and`; `or` and parentheses are refused.
Lists stand in brackets since the API's TSL v6 (June 2026); builds before it want parentheses.  As in SQL,
a field that is not there makes every comparison false, `!=` included.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

from .problems import ApiError

__all__ = ["ListForm", "Predicate", "compile_search"]

Predicate = Callable[[Any], bool]
"""Over a store's Cluster."""

ListForm = Literal["brackets", "parentheses"]

_LONGEST = 4096 - len("() AND kind = 'Cluster'")  # the server adds these to what it was sent
_VALUE = r"(?:'(?:[^']|'')*'|-?\d+(?:\.\d+)?)"
_TERM = re.compile(
    rf"""\s*(?P<field>[a-z_][\w./-]*)\s*
    (?: (?P<sign>!?=)\s*(?P<value>{_VALUE})
      | \bin\s*(?P<list>\[\s*VALUES\s*\]|\(\s*VALUES\s*\)) )
    \s*(?:$|(?P<more>and\b))""".replace("VALUES", rf"{_VALUE}(?:\s*,\s*{_VALUE})*"),
    re.VERBOSE | re.IGNORECASE,
)
_COLUMNS = ("id", "name", "generation")
_KEY = re.compile(r"[a-z0-9_]+")


def compile_search(text: str, lists: ListForm = "brackets") -> Predicate:
    """The predicate of a search; ApiError VAL-005 for one that the API would refuse."""
    if len(text) > _LONGEST:
        raise ApiError("VAL-005", "the search is too long")
    bracket = "[" if lists == "brackets" else "("
    terms: list[Predicate] = []
    at, more = 0, True
    while more:
        found = _TERM.match(text, at)
        if found is None or (found["list"] or bracket)[0] != bracket:
            raise ApiError("VAL-005", "the search cannot be read")
        terms.append(_term(found))
        at, more = found.end(), bool(found["more"])
    return lambda cluster: all(term(cluster) for term in terms)


def _term(found: re.Match[str]) -> Predicate:
    field = _field(found["field"])
    values = {_text(value) for value in re.findall(_VALUE, found["list"] or found["value"])}
    if found["sign"] == "!=":
        return lambda cluster: field(cluster) not in {None, *values}
    return lambda cluster: field(cluster) in values


def _text(value: str) -> str:
    return value[1:-1].replace("''", "'") if value.startswith("'") else value


def _field(name: str) -> Callable[[Any], str | None]:
    """Reads a field as text, None where it is missing; ApiError for one that cannot be searched."""
    first, *rest = name.split(".")
    if name.startswith("status.conditions."):
        return lambda cluster: next(
            (c["status"] for c in cluster.conditions if [c["type"]] == rest[1:]), None
        )
    if first == "labels" and rest:
        key = ".".join(rest)
        return lambda cluster: cluster.labels.get(key)
    if first == "spec" and rest:
        for key in rest:
            if not _KEY.fullmatch(key):
                raise ApiError(
                    "VAL-005",
                    f"spec key '{key}' cannot be searched: lower case letters, digits and underscores can",
                )
        return lambda cluster: _walk(cluster.spec, rest)
    if name not in _COLUMNS:
        raise ApiError("VAL-005", "the search has an unknown field")
    return lambda cluster: str(getattr(cluster, name))


def _walk(value: Any, keys: list[str]) -> str | None:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return None if value is None else str(value)
