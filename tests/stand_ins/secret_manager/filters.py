# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list filters: `labels.x=y`, `name:part`, `state:ENABLED`, times, presence; AND, OR, NOT, parentheses.

Grammar after AIP-160, in which OR binds tighter than AND and a blank between terms means AND.
Only the fields that Secret Manager's filtering page shows are known; any other is INVALID_ARGUMENT.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any

from .errors import invalid
from .protos import STATE_NUMBER

__all__ = ["Predicate", "compile_secret_filter", "compile_version_filter"]

Predicate = Callable[[Any], bool]  # over a Secret or SecretVersion message
_Term = Callable[[str, str, str], Predicate]

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<paren>[()])
  | (?P<word>(?:AND|OR|NOT)\b(?!\s*[=<>!:]))
  | (?P<minus>-(?=[\w(]))
  | (?P<field>[\w-]+(?:\.(?:[\w-]+|"[^"]*"))*)
    \s*(?P<op><=|>=|!=|=|<|>|:)\s*
    (?P<value>"(?:[^"\\]|\\.)*"|[^\s()"]+)
)""",
    re.VERBOSE,
)
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class _Parser:
    def __init__(self, text: str, term: _Term) -> None:
        self._term = term
        self._tokens: list[re.Match[str]] = []
        position = 0
        text = text.rstrip()
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise invalid("The provided filter is invalid.")
            self._tokens.append(match)
            position = match.end()
        self._at = 0

    def parse(self) -> Predicate:
        predicate = self._all()
        if self._at != len(self._tokens):
            raise invalid("The provided filter is invalid.")
        return predicate

    def _peek(self) -> str:
        if self._at == len(self._tokens):
            return ""
        match = self._tokens[self._at]
        return match["paren"] or match["word"] or match["minus"] or "term"

    def _all(self) -> Predicate:
        parts = [self._any()]
        while self._peek() not in ("", ")"):
            if self._peek() == "AND":
                self._at += 1
            parts.append(self._any())
        return parts[0] if len(parts) == 1 else lambda item: all(part(item) for part in parts)

    def _any(self) -> Predicate:
        parts = [self._one()]
        while self._peek() == "OR":
            self._at += 1
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else lambda item: any(part(item) for part in parts)

    def _one(self) -> Predicate:
        kind = self._peek()
        self._at += 1
        if kind in ("NOT", "-"):
            inner = self._one()
            return lambda item: not inner(item)
        if kind == "(":
            inner = self._all()
            if self._peek() != ")":
                raise invalid("The provided filter is invalid.")
            self._at += 1
            return inner
        if kind != "term":
            raise invalid("The provided filter is invalid.")
        match = self._tokens[self._at - 1]
        value = match["value"]
        if value.startswith('"'):
            value = re.sub(r"\\(.)", r"\1", value[1:-1])
        return self._term(match["field"], match["op"], value)


def _text(get: Callable[[Any], str], op: str, value: str) -> Predicate:
    if op == ":":
        return lambda item: value == "*" or value in get(item)
    compare = _compare(op, {"=", "!="})
    return lambda item: compare(get(item), value)


def _compare(op: str, allowed: set[str]) -> Callable[[Any, Any], bool]:
    if op not in allowed:
        raise invalid(f"The filter's operator [{op}] does not fit its field.")
    return _COMPARE[op]


def _time(field: str, op: str, value: str) -> Predicate:
    try:
        moment = datetime.fromisoformat(value.replace("Z", "+00:00")).timestamp()
    except ValueError:
        raise invalid(f"The filter's value for [{field}] is not a timestamp.") from None
    compare = _compare(op, set(_COMPARE))

    def matches(item: Any) -> bool:
        stamp = getattr(item, field)
        return item.HasField(field) and compare(stamp.seconds + stamp.nanos / 1e9, moment)

    return matches


def _map(field: str, key: str, op: str, value: str) -> Predicate:
    key = key.strip('"')
    if op == ":" and value == "*":
        return lambda item: key in getattr(item, field)
    if op == "!=":  # AIP-160: also true where the key is missing
        return lambda item: getattr(item, field).get(key) != value
    if op not in ("=", ":"):
        raise invalid(f"The filter's operator [{op}] does not fit its field.")
    return lambda item: key in getattr(item, field) and getattr(item, field)[key] == value


def _secret_term(field: str, op: str, value: str) -> Predicate:
    if field == "name":
        if "/" in value:
            return _text(lambda secret: str(secret.name), op, value)
        return _text(lambda secret: str(secret.name).rpartition("/")[2], op, value)
    if field in ("create_time", "expire_time"):
        return _time(field, op, value)
    for name in ("labels", "annotations"):
        if field == name and op == ":":
            return lambda secret: value == "*" or value in getattr(secret, name)
        if field.startswith(name + "."):
            return _map(name, field[len(name) + 1 :], op, value)
    if field in ("replication.automatic", "replication.user_managed") and op == ":" and value == "*":
        kind = field.partition(".")[2]
        return lambda secret: secret.replication.WhichOneof("replication") == kind
    if field == "replication.user_managed.replicas.location" and op in (":", "="):
        return lambda secret: any(
            value in ("*", replica.location) for replica in secret.replication.user_managed.replicas
        )
    raise invalid(f"The filter's field [{field}] is unknown.")


def _version_term(field: str, op: str, value: str) -> Predicate:
    if field == "name":
        return _text(lambda version: str(version.name), op, value)
    if field in ("create_time", "destroy_time"):
        return _time(field, op, value)
    if field == "state":
        if value not in STATE_NUMBER:
            raise invalid(f"The filter's state [{value}] is unknown.")
        state = STATE_NUMBER[value]
        compare = _compare("=" if op == ":" else op, {"=", "!="})
        return lambda version: compare(version.state, state)
    raise invalid(f"The filter's field [{field}] is unknown.")


@lru_cache(maxsize=256)
def compile_secret_filter(text: str) -> Predicate:
    """A predicate over Secret messages; ApiError(INVALID_ARGUMENT) if the text cannot be read."""
    return _Parser(text, _secret_term).parse()


@lru_cache(maxsize=256)
def compile_version_filter(text: str) -> Predicate:
    """A predicate over SecretVersion messages; ApiError(INVALID_ARGUMENT) if the text cannot be read."""
    return _Parser(text, _version_term).parse()
