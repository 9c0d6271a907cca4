# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a node's file is to hold: ours merged into what others wrote there.  No I/O.

Others write into ``config.json`` too (a cloud's credential refresher).  Their entries and members stay, ours
that are no longer wanted go, and what ours took the place of comes back when ours goes.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple, Optional

from ...dockerconfig import DockerConfig, DockerConfigError, Layer, load, merge, registry_identity
from ...dockerconfig.display import display
from ...model.errors import InvalidDocument
from . import members
from .found import Found, alone, is_fatal, look, to_bytes
from .ledger import Backup, Ledger

__all__ = ["FOREIGN", "OURS", "Composed", "Held", "compose", "held", "revert"]

OURS, FOREIGN = "pull secret", "node"

# Of a node's file, of which others' part may be larger than a Secret.
_LARGEST = 16 * 1024 * 1024


class Composed(NamedTuple):
    """``data``: what the file is to hold, None for no file.  Secret, as both configs and the displaced are.

    ``before``, ``after``: as far as they are docker configs; ``entries``, ``members``: key or name -> digest
    of ours; ``foreign``, ``foreign_members``: likewise, of others'; ``displaced``, ``displaced_members``:
    what of others is not in the file; ``displaced_file``: what is there, where nothing of it can be
    understood and ours takes its place; ``differs``: in meaning.
    """

    data: Optional[bytes]
    before: Optional[DockerConfig]
    after: Optional[DockerConfig]
    provenance: dict[str, str]
    entries: dict[str, str]
    members: dict[str, str]
    foreign: dict[str, str]
    foreign_members: dict[str, str]
    displaced: dict[str, Any]
    displaced_members: dict[str, Any]
    displaced_file: Optional[bytes]
    differs: bool
    warnings: list[str]


class _Foreign(NamedTuple):
    """What of others is to be in the file, and what is not."""

    there: dict[str, Any]
    away: dict[str, Any]
    warnings: list[str]


def compose(
    current: Optional[bytes], desired: Optional[DockerConfig], ledger: Ledger, backup: Backup
) -> Composed:
    """The node's file with ``desired`` in it; None: without anything of ours.

    :raises InvalidDocument: naming the rule; nothing is to be written.
    """
    if desired is not None and not desired.registries:
        raise InvalidDocument(
            "the docker config has no registry", "state absent takes our entries from the node"
        )
    found = look(current)
    has_ours = bool(ledger.entries or ledger.members) and current != backup.displaced_file
    if desired is None and found.rule and has_ours:
        raise InvalidDocument(
            f"the node's file is no docker config [{found.rule}]: what of it is ours cannot be told",
            "mend or remove it",
        )
    entries = _entries(found, desired, ledger, backup)
    beside = _members(found, desired, ledger, backup)
    # What is no docker config stays as it is.
    rest = {key: entry for key, entry in entries.there.items() if alone(key, entry) is None}
    odd = {name: value for name, value in beside.there.items() if members.rule_broken(name, value)}
    try:
        others = load(
            {
                **members.nested(members.without(beside.there, odd)),
                "auths": members.without(entries.there, rest),
            },
            allow_empty=True,
            max_bytes=_LARGEST,
        )
        merged = _merge(others, desired)
    except DockerConfigError as error:
        raise InvalidDocument(f"merge into the node's file: {error}") from None
    after = members.flat(merged._extra)
    mine = members.flat(desired._extra) if desired is not None else {}
    is_left = desired is None and (entries.there, beside.there) == (found.auths, found.beside)
    is_bare = desired is None and not entries.there and not beside.there
    result: Optional[DockerConfig] = merged
    if is_left and found.config is None:
        # Nothing of ours is there, and nothing comes back.
        data, result = current, None if found.rule or current is None else merged
    elif is_bare and not is_left and backup.displaced_file is not None:
        data, result = backup.displaced_file, None
    elif is_bare and (ledger.was_absent or current is None):
        data, result = None, None
    elif rest or odd:
        data = to_bytes({**rest, **merged._auths}, members.nested({**after, **odd}))
    else:
        data = merged.canonical()
    warnings = [*found.notes, *_lost(found, is_left=data == current), *entries.warnings, *beside.warnings]
    if desired is None and not is_bare and not is_left and backup.displaced_file is not None:
        warnings.append("the file that was no docker config is not put back: others have written since")
    # Ours took their place, or is not to be led past by them (a credHelper).
    lost = {
        name: value for name, value in beside.there.items() if name not in odd and after.get(name) != value
    }
    return Composed(
        data=data,
        before=found.config,
        after=result,
        provenance={
            key: OURS if desired is not None and key in desired._auths else FOREIGN
            for key in merged.registries
        },
        entries={
            key: _digest(ledger, key, merged._auths[key]) for key in (desired._auths if desired else ())
        },
        members={name: _digest_of_member(ledger, name, after[name]) for name in mine if name in after},
        foreign={key: _digest(ledger, key, entry) for key, entry in entries.there.items()},
        foreign_members={
            name: _digest_of_member(ledger, name, value)
            for name, value in beside.there.items()
            if name not in lost
        },
        displaced=entries.away,
        displaced_members={**beside.away, **lost},
        displaced_file=current if desired is not None and found.rule else None,
        differs=_differs(found, current, result, bool(rest or odd), data),
        warnings=warnings,
    )


def _entries(found: Found, desired: Optional[DockerConfig], ledger: Ledger, backup: Backup) -> _Foreign:
    wanted = {registry_identity(key) for key in desired.registries} if desired is not None else set()
    away: dict[str, Any] = {}
    there: dict[str, Any] = {}
    warnings: list[str] = []
    for position, (key, entry) in enumerate(sorted(found.auths.items())):
        if ledger.owns(key, _digest(ledger, key, entry)):
            continue
        if registry_identity(key) in wanted:
            away[key] = entry
        elif desired is not None and is_fatal(key, entry):
            away[key] = entry
            warnings.append(
                f"{display(key, position)}: an entry of others for which kubelet rejects the whole file: "
                "taken out, and kept in the backup"
            )
        else:
            there[key] = entry
    # Others may have two names of one registry: both come back. What they have written anew, under whichever
    # name, takes the place of what was kept, unless kubelet cannot use it.
    anew = {**there, **away} if backup.displaced else {}
    known = {registry_identity(key) for key, entry in anew.items() if not is_fatal(key, entry)}
    for key, entry in backup.displaced.items():
        registry = registry_identity(key)
        if desired is not None and registry not in wanted and is_fatal(key, entry):
            away.setdefault(key, entry)
        elif registry not in known and key not in anew:
            (away if registry in wanted else there)[key] = entry
    return _Foreign(there, away, warnings)


def _members(found: Found, desired: Optional[DockerConfig], ledger: Ledger, backup: Backup) -> _Foreign:
    foreign = {name: value for name, value in found.beside.items() if not _owns_member(ledger, name, value)}
    there = {**backup.displaced_members, **foreign}
    if desired is None:
        return _Foreign(there, {}, [])
    broken = {name: members.rule_broken(name, value) for name, value in there.items()}
    warnings = [
        f"{members.label(name)}: a member of others that breaks the rule {broken[name]}: taken out, and kept "
        "in the backup"
        for name in sorted(foreign)
        if broken[name]
    ]
    away = {name: value for name, value in there.items() if broken[name]}
    return _Foreign(members.without(there, away), away, warnings)


class Held(NamedTuple):
    """What a file holds: ``entries`` and ``members`` are ours, the others the names of others'."""

    entries: dict[str, list[str]]
    members: dict[str, list[str]]
    foreign: set[str]
    foreign_members: set[str]


def held(data: Optional[bytes], ledger: Ledger) -> Held:
    """Whose is what in the file."""
    found = look(data)
    entries = {key: _digest(ledger, key, entry) for key, entry in found.auths.items()}
    beside = {name: _digest_of_member(ledger, name, value) for name, value in found.beside.items()}
    ours = {key: [digest] for key, digest in entries.items() if ledger.owns(key, digest)}
    mine = {name: [digest] for name, digest in beside.items() if ledger.owns_member(name, digest)}
    return Held(ours, mine, set(entries) - set(ours), set(beside) - set(mine))


def revert(data: Optional[bytes], previous: Optional[bytes], ledger: Ledger) -> Optional[bytes]:
    """The file that somebody else has changed meanwhile, with ours in it as they were in ``previous``."""
    theirs = held(data, ledger)
    if data == previous or not (theirs.foreign or theirs.foreign_members):
        return previous
    found, before = look(data), look(previous)
    auths = {key: entry for key, entry in found.auths.items() if key in theirs.foreign}
    for key, entry in before.auths.items():
        if not any(_same(key, other) for other in theirs.foreign):
            auths[key] = entry
    beside = {name: value for name, value in found.beside.items() if name in theirs.foreign_members}
    return to_bytes(auths, members.nested({**before.beside, **beside}))


def _differs(
    found: Found,
    current: Optional[bytes],
    result: Optional[DockerConfig],
    is_odd: bool,
    data: Optional[bytes],
) -> bool:
    if result is None or data is None or current is None or data == current:
        return data != current
    if found.config is not None:
        return is_odd or not found.config.same_meaning(result)
    return bool(found.rule or found.unfit) or to_bytes(found.auths, members.nested(found.beside)) != data


def _lost(found: Found, *, is_left: bool) -> list[str]:
    if found.rule:
        fate = "left as it is" if is_left else "replaced, and kept in the backup"
        return [f"the node's file was no docker config [{found.rule}]: {fate}"]
    return [f"{what}: {'left as it is' if is_left else 'dropped'}" for what in found.unfit]


def _digest(ledger: Ledger, key: str, entry: Any) -> str:
    """Of what the entry means: somebody may have padded or re-ordered it."""
    config = alone(key, entry)
    if config is not None:
        return ledger.digest(config.canonical())
    return _digest_of_member(ledger, key, entry)


def _digest_of_member(ledger: Ledger, name: str, value: Any) -> str:
    return ledger.digest(json.dumps({name: value}, sort_keys=True).encode("utf-8", "surrogatepass"))


def _owns_member(ledger: Ledger, name: str, value: Any) -> bool:
    return ledger.owns_member(name, _digest_of_member(ledger, name, value))


def _same(one: str, other: str) -> bool:
    return registry_identity(one) == registry_identity(other)


def _merge(foreign: DockerConfig, desired: Optional[DockerConfig]) -> DockerConfig:
    if desired is None:
        return foreign
    if not foreign.registries and not foreign._extra:
        return desired
    return merge([Layer(FOREIGN, foreign), Layer(OURS, desired)]).config
