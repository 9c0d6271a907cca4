# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What stands beside ``auths`` in a node's file, one by one.  No I/O.

A member is called by its name, and one of a map such as ``credHelpers`` by ``name/member``: so each has an
owner of its own, and one that is wrong takes no other with it.  A name that itself looks like that has a
``/`` before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...dockerconfig import DockerConfigError, load
from ...dockerconfig.display import is_displayed

__all__ = ["flat", "joined", "label", "nested", "rule_broken", "without"]

_MAPS = ("credHelpers", "HttpHeaders")


def joined(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Name -> value, of names that may be repeated: a map is then all of them, as Go reads it."""
    extra: dict[str, Any] = {}
    for name, value in pairs:
        there = extra.get(name)
        is_map = name in _MAPS and isinstance(there, dict) and isinstance(value, dict)
        extra[name] = {**there, **value} if is_map and there else value
    return extra


def flat(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Name -> value; an empty map is a member of its own."""
    found: dict[str, Any] = {}
    for name, value in extra.items():
        if name in _MAPS and isinstance(value, dict) and value:
            found.update({f"{name}/{member}": item for member, item in value.items()})
        else:
            found[_named(name)] = value
    return found


def _named(name: str) -> str:
    return f"/{name}" if name.partition("/")[0] in ("", *_MAPS) and "/" in name else name


def nested(members: Mapping[str, Any]) -> dict[str, Any]:
    """The reverse of ``flat``."""
    extra: dict[str, Any] = {}
    for name, value in sorted(members.items()):
        outer, slash, inner = name.partition("/")
        if slash and outer in _MAPS:
            # What is no map has been put there instead of one, and is the wrong one of the two.
            there = extra.get(outer)
            extra[outer] = {**(there if isinstance(there, dict) else {}), inner: value}
        else:
            extra[name[1:] if name.startswith("/") else name] = value
    return extra


def without(members: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The others."""
    away = set(names)
    return {name: value for name, value in members.items() if name not in away}


def rule_broken(name: str, value: Any) -> str:
    """The rule for which a docker config with this member is refused, or nothing."""
    try:
        load({"auths": {}, **nested({name: value})}, allow_empty=True)
    except DockerConfigError as error:
        return error.rule
    return ""


def label(name: str) -> str:
    """The member as a message may call it."""
    # Needed for a warning only, which few nodes ever have: a syncer's memory is counted.
    from ...model.shown import shown

    if name.startswith("/"):
        return shown(name[1:])
    outer, slash, inner = name.partition("/")
    if slash and outer == "credHelpers":
        return f"{outer}/{inner if is_displayed(inner) else '(not shown)'}"
    return f"{shown(outer)}/{shown(inner)}" if slash else shown(name)
