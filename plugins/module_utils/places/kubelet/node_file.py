# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The content of a node's ``config.json``: what other programs wrote, and how kubelet reads it. No I/O."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...dockerconfig import DockerConfig, DockerConfigError, load
from ...dockerconfig.entries import FIELDS, fold
from ...dockerconfig.lint import canonical_bytes
from .records import parse_json

__all__ = ["NodeFile", "broken_rule", "entry_config", "is_fatal", "node_file_bytes", "parse_file"]

_REJECTS = "rejects the whole file"


class NodeFile(NamedTuple):
    """``auths``: key to entry; ``members``: the members beside it, by name. Both are secret.

    ``config``: the complete file, if it is a docker config; ``rule``: the rule for which nothing of it is
    read.
    """

    auths: dict[str, Any]
    members: dict[str, Any]
    config: DockerConfig | None = None
    rule: str = ""


def parse_file(data: bytes | None) -> NodeFile:
    """Read the file entry by entry: it may break our rules and still be useful to kubelet."""
    if data is None:
        return NodeFile({}, {})
    try:
        config = load(data, allow_empty=True)
        return NodeFile(dict(config.plain_auths), dict(config.plain_extra), config)
    except DockerConfigError as error:
        unreadable = NodeFile({}, {}, rule=error.rule)
    try:
        document = parse_json(data)
    except ValueError:
        return unreadable
    if not isinstance(document, dict):
        return unreadable
    # Go compares names without case, and reads all spellings into one map.
    parts = [value for name, value in document.items() if fold(name) == "auths" and value is not None]
    if not all(isinstance(part, dict) for part in parts):
        return unreadable
    return NodeFile(
        {key: entry for part in parts for key, entry in part.items()},
        {name: value for name, value in document.items() if fold(name) != "auths"},
    )


def node_file_bytes(auths: Mapping[str, Any], members: Mapping[str, Any]) -> bytes:
    """Return the file's content, which is the same for the same meaning."""
    try:
        return canonical_bytes(auths, members)
    except UnicodeEncodeError:
        # Half of a surrogate pair, in a foreign entry, can only be written as an escape.
        document = {**members, "auths": auths}
        return json.dumps(document, sort_keys=True, separators=(",", ":")).encode("ascii")


def entry_config(key: str, entry: Any) -> DockerConfig | None:
    """The entry as a docker config of its own, if it is one."""
    try:
        return load({"auths": {key: entry}})
    except DockerConfigError:
        return None


def is_fatal(key: str, entry: Any) -> bool:
    """Whether this entry makes kubelet reject every credential of the node."""
    if isinstance(entry, dict):
        entry = {fold(name) if fold(name) in FIELDS else name: value for name, value in entry.items()}
    try:
        load({"auths": {key: entry}})
    except DockerConfigError as error:
        return any(item.kubelet == _REJECTS for item in error.findings)
    return False


def broken_rule(name: str, value: Any) -> str:
    """Return the rule that refuses a docker config with this member, or nothing."""
    try:
        load({"auths": {}, name: value}, allow_empty=True)
    except DockerConfigError as error:
        return error.rule
    return ""
