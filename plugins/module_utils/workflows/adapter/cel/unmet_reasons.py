# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Explains why a precondition does not hold. Pure.

Reasons name fields and quote the expression's own strings, never the cluster's values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ....clients.hyperfleet.statuses import AdapterStatus
from .expressions import Operand
from .tokens import Token
from .view import is_current

__all__ = ["unavailable_reason", "unmet_reason"]

_CONSTANT = re.compile(r"[A-Za-z][A-Za-z0-9]{0,63}\Z")
_NULL = ("null", "nil")
_COMPARED = {
    "==": "is not",
    "!=": "is",
    "<": "is not less than",
    "<=": "is more than",
    ">": "is not more than",
    ">=": "is less than",
}
# By the kind of error that the evaluator raises.
_BROKEN = {
    "KeyError": "reads a field that does not exist",
    "NotBool": "is neither true nor false",
    "TypeError": "compares or calls values of the wrong type",
    "ZeroDivisionError": "divides by zero",
}


def unavailable_reason(
    adapter: str, cluster: Mapping[str, Any], statuses: Mapping[str, AdapterStatus]
) -> str | None:
    """Return why an adapter is not Available for the cluster's current generation, or None if it is."""
    status = statuses.get(adapter)
    if status is None:
        return f"adapter {adapter} has not reported"
    if not is_current(status, cluster):
        theirs = cluster["generation"] if isinstance(cluster["generation"], int) else "none"
        mine = status.generation
        return f"adapter {adapter} reported on generation {mine}, but the cluster has generation {theirs}"
    found = status.conditions.get("Available")
    if found is not None and found.status == "True":
        return None
    said = [text for text in (found.status, found.reason) if _CONSTANT.match(text)] if found else []
    return f"adapter {adapter} is not Available" + (f" ({': '.join(said)})" if said else "")


def unmet_reason(
    name: str,
    part: Operand,
    found: str | bool,
    values: Mapping[str, Any],
    cluster: Mapping[str, Any],
    statuses: Mapping[str, AdapterStatus],
) -> str:
    """Return why an operand does not hold.

    :param name: of the precondition, such as ``preconditions[2]``.
    :param found: the result: False, or the name of a kind of error.
    :param values: the view that it was evaluated on.
    """
    of_adapters = [path[2] for path in part.paths if path[:2] == ("status", "adapters") and len(path) > 2]
    of_adapters += [
        path[3] for path in part.paths if path[:3] == ("cluster", "status", "adapters") and len(path) > 3
    ]
    missing = [path for path in part.paths if not _is_there(values, path)]
    for adapter in of_adapters:
        # The adapter is Available, so the expression tests something else.
        reason = unavailable_reason(adapter, cluster, statuses)
        if reason is not None:
            return reason
    simple = _simple(part.words, part.paths)
    if found is False and simple:
        return simple
    # Reading a field of null is a type error.
    if missing and (found in ("KeyError", "TypeError") or (found is False and len(part.paths) == 1)):
        return f"{_dotted(missing[0])} does not exist"
    what = _BROKEN.get(found, "cannot be evaluated") if isinstance(found, str) else "is false"
    return f"{name} {what}"


def _simple(words: Sequence[Token], paths: Sequence[tuple[str, ...]]) -> str | None:
    """Explain ``path == "text"`` and similar comparisons, ``has(path)`` and ``path``."""
    if len(paths) != 1:
        return None
    path, texts = _dotted(paths[0]), [word.text for word in words]
    if _dotted_words(texts) == path:
        return f"{path} is not true"
    if texts[-1] in _NULL and texts[-2] == "!=" and _dotted_words(texts[:-2]) == path:
        return f"{path} does not exist"
    if texts[:2] == ["has", "("] and texts[-1] == ")" and _dotted_words(texts[2:-1]) == path:
        return f"{path} does not exist"
    literal = len(words) > 2 and (words[-1].kind in ("string", "number") or texts[-1] in ("true", "false"))
    if literal and texts[-2] in _COMPARED and _dotted_words(texts[:-2]) == path:
        return f"{path} {_COMPARED[texts[-2]]} {texts[-1]}"
    return None


def _dotted_words(texts: Sequence[str]) -> str:
    return re.sub(r"\[[\"']([^\"']*)[\"']\]", r".\1", "".join(texts))


def _dotted(path: Sequence[str]) -> str:
    return ".".join(path)


def _is_there(values: Any, path: Sequence[str]) -> bool:
    for name in path:
        if not isinstance(values, Mapping) or name not in values:
            return False
        values = values[name]
    return True
