# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds loops, paths and operands in an expression's tokens. Pure.

The evaluator parses expressions. This module only bounds their cost and helps to explain a false one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass

__all__ = [
    "Token",
    "conjuncts",
    "loop_variables",
    "nesting",
    "paths",
    "position",
    "quoted_adapters",
    "source_text",
    "tokens",
]

_LOOPS = frozenset({"all", "exists", "exists_one", "existsOne"})

_TOKEN = re.compile(
    r'''(?P<string>[bB]?[rR][bB]?(?:"""(?:.*?)"""|\'\'\'(?:.*?)\'\'\'|"[^"\n]*"|'[^'\n]*')'''
    r'''|[bB]?(?:"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))'''
    r"""|(?P<space>\s+|//[^\n]*)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<number>[0-9][A-Za-z0-9_.]*)"""
    r"""|(?P<mark>&&|\|\||==|!=|<=|>=|.)""",
    re.DOTALL,
)
_OPENING, _CLOSING = "([{", ")]}"
_PLAIN = re.compile(r"""(["'])([^"'\\]*)\1\Z""")


@dataclass(frozen=True)
class Token:
    """One token.

    :param kind: ``string``, ``name``, ``number`` or ``mark``.
    :param space: the white space before it.
    """

    kind: str
    text: str
    space: str = ""


def tokens(source: str) -> list[Token]:
    """Return the tokens of an expression."""
    words, space = [], ""
    for match in _TOKEN.finditer(source):
        if match.lastgroup == "space":
            space += match.group()
        else:
            words.append(Token(match.lastgroup or "", match.group(), space))
            space = ""
    return words


def source_text(words: Sequence[Token]) -> str:
    """Return the source text of tokens."""
    return "".join(word.space + word.text for word in words)


def position(words: Sequence[Token], name: str) -> str:
    """Return where a name is first used: `` at line 1, column 5``."""
    before = ""
    for word in words:
        before += word.space
        if word.kind == "name" and word.text == name:
            break
        before += word.text
    return f" at line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"


def _is_loop(words: Sequence[Token], index: int) -> bool:
    """Return whether the bracket at ``index`` encloses a loop."""
    return (
        index >= 2
        and words[index].text == "("
        and words[index - 1].kind == "name"
        and words[index - 1].text in _LOOPS
        and words[index - 2].text == "."
    )


def nesting(words: Sequence[Token]) -> int:
    """Return how deep loops are nested."""
    stack: list[bool] = []
    deepest = 0
    for index, word in enumerate(words):
        if word.kind == "mark" and word.text in _OPENING:
            stack.append(_is_loop(words, index))
            deepest = max(deepest, sum(stack))
        elif word.kind == "mark" and word.text in _CLOSING and stack:
            stack.pop()
    return deepest


def loop_variables(words: Sequence[Token]) -> set[str]:
    """Return the names of the loop variables."""
    return {
        words[index + 1].text
        for index in range(len(words) - 1)
        if _is_loop(words, index) and words[index + 1].kind == "name"
    }


def quoted_adapters(words: Sequence[Token], kept: Set[str]) -> list[Token]:
    """Rewrite the adapter contract's ``adapters[dns]`` to CEL's ``adapters["dns"]``, also for names with
    dashes.

    :param kept: names with another meaning there, such as a loop variable.
    """
    made: list[Token] = []
    index = 0
    while index < len(words):
        made.append(words[index])
        index += 1
        if len(made) < 3 or [word.text for word in made[-2:]] != ["adapters", "["] or made[-3].text != ".":
            continue
        end = index
        while end < len(words) and (words[end].kind in ("name", "number") or words[end].text == "-"):
            end += 1
        name = "".join(word.text for word in words[index:end])
        if (
            end < len(words)
            and words[end].text == "]"
            and name
            and words[index].kind == "name"
            and name not in kept
        ):
            made.append(Token("string", f'"{name}"'))
            index = end
    return made


def conjuncts(words: Sequence[Token]) -> list[list[Token]]:
    """Return the operands of ``a && b``, or the expression itself if it is anything else."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for word in words:
        if word.kind == "mark":
            depth += (word.text in _OPENING) - (word.text in _CLOSING)
            if depth == 0 and word.text in ("||", "?"):
                return [list(words)]
            if depth == 0 and word.text == "&&":
                parts.append([])
                continue
        parts[-1].append(word)
    return parts


def paths(words: Sequence[Token], roots: Set[str]) -> list[tuple[str, ...]]:
    """Return the paths that are read, in order: ``("spec", "gcp", "projectId")``. Methods and computed keys
    are left out.
    """
    found = []
    for index, word in enumerate(words):
        if word.kind == "name" and word.text in roots and (index == 0 or words[index - 1].text != "."):
            found.append(_path(words, index))
    return found


def _path(words: Sequence[Token], start: int) -> tuple[str, ...]:
    path = [words[start].text]
    index = start + 1
    while index + 1 < len(words):
        after = words[index + 2].text if index + 2 < len(words) else ""
        if words[index].text == "." and words[index + 1].kind == "name" and after != "(":
            path.append(words[index + 1].text)
            index += 2
            continue
        key = _key(words[index + 1]) if words[index].text == "[" and after == "]" else None
        if key is None:
            break
        path.append(key)
        index += 3
    return tuple(path)


def _key(word: Token) -> str | None:
    found = _PLAIN.match(word.text) if word.kind == "string" else None
    return found.group(2) if found else None
