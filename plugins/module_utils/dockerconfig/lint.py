# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lints a complete document: returns every finding, and the repaired tree if there is no error."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from . import entries
from .display import display
from .findings import Finding, finding
from .keys import drop_identities, hub_replacement, key_rules, normalise_registry, registry_identity
from .parse import Tree, inspect, object_of, pairs_of, parse, size_of
from .rules import ERROR

SECRET_MAX_BYTES = 1024 * 1024
"""The maximum size of a Kubernetes Secret."""
SECRET_MANAGER_MAX_BYTES = 64 * 1024
"""The maximum size of one version of a Google Secret Manager secret."""

# Objects of strings outside ``auths``, and the reader that rejects the file if one is not.
_STRING_MAPS = {"HttpHeaders": "kubelet", "credHelpers": "containers_image"}
_TOP_LEVEL = {entries.fold(name): name for name in ("auths", "credHelpers", "credsStore", "HttpHeaders")}


class Examined(NamedTuple):
    """``auths`` and ``extra`` are the repaired content, meaningful only without errors.

    ``canonical``: their canonical form, where it was made to be measured. ``dropped``: the registries that
    were dropped, normalised.
    """

    findings: tuple[Finding, ...]
    auths: dict[str, Any]
    extra: dict[str, Any]
    canonical: bytes | None = None
    dropped: frozenset[str] = frozenset()

    def errors(self, *, strict: bool = False) -> tuple[Finding, ...]:
        """Return the findings for which the document is refused."""
        return tuple(
            item._replace(severity=ERROR)
            for item in self.findings
            if item.severity == ERROR or (strict and item.strict)
        )


def canonical_bytes(auths: Mapping[str, Any], extra: Mapping[str, Any]) -> bytes:
    """Compact, sorted, UTF-8: the same content always gives the same bytes."""
    document = {**extra, "auths": auths}
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")


def examine(
    data: Any, *, max_bytes: int = SECRET_MAX_BYTES, allow_empty: bool = False, drop: Collection[str] = ()
) -> Examined:
    """Parse, lint and repair; never raises, whatever the document holds.

    :param max_bytes: the limit for the input and for the output.
    :param allow_empty: accept an empty file, ``null``, ``{}`` and ``auths`` null or empty as a document
        without entries.
    :param drop: registries whose entries are left out, so that they need not pass the rules.
    """
    if allow_empty and _is_blank(data):
        return Examined((), {}, {})
    # A huge document is not parsed.
    if isinstance(data, (bytes, str)) and size_of(data) > max_bytes:
        return _too_large(size_of(data), max_bytes)
    tree = parse(data)
    if tree.size > max_bytes:
        return _too_large(tree.size, max_bytes)
    if tree.broken:
        return Examined(tree.findings, {}, {})
    root, dropped = _without(tree.root, drop)
    return _examine_tree(tree._replace(root=root), max_bytes, allow_empty, dropped)


def _too_large(size: int, max_bytes: int) -> Examined:
    return Examined((finding("too-large", None, f"{size} bytes; the limit is {max_bytes}"),), {}, {})


def lint(data: Any) -> list[Finding]:
    """Return everything that is wrong or dubious in a document, errors first; never raises on bad input."""
    found = examine(data).findings
    return sorted(found, key=lambda item: item.severity != ERROR)


def _is_blank(data: Any) -> bool:
    return isinstance(data, (bytes, bytearray, str)) and not data.strip()


def _without(root: Any, drop: Collection[str]) -> tuple[Any, frozenset[str]]:
    """Return the document without the entries of some registries, and which of these it had."""
    if not drop or not isinstance(root, dict) or not isinstance(root.get("auths"), dict):
        return root, frozenset()
    unwanted = {registry_identity(key) for key in drop}
    dropped = unwanted.intersection(set[str]().union(*map(drop_identities, root["auths"])))
    kept = [pair for pair in pairs_of(root["auths"]) if dropped.isdisjoint(drop_identities(pair[0]))]
    pairs = [(name, object_of(kept) if name == "auths" else value) for name, value in pairs_of(root)]
    return object_of(pairs), frozenset(dropped)


def _examine_tree(tree: Tree, max_bytes: int, allow_empty: bool, dropped: frozenset[str]) -> Examined:
    root = tree.root
    allow_empty = allow_empty or bool(dropped)
    found = inspect(root)
    if root is None and allow_empty:
        return Examined(tuple(found), {}, {})
    if not isinstance(root, dict):
        verdict = "finds no credential" if root is None else None
        found.append(finding("not-an-object", kubelet=verdict, containers_image=verdict))
        return Examined(tuple(found), {}, {})
    auths, problem = _find_auths(root, allow_empty)
    if problem:
        found.append(problem)
    extra = {name: value for name, value in root.items() if name != "auths"}
    found += _examine_extra(extra, auths)
    repaired = {}
    for position, (key, entry) in enumerate(pairs_of(auths)):
        shown = display(key, position)
        found += [finding(rule, shown) for rule in key_rules(key)]
        result = entries.examine_entry(entry, shown, has_helper=_has_helper(key, extra))
        found += result.findings
        if result.repaired is not None:
            repaired[key] = result.repaired
    if len(auths) > 1:
        found += _duplicate_spellings(auths)
    if any(item.severity == ERROR for item in found):
        return Examined(tuple(found), {}, {})
    _add_docker_io(repaired)
    canonical = canonical_bytes(repaired, extra)
    if len(canonical) > max_bytes:
        found.append(
            finding("too-large", None, f"{len(canonical)} bytes as written; the limit is {max_bytes}")
        )
    return Examined(tuple(found), repaired, extra, canonical, dropped)


def _find_auths(root: dict[str, Any], allow_empty: bool) -> tuple[dict[str, Any], Finding | None]:
    if "auths" not in root:
        if any(entries.fold(name) == "auths" for name in root):
            # Reported with the other top-level fields.
            return {}, None
        return {}, None if allow_empty else finding("auths-missing")
    auths = root["auths"]
    if auths is None:
        none = "finds no credential"
        null = finding("auths-not-an-object", None, "it is null", kubelet=none, containers_image=none)
        return {}, None if allow_empty else null
    if not isinstance(auths, dict):
        return {}, finding("auths-not-an-object")
    return auths, None if auths or allow_empty else finding("auths-empty")


def _examine_extra(extra: dict[str, Any], auths: dict[str, Any]) -> list[Finding]:
    found = []
    for name, value in extra.items():
        known = _TOP_LEVEL.get(entries.fold(name))
        if known == "auths":
            # In addition to the right one: Go reads both into one map.
            found.append(finding("auths-wrong-case"))
        elif known and known != name:
            found.append(finding("field-wrong-case", None, known))
        reader = _STRING_MAPS.get(name)
        if reader and not _is_string_map(value):
            verdicts = {"kubelet": "ignores the field", "containers_image": "ignores the field"}
            verdicts[reader] = "rejects the whole file"
            found.append(finding("field-not-a-string", None, name, **verdicts))
    helpers = extra.get("credHelpers")
    if isinstance(helpers, dict):
        for position, key in enumerate(auths):
            if normalise_registry(key).partition("/")[0] in helpers:
                found.append(finding("helper-shadows-auth", display(key, position)))
    if extra.get("credsStore"):
        found.append(finding("creds-store"))
    return found


def _is_string_map(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, dict) and all(
        item is None or isinstance(item, str) for _name, item in pairs_of(value)
    )


def _has_helper(key: str, extra: dict[str, Any]) -> bool:
    helpers = extra.get("credHelpers")
    return bool(extra.get("credsStore")) or (isinstance(helpers, dict) and key in helpers)


def _duplicate_spellings(auths: dict[str, Any]) -> list[Finding]:
    seen: dict[str, str] = {}
    found = []
    for position, key in enumerate(auths):
        registry = normalise_registry(key)
        if registry in seen:
            found.append(finding("key-duplicate-spelling", display(key, position), seen[registry]))
        else:
            seen[registry] = display(key, position)
    return found


def _add_docker_io(auths: dict[str, Any]) -> None:
    """Add ``docker.io`` beside ``registry-1.docker.io``, which alone is useless to kubelet, unless it exists."""
    written = {normalise_registry(key) for key in auths}
    for key in list(auths):
        replacement = hub_replacement(key)
        if replacement and not {replacement, "index." + replacement} & written:
            auths[replacement] = dict(auths[key])
            written.add(replacement)


__all__ = ["SECRET_MANAGER_MAX_BYTES", "SECRET_MAX_BYTES", "Examined", "canonical_bytes", "examine", "lint"]
