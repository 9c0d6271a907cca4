# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparison by meaning: a keyed digest, and what changed by registry."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import NamedTuple

from .display import displayed
from .document import DockerConfig, load
from .findings import forgetful
from .keys import registry_identity

__all__ = ["Changes", "changes", "digest"]

_DIGITS = 32


@forgetful
def digest(config: DockerConfig | bytes, key: bytes) -> str:
    """Return ``hmac-sha256:`` and 32 hexadecimal digits over the canonical form: equal if the meaning is
    equal.

    The digest is printed, put into annotations and compared between places. A plain hash would allow
    guessing: user names are known and a weak password has few bits, so anybody who can read the digest could
    test passwords offline. With ``key`` (per fleet, stored with the secrets) an attacker needs the key as
    well.

    :param config: an accepted config, or the bytes of a document that :func:`load` accepts.
    :param key: not empty; in production 16 random bytes or more.
    :raises DockerConfigError: if ``config`` is a refused document.
    :raises ValueError: if the key is empty.
    """
    if not key:
        raise ValueError("the key of a digest must not be empty")
    if not isinstance(config, DockerConfig):
        config = load(config, allow_empty=True)
    return "hmac-sha256:" + hmac.new(key, config.canonical(), hashlib.sha256).hexdigest()[:_DIGITS]


class Changes(NamedTuple):
    """The differences, by registry as ``displayed`` shows those of both sides.

    ``outside`` says that something beside ``auths`` differs.

    True if anything differs in meaning.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    outside: bool = False

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.outside)


def changes(before: DockerConfig | None, after: DockerConfig) -> Changes:
    """Return what ``after`` changes in ``before`` (None: nothing exists yet). No values, only names.

    A registry in another spelling is *changed*, not removed and added.
    """
    shown = displayed(before.registries if before is not None else (), after.registries)
    if before is None:
        return Changes(added=_names(after, set(_grouped(after)), shown), outside=bool(after.plain_extra))
    if before.same_meaning(after):
        return Changes()
    old, new = _grouped(before), _grouped(after)
    differing = {registry for registry in old.keys() & new.keys() if old[registry] != new[registry]}
    return Changes(
        added=_names(after, new.keys() - old.keys(), shown),
        removed=_names(before, old.keys() - new.keys(), shown),
        changed=_names(after, differing, shown),
        outside=before.plain_extra != after.plain_extra,
    )


def _grouped(config: DockerConfig) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for key, entry in config.plain_auths.items():
        found.setdefault(registry_identity(key), {})[key] = entry
    return found


def _names(config: DockerConfig, registries: set[str], shown: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(shown[key] for key in config.registries if registry_identity(key) in registries)
