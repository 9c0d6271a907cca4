# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the nodes are to have: the decision of one run, made of the two secrets and of what is there.

HyperShift's own controller stops at an additional secret that is not valid, the original's rotation with
it, and panics at an original of ``{}``.  Here the original always flows, and a tenant's typing error does
not take from running workloads what they pull with: the entries merged last stay until it is mended.
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

# Characters of the annotation that says which registries are additional. All of an object's have 256 KiB.
_ADDED = 128 * 1024
_ORIGINAL_LAYER, _ADDITIONAL_LAYER = "original", "additional"
# What became of the additional secret.
ABSENT, EMPTY, MERGED, INVALID, KEPT = "absent", "empty", "merged", "invalid", "kept"


@dataclass(frozen=True)
class AdditionalSecret:
    """The tenant's secret: its bytes, or why there are none."""

    data: bytes | None = None
    problem: str | None = None


@dataclass(frozen=True)
class MergeDecision:
    """What the global secret is to hold.  Only ``config`` is secret.

    :param state: what became of the additional secret. ``kept``: it is not valid, and what it brought before
        stays; ``invalid``: it is not valid, and it had brought nothing before.
    :param problem: what its owner has to mend: registries and rules.
    """

    config: DockerConfig
    state: str
    provenance: Mapping[str, str] = field(default_factory=dict)
    conflicts: Sequence[Mapping[str, Any]] = ()
    warnings: Sequence[str] = ()
    problem: str | None = None

    @property
    def additional_registries(self) -> list[str]:
        """Those of ``config`` that the additional secret brought."""
        return sorted(name for name, layer in self.provenance.items() if layer == _ADDITIONAL_LAYER)

    @property
    def added(self) -> str:
        """The marks of ``additional_registries``, as the global secret has them; "" where there are none."""
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
    """Merge the two, as far as they can be.

    :param where: the original's printable place.
    :param additional: None where there is none.
    :param current: what the global secret holds; :param current_registries: those of it that were additional.
    :raises InvalidDocument: the original is not valid, so there is nothing to give to the nodes.
    """
    base = _original(original, where)

    def merged(config: DockerConfig | None) -> Merged:
        layers = [Layer(_ORIGINAL_LAYER, base)] + ([Layer(_ADDITIONAL_LAYER, config)] if config else [])
        wins = policy if config and policy else {}
        return merge(layers, precedence=precedence, policy=wins, drop=drop)

    if additional is None:
        return _decision(_alone(merged, where), ABSENT)
    problem = additional.problem
    if problem is None:
        try:
            config = load(additional.data or b"", allow_empty=True)
            decision = _decision(merged(config), MERGED if config.registries else EMPTY)
            if len(decision.added) <= _ADDED:
                return decision
            count = len(config.registries)
            problem = f"too many registries ({count}): their names must fit in {_ADDED // 1024} KiB"
        except DockerConfigError as error:
            problem = str(error)
    last = _last(current, current_registries, base)
    if last is not None:
        try:
            return _decision(merged(last), KEPT, problem)
        except DockerConfigError:
            # Together they are too large by now.
            pass
    return _decision(_alone(merged, where), INVALID, problem)


def without_original(current: DockerConfig | None, current_registries: Sequence[str]) -> MergeDecision | None:
    """What is left for the nodes where all is to be removed and no original can be read: its last entries.

    What stands beside ``auths`` may be the tenant's, and goes.  None where nothing is known to be left.
    """
    if current is None:
        return None
    auths = {
        name: entry
        for name, entry in _auths(current).items()
        if not {name, _mark(name, entry)} & set(current_registries)
    }
    return _decision(merge([Layer(_ORIGINAL_LAYER, load({"auths": auths}))]), ABSENT) if auths else None


def _original(data: bytes, where: str) -> DockerConfig:
    try:
        return load(data)
    except DockerConfigError as error:
        raise InvalidDocument(
            f"{where}: the original pull secret: {error}",
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
    """The additional entries merged last, and what stands beside ``auths`` and is not the original's."""
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
    """What the annotation calls an entry: its name, unless that may be a credential.

    Keyed with the credential beside it, so that nobody can try passwords against it who does not read both.
    """
    if is_displayed(name):
        return name
    key = json.dumps(entry, sort_keys=True).encode("utf-8", "surrogatepass")
    return "hmac-sha256:" + hmac.new(key, name.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def _decision(merged: Merged, state: str, problem: str | None = None) -> MergeDecision:
    warnings = [
        f"{finding.registry}: {finding.message}" if finding.registry else finding.message
        for finding in merged.warnings
    ]
    return MergeDecision(merged.config, state, merged.provenance, tuple(merged.conflicts), warnings, problem)
