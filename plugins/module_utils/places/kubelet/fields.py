# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fields of the files that a node keeps beside ``config.json``, of the type that they have to be of.

A file that was damaged, or that somebody has written into, is either read whole or counts as none.  Each
function raises ValueError, and its text has nothing of the file.
"""

from __future__ import annotations

import base64
import json
import math
from typing import Any, Optional

__all__ = [
    "NewerVersion",
    "document",
    "encoded",
    "flag",
    "hexadecimal",
    "is_plain",
    "lists",
    "mapping",
    "members",
    "number",
    "seconds",
    "text",
]

_DEEPEST = 100
_SALT = range(16, 65)


class NewerVersion(Exception):
    """The file was written by a later release, and is not to be lost for an earlier one."""


def document(data: bytes, version: int) -> dict[str, Any]:
    """The file as an object of this version, nested no deeper than can be written again.

    :raises NewerVersion: it says that it is of a later one.
    """
    try:
        found = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not is_plain(found):
        # json's own error would hold the document.
        raise ValueError("not ours") from None
    there: Any = found.get("version")
    if _is_whole(there) and there > version:
        raise NewerVersion
    if not _is_whole(there) or there != version:
        raise ValueError("not ours")
    return found


def _is_whole(value: Any) -> bool:
    # To Python, true is a number.
    return isinstance(value, int) and not isinstance(value, bool)


def is_plain(value: Any) -> bool:
    """Whether JSON can say it, as Go and Python read it: no number out of range, not nested without end."""
    level = [value]
    for _depth in range(_DEEPEST):
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below += item.values()
            elif isinstance(item, list):
                below += item
            elif isinstance(item, float) and not math.isfinite(item):
                return False
        if not below:
            return True
        level = below
    return False


def members(value: Any) -> dict[str, Any]:
    """An object."""
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def mapping(found: dict[str, Any], name: str) -> dict[str, Any]:
    """A member that is an object."""
    return members(found.get(name))


def text(found: dict[str, Any], name: str) -> str:
    """A member that is a text."""
    value = found.get(name)
    if not isinstance(value, str):
        raise ValueError("not a text")
    # Half of a surrogate pair could not be told to anybody.
    value.encode("utf-8")
    return value


def lists(found: dict[str, Any], name: str) -> dict[str, list[str]]:
    """A member that is an object of lists of texts."""
    value = mapping(found, name)
    for item in value.values():
        if not isinstance(item, list) or not all(isinstance(text, str) for text in item):
            raise ValueError("no list of texts")
    return value


def flag(found: dict[str, Any], name: str) -> bool:
    """A member that is true or false."""
    value = found.get(name)
    if not isinstance(value, bool):
        raise ValueError("not true or false")
    return value


def number(found: dict[str, Any], name: str, most: int) -> int:
    """A member that is a whole number, from 0 to ``most``."""
    value: Any = found.get(name)
    if not (_is_whole(value) and 0 <= value <= most):
        raise ValueError("no such number")
    return int(value)


def seconds(found: dict[str, Any], name: str, most: float) -> float:
    """A member that is a time, from 0 to ``most``."""
    value = found.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
        raise ValueError("no time")
    return float(value)


def hexadecimal(found: dict[str, Any], name: str) -> bytes:
    """A member that is a key, in hexadecimal."""
    value = bytes.fromhex(text(found, name))
    if len(value) not in _SALT:
        raise ValueError("no key")
    return value


def encoded(found: dict[str, Any], name: str) -> Optional[bytes]:
    """A member that is null or base64."""
    if found.get(name) is None:
        return None
    return base64.b64decode(text(found, name), validate=True)
