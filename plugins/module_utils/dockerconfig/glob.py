# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Go's ``filepath.Match``, with which kubelet compares each label of a host name."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["glob_match"]

_SEPARATOR = "/"


class _Token(NamedTuple):
    """A star, or one character out of ``ranges`` (or outside, if ``negated``)."""

    is_star: bool
    ranges: tuple[tuple[str, str], ...] = ()
    negated: bool = False

    def accepts(self, char: str) -> bool:
        return any(low <= char <= high for low, high in self.ranges) != self.negated


_STAR = _Token(True)
_ONE = _Token(False, ((_SEPARATOR, _SEPARATOR),), negated=True)
_WILDCARDS = {"*": _STAR, "?": _ONE}


class _Malformed(Exception):
    """The pattern is not valid; Go's ErrBadPattern."""


def glob_match(pattern: str, name: str) -> bool:
    """Return whether ``name`` matches; a malformed pattern matches nothing.

    The worst case is the product of the lengths: after a mismatch only the last star is tried again.
    """
    tokens = _tokens(pattern)
    # Each token except a star stands for one character.
    if tokens is None or sum(not token.is_star for token in tokens) > len(name):
        return False
    star = -1
    at = start = position = 0
    while position < len(name):
        if at < len(tokens) and tokens[at].is_star:
            star, start = at, position
            at += 1
        elif at < len(tokens) and tokens[at].accepts(name[position]):
            at += 1
            position += 1
        elif star >= 0 and name[start] != _SEPARATOR:
            start += 1
            at, position = star + 1, start
        else:
            return False
    return all(token.is_star for token in tokens[at:])


def _tokens(pattern: str) -> list[_Token] | None:
    found: list[_Token] = []
    at = 0
    try:
        while at < len(pattern):
            char = pattern[at]
            if char == "[":
                token, at = _char_class(pattern, at + 1)
                found.append(token)
                continue
            if char == "\\":
                at += 1
                char = _char_at(pattern, at)
                found.append(_Token(False, ((char, char),)))
            else:
                found.append(_WILDCARDS.get(char) or _Token(False, ((char, char),)))
            at += 1
    except _Malformed:
        return None
    return found


def _char_at(pattern: str, at: int) -> str:
    if at >= len(pattern):
        raise _Malformed
    return pattern[at]


def _char_class(pattern: str, at: int) -> tuple[_Token, int]:
    """Return the class whose content begins at ``at``, and where the pattern continues after it."""
    negated = _char_at(pattern, at) == "^"
    at += negated
    ranges: list[tuple[str, str]] = []
    while not ranges or _char_at(pattern, at) != "]":
        low, at = _bound(pattern, at)
        high = low
        if pattern[at] == "-":
            high, at = _bound(pattern, at + 1)
        ranges.append((low, high))
    return _Token(False, tuple(ranges), negated), at + 1


def _bound(pattern: str, at: int) -> tuple[str, int]:
    """One end of a range; something must follow it, at least the closing bracket."""
    if _char_at(pattern, at) in "-]":
        raise _Malformed
    at += pattern[at] == "\\"
    char = _char_at(pattern, at)
    _char_at(pattern, at + 1)
    return char, at + 1
