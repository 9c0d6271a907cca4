# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Converts values of YAML and Ansible that JSON and the modules do not have: dates, and vaulted strings.

ansible-core 2.18 converts the result of a template to text and parses it again. If a list contains one date or
infinite number, it stays text.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from typing import Any

from ansible.release import __version__

from ..module_utils.model.shown import quoted

__all__ = ["HAS_VAULTED_STRINGS", "decrypted", "not_in_json", "plain"]

HAS_VAULTED_STRINGS = __version__.startswith("2.18.")
"""A newer ansible-core decrypts such a string when it is read."""


def decrypted(value: Any) -> Any:
    """Return the value with plain strings in place of ansible-core 2.18's vaulted strings.

    :raises AnsibleError: such a string cannot be decrypted.
    """
    if isinstance(value, dict):
        return {key: decrypted(item) for key, item in value.items()} if _is_vaulted(value) else value
    if isinstance(value, (list, tuple)):
        return [decrypted(item) for item in value] if _is_vaulted(value) else value
    return str(value) if _is_vaulted(value) else value


def plain(value: Any) -> Any:
    """Return a copy without Ansible's additions: tags on strings and numbers, containers that template their
    content.
    """
    for kind in (str, bool, int, float):
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    return value


def _is_vaulted(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_is_vaulted, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_is_vaulted, value))
    return bool(getattr(value, "__ENCRYPTED__", False))


def not_in_json(value: Any, path: str, *, in_document: bool = False) -> str | None:
    """Return what is wrong with the first date or infinite number in a value, or None.

    :param path: the path of the value, for the message.
    :param in_document: whether the value is part of a docker config, whose keys may be credentials.
    """
    if isinstance(value, Mapping):
        for key, item in value.items():
            name = "(not shown)" if in_document else _name(key)
            problem = not_in_json(key, f"a key of {path}") or not_in_json(
                item, f"{path}.{name}", in_document=in_document or key == "inline"
            )
            if problem:
                return problem
    elif isinstance(value, (list, tuple)):
        found = (
            not_in_json(item, f"{path}.{index}", in_document=in_document) for index, item in enumerate(value)
        )
        return next((problem for problem in found if problem), None)
    elif isinstance(value, (datetime.date, datetime.time)):
        return f"{path} is a date; put it in quotes"
    elif isinstance(value, float) and not math.isfinite(value):
        return f"{path} is not a finite number"
    return None


def _name(key: Any) -> str:
    return quoted(key).strip("'") if isinstance(key, str) else "(not shown)"
