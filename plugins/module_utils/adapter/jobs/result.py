# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a Job said of itself at its end, checked field by field.  Pure.

A termination message is written by whatever ran in the pod, and goes on into statuses, logs and metrics.
What is not of the shape that docs/job.md gives it is left out, and so is what is not known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Optional

__all__ = ["LARGEST", "checked", "clean", "parse"]

# Kubernetes cuts a pod's termination messages off there.
LARGEST = 4096
_LONGEST_MESSAGE = 1000
_MOST_CALLS = 64
_MOST = 1e9

# A URL's password, and its query, in which registries put signatures.
_PASSWORD = re.compile(r"(?<=://)[^/\s@\"']*@")
_QUERY = re.compile(r"(?<=[\w/.=-])\?[^\s\"'?]+")
_SPACES = re.compile(r"\s+")

Check = Callable[[Any], Any]


def clean(text: Any, longest: int = _LONGEST_MESSAGE) -> str:
    """A text of somebody else's for a condition: one line, printable, of so many characters at most."""
    line = _SPACES.sub(" ", str(text or "")[: 4 * longest]).strip()
    line = "".join(letter for letter in line if letter.isprintable())
    line = _QUERY.sub("?…", _PASSWORD.sub("", line))
    return line if len(line) <= longest else line[: longest - 1] + "…"


def parse(message: Any) -> Optional[dict[str, Any]]:
    """The result in a termination message; None where it holds none."""
    if not isinstance(message, str) or len(message.encode("utf-8", "replace")) > LARGEST:
        return None
    try:
        document = json.loads(message)
    except (ValueError, RecursionError):
        return None
    return checked(document)


def checked(document: Any) -> Optional[dict[str, Any]]:
    """The fields of a result that are what they should be; None where ``result`` itself is not."""
    if not isinstance(document, Mapping):
        return None
    found = _fields(document, _RESULT)
    return found if "result" in found else None


def _fields(document: Mapping[str, Any], checks: Mapping[str, Check]) -> dict[str, Any]:
    made = {}
    for name, check in checks.items():
        value = check(document.get(name))
        if value is not None:
            made[name] = value
    return made


def _text(shape: str) -> Check:
    pattern = re.compile(shape + r"\Z", re.ASCII)
    return lambda value: value if isinstance(value, str) and pattern.match(value) else None


def _flag(value: Any) -> Optional[bool]:
    return value if isinstance(value, bool) else None


def _count(value: Any) -> Optional[int]:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value <= _MOST else None


def _seconds(value: Any) -> Optional[float]:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # Neither infinity nor what is no number is between them.
    return float(value) if 0 <= value <= _MOST else None


def _message(value: Any) -> Optional[str]:
    return clean(value) if isinstance(value, str) else None


def _object(value: Any) -> Optional[dict[str, Any]]:
    found = _fields(value, _OBJECT) if isinstance(value, Mapping) else {}
    return found if len(found) == len(_OBJECT) else None


def _calls(value: Any) -> Optional[list[dict[str, Any]]]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return None
    made = [_fields(item, _CALL) for item in value[:_MOST_CALLS] if isinstance(item, Mapping)]
    return [item for item in made if len(item) == len(_CALL)]


_OBJECT: dict[str, Check] = {
    "namespace": _text(r"[a-z0-9][a-z0-9-]{0,62}"),
    "name": _text(r"[a-z0-9][a-z0-9.-]{0,252}"),
}
_CALL: dict[str, Check] = {
    "operation": _text(r"[a-z][a-z_]{0,39}"),
    "status_code": _text(r"[A-Za-z0-9_]{1,32}"),
    "count": _count,
    "seconds": _seconds,
}
_RESULT: dict[str, Check] = {
    "result": _text(r"success|failure"),
    "version": _text(r"[0-9]{1,18}"),
    "secret": _text(r"projects/[A-Za-z0-9][A-Za-z0-9.:-]{0,62}/secrets/[A-Za-z0-9_-]{1,255}"),
    "management_secret": _object,
    "changed": _flag,
    "versions_created": _count,
    "kind": _text(r"[a-z][a-z_]{0,39}"),
    "message": _message,
    "phase": _text(r"[a-z0-9][a-z0-9-]{0,39}"),
    "duration_seconds": _seconds,
    "gcp_api_calls": _calls,
    "k8s_api_calls": _calls,
}
