# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A node's ``config.json`` as others left it: what of it is of use, and what kubelet makes of it.  No I/O."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple, Optional

from ...dockerconfig import DockerConfig, DockerConfigError, load
from ...dockerconfig.display import display
from ...dockerconfig.entries import FIELDS, fold
from ...dockerconfig.lint import canonical_bytes
from . import members
from .fields import is_plain

__all__ = ["Found", "alone", "is_fatal", "look", "to_bytes"]

_LONGEST = 4300
_REJECTS = "rejects the whole file"


class Found(NamedTuple):
    """``auths``: key -> entry; ``beside``: member -> value, see ``members``; both are secret.

    ``config``: the whole, where it is a docker config; ``rule``: for which nothing of it can be understood;
    ``unfit``: what of others cannot be written again; ``notes``: what else is to be told.
    """

    auths: dict[str, Any]
    beside: dict[str, Any]
    config: Optional[DockerConfig] = None
    rule: str = ""
    unfit: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def look(data: Optional[bytes]) -> Found:
    """A document that others wrote may break our rules and still be of use to kubelet."""
    if data is None:
        return Found({}, {})
    try:
        config = load(data, allow_empty=True)
        return Found(dict(config._auths), members.flat(config._extra), config)
    except DockerConfigError as error:
        rule = error.rule
    document = _parsed(data)
    if not isinstance(document, dict):
        return Found({}, {}, rule=rule)
    pairs = document.pairs if isinstance(document, _Repeating) else list(document.items())
    parts = [value for name, value in pairs if fold(name) == "auths" and value is not None]
    if not all(isinstance(part, dict) for part in parts):
        return Found({}, {}, rule=rule)
    # As Go reads them: names without case, and all of one name into one map.
    auths = {key: entry for part in parts for key, entry in part.items()}
    beside = members.flat(members.joined((name, value) for name, value in pairs if fold(name) != "auths"))
    why = "cannot be written again (a number out of range, or nested without end)"
    unfit = [
        f"{display(key, position)}: an entry of others that {why}"
        for position, (key, entry) in enumerate(sorted(auths.items()))
        if not is_plain(entry)
    ]
    unfit += [
        f"{members.label(name)}: a member of others that {why}"
        for name, value in beside.items()
        if not is_plain(value)
    ]
    return Found(
        {key: entry for key, entry in auths.items() if is_plain(entry)},
        {name: value for name, value in beside.items() if is_plain(value)},
        unfit=tuple(unfit),
        notes=tuple(_twice(pairs)),
    )


class _Repeating(dict[str, Any]):
    """An object in which a name is there more than once, with all that it says."""

    pairs: list[tuple[str, Any]]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = _Repeating(pairs)
    found.pairs = pairs
    return dict(found) if len(found) == len(pairs) else found


def _twice(pairs: list[tuple[str, Any]]) -> list[str]:
    times = Counter(name for name, _value in pairs)
    return [
        f"{members.label(name)}: in the node's file more than once: read as Go reads it"
        for name in sorted(times)
        if times[name] > 1
    ]


def _whole(digits: str) -> float:
    # Python refuses to read a longer one, or needs minutes: it is dropped alone, as one out of range is.
    return int(digits) if len(digits.lstrip("-")) <= _LONGEST else math.inf


def _no_json(_word: str) -> Any:
    raise ValueError


def _parsed(data: bytes) -> Any:
    """As Go would: UTF-8, in which it replaces what is none, and neither NaN nor Infinity."""
    try:
        return json.loads(
            data.decode("utf-8", "replace"),
            parse_int=_whole,
            parse_constant=_no_json,
            object_pairs_hook=_object,
        )
    except (ValueError, RecursionError):
        return None


def to_bytes(auths: Mapping[str, Any], extra: Mapping[str, Any]) -> bytes:
    """The file's content; the same for the same meaning."""
    try:
        return canonical_bytes(auths, extra)
    except UnicodeEncodeError:
        # Half of a surrogate pair, in an entry of others: only an escape can say it.
        document = {**extra, "auths": auths}
        return json.dumps(document, sort_keys=True, separators=(",", ":")).encode("ascii")


def alone(key: str, entry: Any) -> Optional[DockerConfig]:
    """The entry as a docker config of its own, if it is one."""
    try:
        return load({"auths": {key: entry}})
    except DockerConfigError:
        return None


def is_fatal(key: str, entry: Any) -> bool:
    """Whether kubelet loses every credential of the node for this entry."""
    if isinstance(entry, dict):
        # Go compares names without case.
        entry = {fold(name) if fold(name) in FIELDS else name: value for name, value in entry.items()}
    try:
        load({"auths": {key: entry}})
    except DockerConfigError as error:
        return any(item.kubelet == _REJECTS for item in error.findings)
    return False
