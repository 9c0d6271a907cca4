# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parses bytes, text or a mapping to a tree of plain values, without a crash and without an exception.

Problems are returned as findings, never raised: an exception of the JSON parser holds the complete document,
and so would its traceback.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, Union

from .display import is_displayed
from .findings import Finding, finding
from .go_url import SURROGATE

__all__ = [
    "BAD_NUMBER",
    "MAX_DEPTH",
    "MAX_DIGITS",
    "BadNumber",
    "Data",
    "Repeated",
    "Tree",
    "inspect",
    "object_of",
    "optional_text",
    "pairs_of",
    "parse",
    "size_of",
    "text_of",
]

Data = Union[bytes, str, Mapping[str, Any]]

MAX_DEPTH: Final = 64
MAX_DIGITS: Final = 100
# Of UTF-8, and of UTF-16 as :func:`text_of` leaves it.
_MARKS = ("\ufeff", "\udcff\udcfe", "\udcfe\udcff")

# An unclosed string extends to the end: searching its end from each quote would take forever.
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)
# Names that may be printed; any other may be a misplaced value.
_KNOWN_NAMES = frozenset(
    [
        "auths",
        "auth",
        "username",
        "password",
        "email",
        "identitytoken",
        "registrytoken",
        "credHelpers",
        "credsStore",
        "HttpHeaders",
    ]
)


class BadNumber:
    """A placeholder for ``NaN``, an infinity, or a number that is too long."""


BAD_NUMBER: Final = BadNumber()


class Repeated(dict[str, Any]):
    """An object in which a name occurs more than once; ``pairs`` has them all, in order."""

    pairs: tuple[tuple[str, Any], ...] = ()


class Tree(NamedTuple):
    """``root`` is meaningless if ``broken``; ``findings`` concern the document as text."""

    root: Any
    size: int
    findings: tuple[Finding, ...]
    broken: bool


def pairs_of(node: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return all pairs of an object in the order they were written, including repeated ones."""
    return iter(node.pairs if isinstance(node, Repeated) else node.items())


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of these pairs; names may occur more than once."""
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    repeated = Repeated(plain)
    repeated.pairs = tuple(pairs)
    return repeated


def _integer(text: str) -> Any:
    return int(text) if len(text) <= MAX_DIGITS else BAD_NUMBER


def _float(text: str) -> Any:
    value = float(text) if len(text) <= MAX_DIGITS else math.inf
    return value if math.isfinite(value) else BAD_NUMBER


_DECODER = json.JSONDecoder(
    object_pairs_hook=object_of,
    parse_int=_integer,
    parse_float=_float,
    parse_constant=lambda _name: BAD_NUMBER,
)


def _too_deep(text: str) -> bool:
    if text.count("{") + text.count("[") <= MAX_DEPTH:
        return False
    depth = 0
    for match in _BRACKETS.finditer(text):
        char = match.group()
        if char in "{[":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif char in "}]":
            depth -= 1
    return False


def text_of(data: bytes | str) -> tuple[str, bool]:
    """Return the text, and whether it is not UTF-8; bad bytes become half surrogates (one a byte, as in Go)."""
    if isinstance(data, str):
        return data, bool(SURROGATE.search(data))
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape"), True


def size_of(data: bytes | str) -> int:
    """Return the size in bytes, as UTF-8."""
    return len(data) if isinstance(data, bytes) else len(data.encode("utf-8", "surrogatepass"))


def _parse_text(data: bytes | str) -> Tree:
    # ``inspect`` finds what is not UTF-8.
    text, _not_utf8 = text_of(data)
    size = size_of(data)

    def broken(rule: str, detail: str = "") -> Tree:
        return Tree(None, size, (finding(rule, None, detail),), True)

    if text.startswith(_MARKS):
        return broken("byte-order-mark")
    if _too_deep(text):
        return broken("too-deep", f"more than {MAX_DEPTH} levels")
    try:
        root, end = _DECODER.raw_decode(text.lstrip(" \t\r\n"))
    except (ValueError, RecursionError):
        # The exception holds the document: it must not leave this function, not even as a context.
        return broken("not-json", _guess(text))
    if text.lstrip(" \t\r\n")[end:].strip(" \t\r\n"):
        return broken("not-json", _guess(text))
    return Tree(root, size, (), False)


def _guess(text: str) -> str:
    """Return what the document seems to be instead, judged by its first characters."""
    start = text.lstrip()[:8]
    if not start:
        return "it is empty"
    if start.startswith(("eyJ", "ewo", "ewog", "eyAi", "ew0K")):
        return "it looks like base64: decode it once more"
    if start.startswith("{'"):
        return "it looks like Python or YAML with single quotes"
    return ""


def _copy(value: Any, depth: int, found: dict[str, str]) -> Any:
    """Return a plain copy of a value of Python or Ansible; problems are added to ``found``, rule by rule."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (int, float)):
        number = int(value) if isinstance(value, int) else float(value)
        # Bits, not digits: the digits of a huge number are expensive, or refused by Python.
        too_long = isinstance(number, int) and number.bit_length() > MAX_DIGITS * 3
        return BAD_NUMBER if too_long or not math.isfinite(number) else number
    if depth > MAX_DEPTH:
        found["too-deep"] = f"more than {MAX_DEPTH} levels"
        return None
    if isinstance(value, Mapping):
        plain: dict[str, Any] = {}
        for key, item in value.items():
            if isinstance(key, str):
                plain[str.__str__(key)] = _copy(item, depth + 1, found)
            else:
                found["name-not-a-string"] = f"it is of type {type(key).__name__}"
        return plain
    if isinstance(value, (list, tuple)):
        return [_copy(item, depth + 1, found) for item in value]
    found["value-not-json"] = f"it is of type {type(value).__name__}"
    return None


def _parse_mapping(data: Any) -> Tree:
    found: dict[str, str] = {}
    root = _copy(data, 1, found)
    size = 0
    if not found:
        size = len(json.dumps(root, separators=(",", ":"), ensure_ascii=True, default=lambda _bad: 0))
    return Tree(root, size, tuple(finding(rule, None, detail) for rule, detail in found.items()), bool(found))


def parse(data: Any) -> Tree:
    """Parse a document of any kind. Never raises, whatever the document holds."""
    if isinstance(data, (bytearray, memoryview)):
        data = bytes(data)
    return _parse_text(data) if isinstance(data, (bytes, str)) else _parse_mapping(data)


def inspect(root: Any) -> list[Finding]:
    """Find repeated names, bad numbers and half surrogates, at any depth."""
    found: list[Finding] = []
    bad_number = bad_text = False
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            if isinstance(node, Repeated):
                found.append(finding("duplicate-key", None, _repeated_names(node)))
            bad_text = bad_text or any(not key.isascii() and SURROGATE.search(key) for key in node)
            stack.extend(item for _key, item in pairs_of(node))
        elif isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, str):
            bad_text = bad_text or bool(not node.isascii() and SURROGATE.search(node))
        elif node is BAD_NUMBER:
            bad_number = True
    if bad_number:
        found.append(finding("number-out-of-range"))
    if bad_text:
        found.append(finding("not-utf8"))
    return found


def _repeated_names(node: Repeated) -> str:
    seen: set[str] = set()
    twice: set[str] = set()
    for key, _item in node.pairs:
        (twice if key in seen else seen).add(key)
    names = sorted(name if name in _KNOWN_NAMES else _shown(name) for name in twice)
    return ", ".join(dict.fromkeys(names))


def _shown(name: str) -> str:
    return name if "." in name and is_displayed(name) else "name not shown"


def optional_text(value: Any) -> str | None:
    """Return ``value`` if it is a non-empty string, otherwise None."""
    return value if isinstance(value, str) and value else None
