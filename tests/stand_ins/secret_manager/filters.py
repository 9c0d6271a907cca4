# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters of lists: the terms that the collection sends, joined by AND; all else is INVALID_ARGUMENT.

`labels.KEY=VALUE`, `labels.KEY:*` and `name:PART` for secrets, `state:STATE` for versions; `:` and `=` are the
same for a label and a state.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from .errors import invalid
from .protos import STATE_NUMBER

__all__ = ["Predicate", "compile_secret_filter", "compile_version_filter"]

Predicate = Callable[[Any], bool]  # over a Secret or SecretVersion message

_TERM = re.compile(r'(labels\.[\w-]+|name|state)([:=])"?([\w-]+|\*)"?')


def _secret_term(field: str, sign: str, value: str) -> Predicate | None:
    if field == "name" and sign == ":":
        return lambda secret: value in secret.name.rpartition("/")[2]
    first, _dot, key = field.partition(".")
    if first != "labels":
        return None
    if sign == ":" and value == "*":
        return lambda secret: key in secret.labels
    return lambda secret: key in secret.labels and secret.labels[key] == value


def _version_term(field: str, _sign: str, value: str) -> Predicate | None:
    state = STATE_NUMBER.get(value)
    return None if field != "state" or state is None else lambda version: version.state == state


def _compile(text: str, term: Callable[[str, str, str], Predicate | None]) -> Predicate:
    parts = []
    for part in text.strip().split(" AND "):
        found = _TERM.fullmatch(part.strip())
        predicate = term(*found.groups()) if found else None
        if predicate is None:
            raise invalid("The provided filter is invalid.")
        parts.append(predicate)
    return lambda item: all(part(item) for part in parts)


@lru_cache(maxsize=256)
def compile_secret_filter(text: str) -> Predicate:
    """A predicate over Secret messages; ApiError(INVALID_ARGUMENT) if the text cannot be read."""
    return _compile(text, _secret_term)


@lru_cache(maxsize=256)
def compile_version_filter(text: str) -> Predicate:
    """A predicate over SecretVersion messages; ApiError(INVALID_ARGUMENT) if the text cannot be read."""
    return _compile(text, _version_term)
