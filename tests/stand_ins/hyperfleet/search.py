# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The `search` parameter: one term of TSL (tree search language).

A term is `FIELD = 'text'` or `FIELD in [...]`, and a field `id`, `name` or a label: `labels.env`. All else is
refused. Lists stand in brackets since the API's TSL v6 (June 2026); builds before it want parentheses.
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
_VALUE = "'[^']*'"
_LIST = rf"{_VALUE}(?:\s*,\s*{_VALUE})*"
_TERM = re.compile(
    rf"""(?P<field>id|name|labels\.[\w./-]+)\s*
    (?: =\s*(?P<value>{_VALUE}) | \s in\s*(?P<list>\[\s*{_LIST}\s*\]|\(\s*{_LIST}\s*\)) )\s*""",
    re.VERBOSE,
)


def compile_search(text: str, lists: ListForm = "brackets") -> Predicate:
    """The predicate of a search; ApiError VAL-005 for one that cannot be read or is too long."""
    found = _TERM.fullmatch(text)
    bracket = "[" if lists == "brackets" else "("
    if len(text) > _LONGEST or found is None or (found["list"] or bracket)[0] != bracket:
        raise ApiError("VAL-005", "the search cannot be read")
    field = found["field"]
    values = {value.strip("'") for value in re.findall(_VALUE, found["value"] or found["list"])}
    label = field.removeprefix("labels.")
    if label != field:
        return lambda cluster: cluster.labels.get(label) in values
    return lambda cluster: getattr(cluster, field) in values
