# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The `search` parameter: a subset of TSL (tree search language).

Terms are `field = 'text'`, `!=`, and `field in [...]`; they are joined by `and`, `or` and parentheses.
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
_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>-?\d+(?:\.\d+)?)|(?P<word>[A-Za-z_][\w./-]*)|(?P<sign>!=|[=()\[\],]))"
)
_COLUMNS = ("id", "name", "kind", "generation", "created_by", "updated_by")
_KEY = re.compile(r"[a-z0-9_]+")


def compile_search(text: str, lists: ListForm = "brackets") -> Predicate:
    """The predicate of a search; ApiError VAL-005 for one that the API would refuse."""
    if len(text) > _LONGEST:
        raise ApiError("VAL-005", "the search is too long")
    return _Parser(text, "[]" if lists == "brackets" else "()").parse()


class _Parser:
    def __init__(self, text: str, brackets: str) -> None:
        self._open, self._close = brackets[0], brackets[1]
        self._tokens: list[tuple[str, str]] = []
        self._at = 0
        position, end = 0, len(text.rstrip())
        while position < end:
            match = _TOKEN.match(text, position)
            if match is None:
                raise _refused("unexpected character")
            self._tokens.append((match.lastgroup or "", match[match.lastgroup or 0]))
            position = match.end()

    def parse(self) -> Predicate:
        predicate = self._any()
        if self._at != len(self._tokens):
            raise _refused("unexpected token")
        return predicate

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("end", "")

    def _take(self, wanted: str = "") -> tuple[str, str]:
        kind, value = self._peek()
        if kind == "end" or (wanted and value != wanted):
            raise _refused("unexpected end" if kind == "end" else "unexpected token")
        self._at += 1
        return kind, value

    def _keyword(self, word: str) -> bool:
        kind, value = self._peek()
        found = kind == "word" and value.lower() == word
        self._at += found
        return found

    def _any(self) -> Predicate:
        parts = [self._all()]
        while self._keyword("or"):
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else lambda cluster: any(part(cluster) for part in parts)

    def _all(self) -> Predicate:
        parts = [self._one()]
        while self._keyword("and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else lambda cluster: all(part(cluster) for part in parts)

    def _one(self) -> Predicate:
        if self._peek()[1] == "(":
            self._take()
            inner = self._any()
            self._take(")")
            return inner
        kind, name = self._take()
        if kind != "word":
            raise _refused("a term starts with a field")
        field = _field(name)
        if self._keyword("in"):
            values = self._list()
            return lambda cluster: field(cluster) in values
        _kind, sign = self._take()
        if sign == "=":
            value = self._literal()
            return lambda cluster: field(cluster) == value
        if sign == "!=":
            value = self._literal()
            return lambda cluster: field(cluster) not in (None, value)
        raise _refused("unsupported operator")

    def _list(self) -> set[str]:
        self._take(self._open)
        values = {self._literal()}
        while self._peek()[1] == ",":
            self._take()
            values.add(self._literal())
        self._take(self._close)
        return values

    def _literal(self) -> str:
        kind, value = self._take()
        if kind == "text":
            return value[1:-1].replace("''", "'")
        if kind == "number":
            return value
        raise _refused("expected a value")


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


def _refused(why: str) -> ApiError:
    return ApiError("VAL-005", f"the search cannot be read: {why}")
