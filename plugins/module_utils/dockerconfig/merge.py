# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Merges named layers into one docker config, with the origin of every registry.

The sync contract's default is that the additional secret wins over the original; HyperShift later reversed
it. Both are one option, ``precedence``, and a policy can decide for each registry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .display import display
from .document import DockerConfig
from .entries import lacks_user_or_password
from .findings import DockerConfigError, Finding, forgetful, refuse
from .keys import drop_identities, is_malformed, normalise_registry, registry_identity
from .lint import examine
from .rules import WARNING

__all__ = ["ADDITIONAL", "ORIGINAL", "PROTECTED", "Layer", "Merged", "merge"]

ADDITIONAL, ORIGINAL = "additional", "original"
PROTECTED = "cloud.openshift.com"
"""An OpenShift cluster reports home with this entry: losing it by accident is an error."""

# Objects outside ``auths`` whose members are merged one by one; other members are taken as a unit.
_MERGED_MAPS = frozenset({"credHelpers", "HttpHeaders"})


class Layer(NamedTuple):
    """One docker config of a merge, and its name in provenance and conflicts."""

    name: str
    config: DockerConfig


class Merged(NamedTuple):
    """What :func:`merge` gives.  Only ``config`` is secret.

    ``provenance``: registry as written in the result -> layer name; ``displayed`` says how a registry may be
    shown.  ``conflicts``: one ``{"registry", "winner", "losers"}``, the registry as it may be shown, for each
    that layers give different credentials.
    """

    config: DockerConfig
    provenance: dict[str, str]
    conflicts: list[dict[str, Any]]
    warnings: tuple[Finding, ...]


@forgetful
def merge(
    layers: Sequence[Layer],
    *,
    precedence: str = ADDITIONAL,
    policy: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
) -> Merged:
    """Merge layers; the first is the original, the later ones are additional.

    Registries are compared by what they name (:func:`registry_identity`), not by how they are
    written; the winner's spelling and its whole entry are taken, and no other spelling survives.

    :param precedence: ``additional``: later layers win; ``original``: earlier layers win.
    :param policy: registry -> name of the layer that wins there; without effect where that layer
        does not have the registry, or only an entry without user name or password.
    :param drop: registries to leave out; the only way to lose the original's ``cloud.openshift.com``.
    :raises DockerConfigError: rule ``merge-option`` (unknown layer or precedence, names that repeat),
        ``registry-lost``, or the rule the merged document breaks.
    """
    ranked = _ranked(layers, precedence)
    winners = _policy(policy or {}, layers)
    dropped = {registry_identity(key) for key in drop}

    auths: dict[str, Any] = {}
    provenance: dict[str, str] = {}
    conflicts: list[dict[str, Any]] = []
    for position, (registry, holders) in enumerate(sorted(_by_registry(ranked).items())):
        if not dropped.isdisjoint(drop_identities(registry)):
            continue
        winner = _winner(holders, winners.get(registry))
        for key, entry in _usable(holders[winner] if len(holders) > 1 else {}) or holders[winner].items():
            auths[key] = entry
            provenance[key] = winner
        conflict = _conflict(display(registry, position), winner, holders)
        if conflict:
            conflicts.append(conflict)

    _demand_protected({registry_identity(key) for key in auths}, layers[0], dropped)
    extra = _merge_extra(ranked, auths, provenance)
    config = _checked(auths, extra)
    # A layer may number a key that is not shown otherwise, and its warnings are about entries as they were.
    others = [item for item in config.warnings if not item.strict]
    warnings = dict.fromkeys([*_repairs(layers, provenance), *others])
    return Merged(config, provenance, conflicts, tuple(warnings))


def _ranked(layers: Sequence[Layer], precedence: str) -> list[Layer]:
    """Return the layers, the strongest first."""
    if not layers:
        refuse("merge-option", None, "there is no layer to merge")
    if precedence not in (ADDITIONAL, ORIGINAL):
        refuse("merge-option", None, f"precedence must be {ADDITIONAL} or {ORIGINAL}")
    names = [layer.name for layer in layers]
    for name in names:
        if names.count(name) > 1:
            refuse("merge-option", None, f"two layers are named {name}")
    return list(layers) if precedence == ORIGINAL else list(reversed(layers))


def _policy(policy: Mapping[str, str], layers: Sequence[Layer]) -> dict[str, str]:
    names = {layer.name for layer in layers}
    found: dict[str, str] = {}
    for position, (key, name) in enumerate(policy.items()):
        if name not in names:
            refuse("merge-option", display(key, position), f"the policy names the unknown layer {name}")
        if found.setdefault(registry_identity(key), name) != name:
            refuse(
                "merge-option",
                display(key, position),
                "the policy gives two layers for this registry, under different spellings",
            )
    return found


def _by_registry(ranked: Sequence[Layer]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return registry to layer name (strongest first) to that layer's keys and entries for the registry."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for layer in ranked:
        for key, entry in layer.config.plain_auths.items():
            found.setdefault(registry_identity(key), {}).setdefault(layer.name, {})[key] = entry
    return found


def _winner(holders: Mapping[str, Mapping[str, Any]], wanted: str | None) -> str:
    """Return the layer that wins. An entry that cannot work never displaces one that can."""
    candidates = [name for name in holders if _usable(holders[name])] or list(holders)
    return wanted if wanted in candidates else candidates[0]


def _usable(entries: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the entries that can work: beside them, another spelling without a password would be tried, too."""
    return [(key, entry) for key, entry in entries.items() if not lacks_user_or_password(entry)]


def _credentials(entries: Mapping[str, Any]) -> set[Any]:
    return {entry["auth"] for entry in entries.values()}


def _conflict(shown: str, winner: str, holders: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
    mine = _credentials(holders[winner])
    losers = [name for name, entries in holders.items() if name != winner and _credentials(entries) != mine]
    if not losers:
        return None
    return {"registry": shown, "winner": winner, "losers": sorted(losers)}


def _demand_protected(kept: set[str], original: Layer, dropped: set[str]) -> None:
    had = {registry_identity(key) for key in original.config.registries}
    if PROTECTED in had and PROTECTED not in kept and PROTECTED not in dropped:
        refuse(
            "registry-lost",
            PROTECTED,
            "the original pull secret has this registry, but the merged one would not; "
            "to remove it on purpose, list it in drop",
        )


def _merge_extra(
    ranked: Sequence[Layer], auths: Mapping[str, Any], provenance: Mapping[str, str]
) -> dict[str, Any]:
    """Merge the members beside ``auths``: the strongest layer with a field wins, maps are merged member by
    member.
    """
    extra: dict[str, Any] = {}
    for layer in reversed(ranked):
        for name, value in layer.config.plain_extra.items():
            if name in _MERGED_MAPS and isinstance(value, dict):
                extra[name] = {**(extra.get(name) or {}), **value}
            elif value is not None or name not in extra:
                extra[name] = value
    helpers = extra.get("credHelpers")
    if helpers:
        # containers/image runs a helper before it reads auths: a helper from a weaker layer than the entry
        # would let the loser win.
        strength = {layer.name: rank for rank, layer in enumerate(ranked)}
        won = {
            normalise_registry(key): strength[provenance[key]]
            for key, entry in auths.items()
            if not is_malformed(key) and not lacks_user_or_password(entry)
        }
        source = {host: _helper_rank(host, ranked) for host in helpers}
        extra["credHelpers"] = {
            host: helper for host, helper in helpers.items() if won.get(host, len(ranked)) >= source[host]
        }
    return extra


def _helper_rank(host: str, ranked: Sequence[Layer]) -> int:
    return next(
        rank
        for rank, layer in enumerate(ranked)
        if host in (layer.config.plain_extra.get("credHelpers") or {})
    )


def _repairs(layers: Sequence[Layer], provenance: Mapping[str, str]) -> list[Finding]:
    """Return the layers' warnings, as far as they concern entries of the result."""
    won = {
        (layer.name, display(key, position))
        for layer in layers
        for position, key in enumerate(layer.config.plain_auths)
        if provenance.get(key) == layer.name
    }
    return [
        item
        for layer in layers
        for item in layer.config.warnings
        if item.registry is None or (layer.name, item.registry) in won
    ]


def _checked(auths: dict[str, Any], extra: dict[str, Any]) -> DockerConfig:
    """Parse the result once more as a document: only output that lint accepts is written."""
    examined = examine({**extra, "auths": auths}, allow_empty=True)
    errors = examined.errors()
    if errors:
        raise DockerConfigError(errors)
    warnings = tuple(item for item in examined.findings if item.severity == WARNING)
    return DockerConfig(auths, extra, warnings)
