# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds misspelt and misplaced keys in a cluster's spec. Pure.

The API stores any field, so a key that nobody reads has no effect and causes no error. Unknown keys that do
not resemble ours stay allowed: the API adds fields, such as ``spec.platform.gcp.projectID``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import ConfigurationError
from .misspelt import has_same_letters, slip_of
from .shown import shown

__all__ = ["DATA", "GCP", "PROJECT", "PULL_SECRET", "REPLICATION", "Key", "check_keys"]


@dataclass(frozen=True)
class Key:
    """A key that is read.

    :param level: the path of its mapping, with that mapping's first spelling.
    :param names: its spellings: camelCase first, then snake_case.
    :param is_common: a common word with other meanings elsewhere in the spec.
    :param is_optional: without it a default applies silently. So a difference of one letter is refused, too,
        and the key is searched in the entire document.
    """

    level: str
    names: tuple[str, ...]
    is_common: bool = False
    is_optional: bool = False

    @property
    def path(self) -> str:
        """The path, as the documentation writes it."""
        return f"{self.level}.{self.names[0]}"


GCP = Key("spec", ("gcp",), is_common=True)
PROJECT = Key("spec.gcp", ("projectId", "project_id"))
REPLICATION = Key("spec.gcp", ("replicationPolicy", "replication_policy"), is_optional=True)
PULL_SECRET = Key("spec", ("pullSecret", "pull_secret"))
DATA = Key("spec.pullSecret", ("data",), is_common=True)
# Deeper mappings belong to others: today's API has a project in spec.platform.gcp.
_LEVELS = ("spec", "spec.gcp", "spec.pullSecret")


def check_keys(cluster: Mapping[str, Any], *keys: Key) -> None:
    """Refuse misspelt and misplaced keys.

    A key without a value is ignored, and so is a key with the value of the right one.

    :raises ConfigurationError: names the key's path and the right one.
    """
    right: dict[str, list[Any]] = {key.path: [] for key in keys}
    wrong: list[tuple[str, Key, Any]] = []
    for level, before, name, value in _walk(cluster):
        key = _meant(level, name, keys)
        if key is None:
            continue
        if level == key.level and name in key.names:
            right[key.path].append(value)
        else:
            wrong.append((f"{before}{shown(name)}", key, value))
    for path, key, value in wrong:
        if value not in right[key.path]:
            raise ConfigurationError(f"{path} is not a known field; did you mean {key.path}?")


def _meant(level: str | None, name: str, keys: Iterable[Key]) -> Key | None:
    for key in keys:
        is_here = level == key.level
        if not is_here and (key.is_common or not (key.is_optional or level in _LEVELS)):
            continue
        if has_same_letters(name, key.names[0]) or (key.is_optional and slip_of(name, key.names[1:])):
            return key
    return None


def _walk(cluster: Mapping[str, Any]) -> Iterator[tuple[str | None, str, str, Any]]:
    """Yield each key with a value in the document and its spec: level, printable path of the mapping, name,
    value.

    The level is None where nothing is read.
    """
    left: list[tuple[str | None, str, Mapping[str, Any]]] = [("", "", cluster)]
    while left:
        level, before, mapping = left.pop()
        for name, value in mapping.items():
            if not isinstance(name, str) or value is None or value == "":
                continue
            yield level, before, name, value
            if isinstance(value, Mapping) and (level != "" or name == "spec"):
                left.append((_level_below(level, name), f"{before}{shown(name)}.", value))


def _level_below(level: str | None, name: str) -> str | None:
    if level == "":
        return name
    if level == "spec":
        return next((key.path for key in (GCP, PULL_SECRET) if name in key.names), None)
    return None
