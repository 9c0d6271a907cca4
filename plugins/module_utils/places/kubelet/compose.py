# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a node's file is to hold: ours merged into what others wrote there.  No I/O.

Others write into ``config.json`` too (a cloud's credential refresher).  Their entries stay, ours that are
no longer wanted go, and what ours took the place of comes back when ours goes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, Optional

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import (
    DockerConfig,
    DockerConfigError,
    Layer,
    load,
    merge,
    registry_identity,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig.entries import FIELDS, fold
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig.keys import display
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig.lint import canonical_bytes
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import InvalidDocument
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.ledger import Ledger

__all__ = ["FOREIGN", "OURS", "Composed", "Held", "compose", "held", "revert"]

OURS, FOREIGN = "pull secret", "node"

_REJECTS = "rejects the whole file"
_MEMBERS = ("credHelpers", "HttpHeaders")


class Composed(NamedTuple):
    """``data``: what the file is to hold, None for no file.  Secret, as ``displaced`` and both configs are.

    ``before``, ``after``: as far as they are docker configs; ``entries``: key -> digest of ours;
    ``extra``: names of ours beside ``auths``; ``displaced``: entries of others that are not in the file;
    ``differs``: in meaning.
    """

    data: Optional[bytes]
    before: Optional[DockerConfig]
    after: Optional[DockerConfig]
    provenance: dict[str, str]
    entries: dict[str, str]
    extra: list[str]
    displaced: dict[str, Any]
    differs: bool
    warnings: list[str]


class _Found(NamedTuple):
    auths: dict[str, Any]
    extra: dict[str, Any]
    config: Optional[DockerConfig]
    broken: str


def compose(
    current: Optional[bytes],
    desired: Optional[DockerConfig],
    ledger: Ledger,
    displaced: Mapping[str, Any],
) -> Composed:
    """The node's file with ``desired`` in it; None: without anything of ours.

    :raises InvalidDocument: naming the rule; nothing is to be written.
    """
    if desired is not None and not desired.registries:
        raise InvalidDocument(
            "the docker config has no registry", "state absent takes our entries from the node"
        )
    found = _read(current)
    warnings = [found.broken] if found.broken else []
    wanted = {registry_identity(key) for key in desired.registries} if desired is not None else set()

    away = dict(displaced)
    foreign: dict[str, Any] = {}
    for position, (key, entry) in enumerate(sorted(found.auths.items())):
        if ledger.owns(key, _digest(ledger, key, entry)):
            continue
        if registry_identity(key) in wanted:
            away = {other: kept for other, kept in away.items() if not _same(other, key)}
            away[key] = entry
        elif desired is not None and _is_fatal(key, entry):
            away[key] = entry
            warnings.append(
                f"{display(key, position)}: an entry of others for which kubelet rejects the whole file: "
                "taken out, and kept in the backup"
            )
        else:
            foreign[key] = entry
    for key in [key for key in away if registry_identity(key) not in wanted]:
        if desired is None or not _is_fatal(key, away[key]):
            entry = away.pop(key)
            if not any(_same(other, key) for other in foreign):
                foreign[key] = entry

    extra = _foreign_extra(found.extra, ledger.extra)
    config, rest = _split(foreign, extra)
    try:
        merged = _merge(config, desired)
    except DockerConfigError as error:
        raise InvalidDocument(f"merge into the node's file: {error}") from None
    if not foreign and not extra and desired is None and (ledger.was_absent or current is None):
        data = None
    elif rest:
        data = canonical_bytes({**rest, **merged._auths}, merged._extra)
    else:
        data = merged.canonical()
    return Composed(
        data=data,
        before=found.config,
        after=merged if data is not None else None,
        provenance={
            key: OURS if desired is not None and key in desired._auths else FOREIGN
            for key in merged.registries
        },
        entries={
            key: _digest(ledger, key, merged._auths[key]) for key in (desired._auths if desired else ())
        },
        extra=_names(desired._extra) if desired is not None else [],
        displaced=away,
        differs=_differs(found, current, merged, rest, data),
        warnings=warnings,
    )


class Held(NamedTuple):
    """What a file holds: ``entries`` and ``extra`` are ours, ``foreign`` the keys of others."""

    entries: dict[str, list[str]]
    extra: list[str]
    foreign: set[str]


def held(data: Optional[bytes], ledger: Ledger) -> Held:
    """Whose is what in the file."""
    found = _read(data)
    digests = {key: _digest(ledger, key, entry) for key, entry in found.auths.items()}
    ours = {key: [digest] for key, digest in digests.items() if ledger.owns(key, digest)}
    return Held(
        ours,
        sorted(set(_names(found.extra)) & set(ledger.extra)),
        {key for key in digests if key not in ours},
    )


def revert(data: Optional[bytes], previous: Optional[bytes], ledger: Ledger) -> bytes:
    """The file that somebody else has changed meanwhile, with ours in it as they were in ``previous``."""
    found, before = _read(data), _read(previous)
    kept = held(data, ledger).foreign
    auths = {key: entry for key, entry in found.auths.items() if key in kept}
    for key, entry in before.auths.items():
        if not any(_same(key, other) for other in kept):
            auths[key] = entry
    return canonical_bytes(auths, {**before.extra, **_foreign_extra(found.extra, ledger.extra)})


def _differs(
    found: _Found,
    current: Optional[bytes],
    merged: DockerConfig,
    rest: Mapping[str, Any],
    data: Optional[bytes],
) -> bool:
    if data is None or current is None:
        return data is not current
    if found.config is not None:
        return bool(rest) or not found.config.same_meaning(merged)
    return bool(found.broken) or canonical_bytes(found.auths, found.extra) != data


def _read(data: Optional[bytes]) -> _Found:
    """A document that others wrote may break our rules and still be of use to kubelet."""
    if data is None:
        return _Found({}, {}, None, "")
    try:
        config = load(data, allow_empty=True)
        return _Found(dict(config._auths), dict(config._extra), config, "")
    except DockerConfigError as error:
        rule = error.rule
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = None
    replaced = _Found({}, {}, None, f"the node's file was no docker config [{rule}]: replaced")
    if not isinstance(document, dict):
        return replaced
    parts = [value for name, value in document.items() if fold(name) == "auths" and value is not None]
    if not all(isinstance(part, dict) for part in parts):
        return replaced
    # As Go reads them: names without case, and all of one name into one map.
    auths = {key: entry for part in parts for key, entry in part.items()}
    extra = {name: value for name, value in document.items() if fold(name) != "auths"}
    return _Found(auths, extra, None, "")


def _alone(key: str, entry: Any) -> Optional[DockerConfig]:
    try:
        return load({"auths": {key: entry}})
    except DockerConfigError:
        return None


def _is_fatal(key: str, entry: Any) -> bool:
    """Whether kubelet loses every credential of the node for this entry."""
    if isinstance(entry, dict):
        # Go compares names without case.
        entry = {fold(name) if fold(name) in FIELDS else name: value for name, value in entry.items()}
    try:
        load({"auths": {key: entry}})
    except DockerConfigError as error:
        return any(item.kubelet == _REJECTS for item in error.findings)
    return False


def _digest(ledger: Ledger, key: str, entry: Any) -> str:
    """Of what the entry means: somebody may have padded or re-ordered it."""
    config = _alone(key, entry)
    if config is not None:
        return ledger.digest(config.canonical())
    return ledger.digest(json.dumps({key: entry}, sort_keys=True).encode("utf-8", "surrogatepass"))


def _same(one: str, other: str) -> bool:
    return registry_identity(one) == registry_identity(other)


def _split(auths: Mapping[str, Any], extra: dict[str, Any]) -> tuple[DockerConfig, dict[str, Any]]:
    """What is a docker config of the entries of others, and the rest, which stays as it is."""
    try:
        return load({**extra, "auths": dict(auths)}, allow_empty=True), {}
    except DockerConfigError:
        pass
    good = {key: entry for key, entry in auths.items() if _alone(key, entry) is not None}
    try:
        config = load({**extra, "auths": good}, allow_empty=True)
    except DockerConfigError:
        # What stands beside auths is the trouble: kubelet reads none of it.
        config = load({"auths": good}, allow_empty=True)
    return config, {key: entry for key, entry in auths.items() if key not in good}


def _merge(foreign: DockerConfig, desired: Optional[DockerConfig]) -> DockerConfig:
    if desired is None:
        return foreign
    if not foreign.registries and not foreign._extra:
        return desired
    return merge([Layer(FOREIGN, foreign), Layer(OURS, desired)]).config


def _names(extra: Mapping[str, Any]) -> list[str]:
    names: list[str] = []
    for name, value in extra.items():
        if name in _MEMBERS and isinstance(value, dict):
            names += [f"{name}/{member}" for member in value]
        else:
            names.append(name)
    return sorted(names)


def _foreign_extra(extra: Mapping[str, Any], ours: list[str]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in extra.items():
        if name in _MEMBERS and isinstance(value, dict):
            members = {member: item for member, item in value.items() if f"{name}/{member}" not in ours}
            if members or not value:
                kept[name] = members
        elif name not in ours:
            kept[name] = value
    return kept
