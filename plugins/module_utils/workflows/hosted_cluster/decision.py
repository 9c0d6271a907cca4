# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decides what the nodes get, from the two secrets and the current one.

HyperShift's own controller stops at an invalid additional secret, including rotations of the original, and
panics at an original of ``{}``. Here the original is always rolled out. A tenant's typing error does not
remove credentials from running workloads: the entries merged last stay until it is fixed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...dockerconfig import DockerConfig, DockerConfigError, Layer, Merged, load, merge
from ...dockerconfig.display import is_displayed
from ...model.errors import InvalidDocument
from ...places.document_forms import json_error
from .tenant_event import TenantNotice

__all__ = [
    "ABSENT",
    "EMPTY",
    "INVALID",
    "KEPT",
    "MERGED",
    "AdditionalSecret",
    "MergeDecision",
    "decide_merge",
    "without_original",
]

# Characters of the annotation that lists the additional registries. All annotations of an object have 256
# KiB.
_ADDED = 128 * 1024
_ORIGINAL_LAYER, _ADDITIONAL_LAYER = "original", "additional"
# The result for the additional secret.
ABSENT, EMPTY, MERGED, INVALID, KEPT = "absent", "empty", "merged", "invalid", "kept"


@dataclass(frozen=True)
class AdditionalSecret:
    """The tenant's secret: its bytes, or why it could not be read."""

    data: bytes | None = None
    problem: str | None = None


@dataclass(frozen=True)
class MergeDecision:
    """The wanted content of the global secret. Only ``config`` is secret.

    :param state: the result for the additional secret. ``kept``: it is invalid, and its previous entries
        stay. ``invalid``: it is invalid, and there were no previous entries.
    :param problem: what its owner must fix: registries and rules.
    :param entry_warnings: warnings about its entries with which a pull probably fails.
    """

    config: DockerConfig
    state: str
    provenance: Mapping[str, str] = field(default_factory=dict)
    conflicts: Sequence[Mapping[str, Any]] = ()
    warnings: Sequence[str] = ()
    problem: str | None = None
    entry_warnings: Sequence[str] = ()

    @property
    def notice(self) -> TenantNotice | None:
        """What the additional secret's owner must correct, if anything."""
        if self.problem is not None:
            return TenantNotice(self.problem)
        return TenantNotice("; ".join(self.entry_warnings), is_merged=True) if self.entry_warnings else None

    @property
    def additional_registries(self) -> list[str]:
        """The registries of ``config`` that come from the additional secret."""
        return sorted(name for name, layer in self.provenance.items() if layer == _ADDITIONAL_LAYER)

    @property
    def added(self) -> str:
        """The marks of ``additional_registries``, as the global secret has them, or "" without any."""
        names = self.additional_registries
        if not names:
            return ""
        auths = _auths(self.config)
        return json.dumps([_mark(name, auths[name]) for name in names])


def decide_merge(
    original: bytes,
    additional: AdditionalSecret | None,
    *,
    where: str,
    current: DockerConfig | None = None,
    current_registries: Sequence[str] = (),
    precedence: str = _ADDITIONAL_LAYER,
    policy: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
) -> MergeDecision:
    """Merge the two secrets as far as possible.

    :param where: the original's printable name.
    :param additional: None if there is none.
    :param current: the content of the global secret.
    :param current_registries: those of it that were additional.
    :raises InvalidDocument: the original is invalid, so there is nothing for the nodes.
    """
    base = _original(original, where, drop)

    def merged(config: DockerConfig | None) -> Merged:
        layers = [Layer(_ORIGINAL_LAYER, base)] + ([Layer(_ADDITIONAL_LAYER, config)] if config else [])
        wins = policy if config and policy else {}
        return merge(layers, precedence=precedence, policy=wins, drop=drop)

    if additional is None:
        return _decision(_alone(merged, where), ABSENT)
    problem = additional.problem
    if problem is None:
        try:
            config = load(additional.data or b"", allow_empty=True, drop=drop)
            entry_warnings = [str(warning) for warning in config.warnings if warning.strict]
            decision = _decision(
                merged(config), MERGED if config.registries else EMPTY, entry_warnings=entry_warnings
            )
            if len(decision.added) <= _ADDED:
                return decision
            count = len(config.registries)
            problem = f"too many registries ({count}): their names must fit in {_ADDED // 1024} KiB"
        except DockerConfigError as error:
            problem = f"{error}{json_error(additional.data or b'', error.rule)}"
    last = _last(current, current_registries, base)
    if last is not None:
        try:
            return _decision(merged(last), KEPT, problem)
        except DockerConfigError:
            # Together they have become too large.
            pass
    return _decision(_alone(merged, where), INVALID, problem)


def without_original(current: DockerConfig | None, current_registries: Sequence[str]) -> MergeDecision | None:
    """Return what the nodes get if everything is removed and the original cannot be read: its last entries.

    Members beside ``auths`` may be the tenant's and are left out. None if no entries are left.
    """
    if current is None:
        return None
    auths = {
        name: entry
        for name, entry in _auths(current).items()
        if not {name, _mark(name, entry)} & set(current_registries)
    }
    return _decision(merge([Layer(_ORIGINAL_LAYER, load({"auths": auths}))]), ABSENT) if auths else None


def _original(data: bytes, where: str, drop: Sequence[str]) -> DockerConfig:
    try:
        return load(data, drop=drop)
    except DockerConfigError as error:
        raise InvalidDocument(
            f"{where}: the original pull secret: {error}{json_error(data, error.rule)}",
            "nothing was changed: the nodes keep what they have until it is corrected in the management cluster",
        ) from None


def _alone(merged: Any, where: str) -> Merged:
    try:
        result: Merged = merged(None)
    except DockerConfigError as error:
        raise InvalidDocument(f"{where}: {error}") from None
    if not result.config.registries:
        raise InvalidDocument(f"{where}: drop removes every registry", "at least one must remain")
    return result


def _last(current: DockerConfig | None, registries: Sequence[str], base: DockerConfig) -> DockerConfig | None:
    """Return the additional entries merged last, and members beside ``auths`` that are not the original's."""
    if current is None or not registries:
        return None
    document = json.loads(current.canonical())
    auths = {
        name: entry
        for name, entry in document.pop("auths").items()
        if {name, _mark(name, entry)} & set(registries)
    }
    if not auths:
        return None
    theirs = {name: value for name, value in document.items() if name not in base.extra}
    try:
        return load({**theirs, "auths": auths})
    except DockerConfigError:
        return None


def _auths(config: DockerConfig) -> dict[str, Any]:
    auths: dict[str, Any] = json.loads(config.canonical())["auths"]
    return auths


def _mark(name: str, entry: Any) -> str:
    """Return the mark of an entry: its name, unless that may be a credential.

    The mark is keyed with the credential beside it, so that nobody can test passwords against it without
    reading both.
    """
    if is_displayed(name):
        return name
    key = json.dumps(entry, sort_keys=True).encode("utf-8", "surrogatepass")
    return "hmac-sha256:" + hmac.new(key, name.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def _decision(
    merged: Merged, state: str, problem: str | None = None, entry_warnings: Sequence[str] = ()
) -> MergeDecision:
    return MergeDecision(
        merged.config,
        state,
        merged.provenance,
        tuple(merged.conflicts),
        tuple(dict.fromkeys([*map(str, merged.warnings), *entry_warnings])),
        problem,
        entry_warnings,
    )
