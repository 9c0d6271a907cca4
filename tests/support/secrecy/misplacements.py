# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A docker config where it does not belong: in every option of every module."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.support.docker_configs import encoded
from tests.support.secrecy.canary import Canary

__all__ = ["TEXTS", "misplaced"]


def _login(canary: Canary) -> str:
    return f"{canary.entries[0].user}:{canary.entries[0].password}"


# The forms in which a user pastes it.
TEXTS: Mapping[str, Callable[[Canary], str]] = {
    "compact": lambda canary: canary.text,
    "base64": lambda canary: encoded(canary.text),
    "indented": lambda canary: json.dumps(canary.document, indent=2),
    "lines": lambda canary: base64.encodebytes(canary.text.encode()).decode(),
    "auth": lambda canary: canary.entries[0].auth,
    "auth with a line break": lambda canary: encoded(f"{_login(canary)}\n".encode()),
    "auth in Latin-1": lambda canary: encoded(_login(canary).encode("latin-1")),
    "auth of a key file": lambda canary: encoded(
        f"_json_key:{json.dumps({'private_key': canary.entries[0].password}, indent=2)}".encode()
    ),
    "auth in a sentence": lambda canary: f"refused: {canary.entries[0].auth}, see the log",
    "user and password": _login,
}

# As deep as an option of a source.
_DEPTH = 2
_SOURCES = {
    "kubernetes": {"namespace": "sources", "name": "none"},
    "gcp": {"project": "project-1", "secret": "none"},
    "hyperfleet": {"cluster_id": "cls-0"},
}


def misplaced(
    spec: Mapping[str, Any], secret: str, document: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Put a docker config, as text and as a mapping, into each option of a module, and beside them.

    :returns: (where, the options that replace those of a task that is right; None is none).
    """
    layers = [{"name": "one", "source": {"inline": document}}]
    merged = {"layers": layers, "source": None}
    # With these an option is used.
    others: dict[str, dict[str, Any]] = {
        **{place: {"source": {place: reference}} for place, reference in _SOURCES.items()},
        **{name: {"source": None} for name in ("layer", "layers")},
        **dict.fromkeys(("policy", "drop"), merged),
        "location_kms_keys": {"replication": "user_managed"},
        "locations": {"replication": "user_managed"},
    }
    for name, option in spec.items():
        # A target's options are those of the task.
        known = {**option, "options": {}} if name == "targets" else option
        for where, value in _within(known, secret, document):
            yield f"{name}{where}", {**others.get(name, {}), name: value}
    yield "an unknown option", {"souce": {"inline": document}}
    yield "an option's name", {secret: "x"}
    if "source" in spec:
        yield "source, its registries", {"source": document["auths"]}
        yield "source.field of a file", {"source": {"field": secret, "file": "/nowhere"}}
        yield "two sources", {"source": {"inline": document, "file": "/nowhere"}}
        yield "source and layers", {"layers": layers}
    if "policy" in spec:
        yield "policy, the layer of a registry", {**merged, "policy": {min(document["auths"]): secret}}
        yield "policy, the registry of a layer", {**merged, "policy": {secret: "one"}}


def _within(
    option: Mapping[str, Any], secret: str, document: dict[str, Any], depth: int = 0
) -> Iterator[tuple[str, Any]]:
    """(where in the option, its value)"""
    yield "", secret
    # Ansible turns a mapping into text where the option is text or a path.
    yield ", a mapping", document
    kind = option.get("type", "str")
    inner = (option.get("options") or {}) if depth < _DEPTH else {}
    if kind in ("dict", "raw"):
        yield ", a list", [document]
        yield ", a list of text", [secret]
    if kind == "list":
        one = {**option, "type": option.get("elements", "str")}
        yield from ((f"[]{where}", [value]) for where, value in _within(one, secret, document, depth))
    elif kind == "dict" and inner:
        needed = {name: "none" for name, one in inner.items() if one.get("required")}
        for name, one in inner.items():
            for where, value in _within(one, secret, document, depth + 1):
                yield f".{name}{where}", {**needed, name: value}
        yield ".unknown", {**needed, "unknown": document}
    elif kind == "dict":
        yield ", a value", {"key": secret}
        yield ", a name", {secret: "x"}
