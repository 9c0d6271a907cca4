# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the readers compare a key of ``auths``, and what is wrong with it."""

from __future__ import annotations

import re
from functools import lru_cache

from . import go_url

__all__ = [
    "HUB",
    "HUB_ALIAS",
    "drop_identities",
    "hub_replacement",
    "is_malformed",
    "key_rules",
    "kubelet_index",
    "normalise_registry",
    "registry_identity",
]

_SCHEMES = ("https://", "http://")
_HUB_HOSTS = frozenset({"docker.io", "index.docker.io", "registry-1.docker.io"})
HUB = "docker.io"
HUB_ALIAS = "registry-1.docker.io"

_LABEL = r"[a-z0-9*_](?:[a-z0-9*_-]*[a-z0-9*_])?"
_REGISTRY = re.compile(
    r"(?:https?://)?"
    rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9a-f:.]+\])"
    r"(?::[0-9]{1,5})?"
    r"(?:/[a-z0-9._/-]*)?"
)


def _without_scheme(key: str) -> str:
    for scheme in _SCHEMES:
        if key.startswith(scheme):
            return key[len(scheme) :]
    return key


@lru_cache(maxsize=4096)
def kubelet_index(key: str) -> str | None:
    """Return the key in kubelet's index (one character a byte), or None if kubelet drops the entry.

    The scheme is removed, and so is a leading ``/v1`` or ``/v2`` of the path if a slash follows.
    """
    parsed = go_url.parse_go_url(_without_scheme(go_url.as_bytes(key)))
    if parsed is None:
        return None
    path = parsed.path
    if path.startswith(("/v1/", "/v2/")):
        path = path[3:]
    return parsed.host if path in ("", "/") else parsed.host + path


def normalise_registry(key: str) -> str:
    """Return the registry that ``key`` names to kubelet: two keys with the same result are the same registry.

    ``https://quay.io/v1/`` and ``quay.io`` give ``quay.io``. Case is kept. A key that kubelet cannot read is
    returned unchanged.
    """
    index = kubelet_index(key)
    return key if index is None else go_url.as_text(index)


@lru_cache(maxsize=4096)
def registry_identity(key: str) -> str:
    """Return the identity by which a merge compares registries.

    As :func:`normalise_registry`, and all names of Docker Hub are one: the readers fall back from one name to
    another, so a losing credential under another name would still be used. A key that breaks a rule is its own
    identity: it must not displace the registry that it resembles.
    """
    if is_malformed(key):
        return key
    registry = normalise_registry(key)
    host, slash, path = registry.partition("/")
    return HUB + slash + path if host in _HUB_HOSTS else registry


def drop_identities(key: str) -> set[str]:
    """Return the identities under which ``drop`` leaves out a key.

    Kubelet cuts off what stands before an ``@``, so it tries ``user@quay.io`` for ``quay.io``, too.
    """
    return {registry_identity(key), registry_identity(normalise_registry(key) if "@" in key else key)}


@lru_cache(maxsize=4096)
def hub_replacement(key: str) -> str | None:
    """Return the key on ``docker.io`` for a key on ``registry-1.docker.io``, otherwise None."""
    if is_malformed(key):
        return None
    host, slash, path = normalise_registry(key).partition("/")
    return HUB + slash + path if host == HUB_ALIAS else None


@lru_cache(maxsize=4096)
def key_rules(key: str) -> tuple[str, ...]:
    """Return the ids of the rules that ``key`` breaks by itself: the first with which it matches no image, or all
    others.
    """
    rule = _rule_of_malformed_key(key)
    return (rule,) if rule else tuple(_key_warnings(key))


def is_malformed(key: str) -> bool:
    """Return whether the key breaks a rule with which it names no registry, whatever it resembles."""
    return _rule_of_malformed_key(key) is not None


def _rule_of_malformed_key(key: str) -> str | None:
    if not key:
        return "key-empty"
    if any(char.isspace() or ord(char) < 0x20 or ord(char) == 0x7F for char in key):
        return "key-whitespace"
    if "@" in key:
        return "key-at-sign"
    rest = key.partition("://")[2] if key.lower().startswith(_SCHEMES) else key
    host, _slash, path = rest.partition("/")
    if any(char in path for char in "*?[]"):
        return "key-glob-in-path"
    if _has_tag(host, path):
        return "key-tag"
    if key != key.lower():
        return "key-upper-case"
    if not _REGISTRY.fullmatch(key) or kubelet_index(key) is None:
        return "key-invalid"
    return None


def _has_tag(host: str, path: str) -> bool:
    if ":" in path:
        return True
    before, colon, port = host.rpartition(":")
    return bool(colon and port) and not host.endswith("]") and ":" not in before and not port.isdigit()


def _key_warnings(key: str) -> list[str]:
    found = []
    rest = _without_scheme(key)
    has_scheme = rest != key
    host, slash, path = rest.partition("/")
    if "*" in host:
        found.append("key-glob-host")
    if hub_replacement(key):
        found.append("docker-hub-alias")
    index_path = (kubelet_index(key) or "").partition("/")[2]
    if index_path:
        if has_scheme:
            found.append("key-scheme-with-path")
        if not index_path.endswith("/"):
            found.append("key-path-prefix")
    if slash and not has_scheme and (not path or path.endswith("/") or not index_path):
        found.append("key-api-path")
    return found
