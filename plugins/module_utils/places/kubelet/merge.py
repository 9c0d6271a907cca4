# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Merges our docker config into what others wrote into a node's file. No I/O.

Other programs write into ``config.json``, too (a cloud's credential refresher). Foreign entries stay. Our
entries that are no longer wanted are removed. A foreign entry that ours replaced is restored when ours is
removed. Members beside ``auths`` are one unit with one owner: members of our docker config replace all
foreign members.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from typing import Any, NamedTuple

from ...dockerconfig import DockerConfig, DockerConfigError, Layer, load, merge, registry_identity
from ...dockerconfig.display import display
from ...dockerconfig.entries import fold, lacks_user_or_password
from ...model.errors import InvalidDocument
from ..recognise import is_docker_config
from .ledger import Backup, Ledger
from .node_file import NodeFile, broken_rule, entry_config, is_fatal, node_file_bytes, parse_file

__all__ = ["FOREIGN", "MEMBERS", "OURS", "MergedFile", "Ownership", "merge_file", "ownership", "revert"]

OURS, FOREIGN = "pull secret", "node"

MEMBERS = ""
"""The ledger's name for all members beside ``auths``."""

# Bytes of a node's file, whose foreign part may be larger than a Secret.
_LARGEST = 16 * 1024 * 1024
# An earlier release's ledger lists their members one by one, as ``credHelpers/registry``.
_MAPS = ("credHelpers", "HttpHeaders")
_MEMBERS_OF_DOCKER_CONFIGS = frozenset({"credhelpers", "credsstore", "httpheaders"})


class MergedFile(NamedTuple):
    """``data``: the wanted content of the file, None for no file. Secret, as are both configs and
    ``displaced``.

    ``before``, ``after``: as far as they are docker configs; ``entries``, ``members``: name to digest of
    ours; ``foreign``: key to digest of foreign entries; ``displaced``: foreign entries that ours replaces;
    ``differs``: in meaning.
    """

    data: bytes | None
    before: DockerConfig | None
    after: DockerConfig | None
    provenance: dict[str, str]
    entries: dict[str, str]
    members: dict[str, str]
    foreign: dict[str, str]
    displaced: dict[str, Any]
    differs: bool
    warnings: list[str]


class _Entries(NamedTuple):
    """Foreign entries: those that stay in the file, those that ours replaces, and warnings about the others."""

    kept: dict[str, Any]
    displaced: dict[str, Any]
    warnings: list[str]


def merge_file(
    current: bytes | None, desired: DockerConfig | None, ledger: Ledger, backup: Backup
) -> MergedFile:
    """Return the node's file with ``desired`` in it; None: without anything of ours.

    :raises InvalidDocument: names the rule; nothing may be written.
    """
    found = parse_file(current)
    _check(found, desired, ledger)
    foreign_entries = {
        key: entry for key, entry in found.auths.items() if not ledger.owns(key, _digest(ledger, key, entry))
    }
    unusable: list[str] = []
    if desired is not None:
        desired, unusable = _without_unusable_entries(desired, {**backup.displaced, **foreign_entries})
    mine, mine_beside = (desired.plain_auths, desired.plain_extra) if desired is not None else ({}, {})
    entries = _entries(found, foreign_entries, desired, backup)
    _ours, foreign = _split_members(found, ledger)
    broken = {name: rule for name, value in foreign.items() if (rule := broken_rule(name, value))}
    members = foreign if desired is None else {} if mine_beside else _without(foreign, broken)
    # Parts that break our rules and are not removed stay unchanged.
    odd_entries = {key: entry for key, entry in entries.kept.items() if entry_config(key, entry) is None}
    odd_members = {name: value for name, value in members.items() if name in broken}
    merged, entry_warnings = _merge(
        _without(entries.kept, odd_entries), _without(members, odd_members), desired
    )
    left = {**merged.plain_extra, **odd_members}
    after: DockerConfig | None = merged
    has_nothing_of_ours = desired is None and (entries.kept, members) == (found.auths, found.members)
    is_bare = desired is None and not entries.kept and not members
    if has_nothing_of_ours and found.config is None:
        data, after = current, None if found.rule or current is None else merged
    elif is_bare and (ledger.was_absent or current is None):
        data, after = None, None
    elif desired is None and left and not (has_nothing_of_ours or entries.kept or _has_docker_member(left)):
        # The 'auths' of another program's file are ours.
        data = json.dumps(left, sort_keys=True, separators=(",", ":")).encode("ascii")
    else:
        data = node_file_bytes({**odd_entries, **merged.plain_auths}, left)
    lost = _lost_members(foreign, left, broken, is_replaced=bool(mine_beside))
    is_claimed = bool(mine_beside) and foreign != merged.plain_extra
    return MergedFile(
        data=data,
        before=found.config,
        after=after,
        provenance={key: OURS if key in mine else FOREIGN for key in merged.registries},
        entries={key: _digest(ledger, key, merged.plain_auths[key]) for key in mine},
        members={MEMBERS: _digest_member(ledger, MEMBERS, merged.plain_extra)} if is_claimed else {},
        foreign={key: _digest(ledger, key, entry) for key, entry in entries.kept.items()},
        displaced=entries.displaced,
        differs=_differs(found, current, data),
        warnings=[
            *_unreadable(found, is_left=data == current),
            *(_unlike_docker_config(found, current) if desired is not None else ()),
            *entries.warnings,
            *unusable,
            *entry_warnings,
            *lost,
        ],
    )


def _check(found: NodeFile, desired: DockerConfig | None, ledger: Ledger) -> None:
    if desired is not None and not desired.registries:
        raise InvalidDocument(
            "the docker config has no registry", "use state absent to remove our entries from the node's file"
        )
    if desired is None and found.rule and (ledger.entries or ledger.members):
        raise InvalidDocument(
            f"the node's file is not a docker config [{found.rule}]: "
            "the entries of this collection cannot be identified",
            "repair or remove it",
        )


def _merge(
    auths: dict[str, Any], members: dict[str, Any], desired: DockerConfig | None
) -> tuple[DockerConfig, list[str]]:
    """Return the merged content, and warnings about foreign entries with which a pull probably fails."""
    try:
        foreign = load({**members, "auths": auths}, allow_empty=True, max_bytes=_LARGEST)
        entry_warnings = [str(warning) for warning in foreign.warnings if warning.strict]
        if desired is None:
            return foreign, entry_warnings
        if not foreign.registries and not foreign.plain_extra:
            return desired, entry_warnings
        return merge([Layer(FOREIGN, foreign), Layer(OURS, desired)]).config, entry_warnings
    except DockerConfigError as error:
        raise InvalidDocument(f"merge into the node's file: {error}") from None


def _without_unusable_entries(
    desired: DockerConfig, foreign: dict[str, Any]
) -> tuple[DockerConfig, list[str]]:
    """Return our docker config without entries that cannot work where a foreign entry can, and a warning each."""
    usable_elsewhere = {
        registry_identity(key)
        for key, entry in foreign.items()
        if (config := entry_config(key, entry)) is not None
        and not all(map(lacks_user_or_password, config.plain_auths.values()))
    }
    unusable = {
        key: position
        for position, (key, entry) in enumerate(desired.plain_auths.items())
        if registry_identity(key) in usable_elsewhere and lacks_user_or_password(entry)
    }
    if not unusable:
        return desired, []
    usable = _without(desired.plain_auths, unusable)
    replaced = set(map(registry_identity, usable))
    warnings = [
        f"{display(key, position)}: the node's own entry stays, because the user name or password of the pull "
        "secret's entry is empty"
        for key, position in unusable.items()
        # Under another spelling, the pull secret has one that can work.
        if registry_identity(key) not in replaced
    ]
    return DockerConfig(usable, desired.plain_extra), warnings


def _entries(
    found: NodeFile, foreign: dict[str, Any], desired: DockerConfig | None, backup: Backup
) -> _Entries:
    fatal = {key for key, entry in foreign.items() if is_fatal(key, entry)}
    there = foreign if desired is None else _without(foreign, fatal)
    # A registry may have two names, and both entries are restored. An entry that was written since, under any
    # name of the registry, replaces them, unless kubelet cannot use it.
    rewritten = {registry_identity(key) for key in foreign if key not in fatal}
    back = {
        key: entry
        for key, entry in backup.displaced.items()
        if key not in foreign and registry_identity(key) not in rewritten and not is_fatal(key, entry)
    }
    wanted = {registry_identity(key) for key in desired.registries} if desired is not None else set()
    displaced = {key: entry for key, entry in {**there, **back}.items() if registry_identity(key) in wanted}
    warnings = [
        f"{display(key, position)}: removed this foreign entry, because with it kubelet would reject the "
        f"whole file"
        for position, key in enumerate(sorted(found.auths))
        if key in fatal and desired is not None
    ]
    return _Entries(_without({**there, **back}, displaced), displaced, warnings)


def _split_members(found: NodeFile, ledger: Ledger) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """Split the members beside ``auths`` into the digests of ours and the foreign members."""
    digest = _digest_member(ledger, MEMBERS, found.members)
    if ledger.owns_member(MEMBERS, digest):
        return {MEMBERS: [digest]}, {}
    # An earlier release noted ours one by one.
    ours: dict[str, list[str]] = {}
    foreign: dict[str, Any] = {}
    for name, value in found.members.items():
        is_map = name in _MAPS and isinstance(value, dict) and value
        left = {}
        for inner, item in value.items() if is_map else [("", value)]:
            noted = f"{name}/{inner}" if is_map else name
            digest = _digest_member(ledger, noted, item)
            if ledger.owns_member(noted, digest):
                ours[noted] = [digest]
            else:
                left[inner] = item
        if left:
            foreign[name] = left if is_map else value
    return ours, foreign


def _lost_members(
    foreign: dict[str, Any], after: dict[str, Any], broken: dict[str, str], *, is_replaced: bool
) -> list[str]:
    lost = sorted(name for name, value in foreign.items() if after.get(name) != value)
    if not lost:
        return []
    # Imported only for a warning, which few nodes ever have, to save the syncer's memory.
    from ...model.shown import shown

    # Unless it was replaced, it is a helper that readers would use instead of our entry.
    reason = (
        "the pull secret sets such fields itself"
        if is_replaced
        else "it names a credential helper, which would be used before the pull secret"
    )
    why = {name: f"it breaks the rule {broken[name]}" if name in broken else reason for name in lost}
    return [f"{shown(name)}: removed this field of another program, because {why[name]}" for name in lost]


class Ownership(NamedTuple):
    """The owners in a file: ``entries`` and ``members`` are ours, with their digests."""

    entries: dict[str, list[str]]
    members: dict[str, list[str]]
    foreign: set[str]
    has_foreign_members: bool


def ownership(data: bytes | None, ledger: Ledger) -> Ownership:
    """Return the owners in the file."""
    found = parse_file(data)
    entries = {key: _digest(ledger, key, entry) for key, entry in found.auths.items()}
    ours = {key: [digest] for key, digest in entries.items() if ledger.owns(key, digest)}
    members, foreign_members = _split_members(found, ledger)
    return Ownership(ours, members, set(entries) - set(ours), bool(foreign_members))


def revert(data: bytes | None, previous: bytes | None, ledger: Ledger) -> bytes | None:
    """Return a file that another program has changed meanwhile, with our entries as they were in
    ``previous``.
    """
    now = ownership(data, ledger)
    if data == previous or not (now.foreign or now.has_foreign_members):
        return previous
    found, before = parse_file(data), parse_file(previous)
    auths = {key: entry for key, entry in found.auths.items() if key in now.foreign}
    taken = {registry_identity(key) for key in now.foreign}
    auths.update({key: entry for key, entry in before.auths.items() if registry_identity(key) not in taken})
    return node_file_bytes(auths, found.members if now.has_foreign_members else before.members)


def _differs(found: NodeFile, current: bytes | None, data: bytes | None) -> bool:
    if data is None or current is None or data == current:
        return data != current
    return bool(found.rule) or node_file_bytes(found.auths, found.members) != data


def _unreadable(found: NodeFile, *, is_left: bool) -> list[str]:
    if not found.rule:
        return []
    fate = (
        "it was not changed" if is_left else "it was replaced; a rollback of this write restores it unchanged"
    )
    return [f"the node's file was not a docker config [{found.rule}]; {fate}"]


def _unlike_docker_config(found: NodeFile, current: bytes | None) -> list[str]:
    """Return a warning if nothing in the file is a docker config's, as in Docker's daemon.json."""
    if (
        found.rule
        or not found.members
        or _has_docker_member(found.members)
        or is_docker_config(current or b"")
    ):
        return []
    return [
        "the node's file had no auths; if it is another program's file, remove them with state absent, and set path"
    ]


def _has_docker_member(members: Mapping[str, Any]) -> bool:
    return any(fold(name) in _MEMBERS_OF_DOCKER_CONFIGS for name in members)


def _without(values: dict[str, Any], names: Container[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _digest(ledger: Ledger, key: str, entry: Any) -> str:
    """Digest of the entry's meaning: another program may have padded or re-ordered it."""
    config = entry_config(key, entry)
    if config is not None:
        return ledger.digest(config.canonical())
    return _digest_member(ledger, key, entry)


def _digest_member(ledger: Ledger, name: str, value: Any) -> str:
    return ledger.digest(json.dumps({name: value}, sort_keys=True).encode("utf-8", "surrogatepass"))
