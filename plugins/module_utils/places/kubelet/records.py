# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The JSON files beside ``config.json``. A table of fields says how each of them is read.

A damaged or edited file is read completely or not at all. A reader takes a value and raises ValueError if it
has another type; the message quotes nothing of the file.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any

from ...dockerconfig.parse import inspect, parse

__all__ = [
    "NewerVersion",
    "Reader",
    "encoded",
    "flag",
    "key",
    "lists",
    "mapping",
    "number",
    "of_type",
    "one_of",
    "optional",
    "parse_json",
    "parse_record",
    "record",
    "record_bytes",
    "text",
]

_VERSION = 1

Reader = Callable[[Any], Any]


class NewerVersion(Exception):
    """A later release wrote the file; an earlier one must not replace it."""


def parse_json(data: bytes) -> Any:
    """Parse JSON that can be written again: no repeated names, no number out of range, not nested too deeply.

    :raises ValueError: it is not such JSON.
    """
    tree = parse(data)
    # Half of a surrogate pair, and invalid UTF-8, are written as escapes.
    if tree.broken or any(found.rule != "not-utf8" for found in inspect(tree.root)):
        raise ValueError("not JSON, or JSON that cannot be written again")
    return tree.root


def parse_record(data: bytes) -> dict[str, Any]:
    """The file as an object of this release's version.

    :raises NewerVersion: it has a higher version.
    """
    found: dict[str, Any] = mapping(parse_json(data))
    version = number(2**31)(found.get("version"))
    if version > _VERSION:
        raise NewerVersion
    if version != _VERSION:
        raise ValueError("another version")
    return found


def record_bytes(fields: Mapping[str, Any]) -> bytes:
    """The reverse of ``parse_record``; named tuples become objects, and bytes base64."""
    return json.dumps({"version": _VERSION, **_plain(fields)}, sort_keys=True).encode("utf-8")


def _plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    plain = dict(fields)
    for name, value in fields.items():
        if isinstance(value, tuple):
            plain[name] = _plain(value._asdict())  # type: ignore[attr-defined]
        elif isinstance(value, bytes):
            plain[name] = base64.b64encode(value).decode("ascii")
    return plain


def record(make: Callable[..., Any], **readers: Reader) -> Reader:
    """Read an object of these fields as ``make(**fields)``."""

    def read(value: Any) -> Any:
        found = mapping(value)
        return make(**{name: reader(found.get(name)) for name, reader in readers.items()})

    return read


def optional(reader: Reader, default: Any = None) -> Reader:
    """A value that may be null or absent."""
    return lambda value: default if value is None else reader(value)


def one_of(*texts: str) -> Reader:
    """One of these texts."""
    return lambda value: texts[texts.index(value)]


def of_type(*types: type) -> Reader:
    """Read a value of exactly one of these types: true is a number to Python."""

    def read(value: Any) -> Any:
        if type(value) not in types:
            raise ValueError(f"not of type {types[0].__name__}")
        return value

    return read


flag, mapping = of_type(bool), of_type(dict)


def number(most: float, *types: type) -> Reader:
    """A number from 0 to ``most``, of type int if no type is given."""
    plain = of_type(*(types or (int,)))

    def read(value: Any) -> Any:
        if not 0 <= plain(value) <= most:
            raise ValueError("not in its range")
        return value

    return read


def text(value: Any) -> str:
    """Read a text that can be reported: UTF-8, without half of a surrogate pair."""
    found: str = of_type(str)(value)
    found.encode("utf-8")
    return found


def lists(value: Any) -> dict[str, list[str]]:
    """An object of lists of texts."""
    found: dict[str, list[str]] = mapping(value)
    for texts in found.values():
        for item in of_type(list)(texts):
            of_type(str)(item)
    return found


def key(value: Any) -> str:
    """A key of 16 to 64 bytes, in hexadecimal."""
    if not 16 <= len(bytes.fromhex(text(value))) <= 64:
        raise ValueError("not a key")
    return text(value)


def encoded(value: Any) -> bytes:
    """Bytes as base64."""
    return base64.b64decode(text(value), validate=True)
