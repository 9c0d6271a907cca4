# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a file is a docker config at all, valid or not: only such a file may be written."""

from __future__ import annotations

import codecs
import json
import re
from typing import Any

from ..dockerconfig.entries import fold

__all__ = ["begins_as_docker_config", "has_auths", "is_docker_config", "other_kind"]

_BEGINNING = re.compile(rb'\s*\{\s*"auths"\s*:', re.IGNORECASE)
# A member of a file that is not JSON, as YAML writes it, also in one line, and a word as its value.
_MEMBER = re.compile(
    rb"""(?:^|[\s{,"'])(apiVersion|kind|clusters|contexts|current-context|users)["']?[ \t]*:[ \t"']*([A-Za-z]*)""",
    re.IGNORECASE,
)
_KINDS = {
    "Config": "a kubeconfig",
    "CredentialProviderConfig": "a CredentialProviderConfig",
    "KubeletConfiguration": "a KubeletConfiguration",
    "Secret": "the manifest of a Secret",
}


def is_docker_config(data: bytes) -> bool:
    """Return whether a file's content is a JSON object with ``auths``, or the beginning of one.

    It need not pass the rules, because a run repairs an invalid one. An empty file is not one, nor is another
    program's JSON.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        # Its writer was killed: other programs write in place.
        return begins_as_docker_config(data)
    return has_auths(document)


def begins_as_docker_config(data: bytes) -> bool:
    """Return whether ``auths`` is the first member of a text's object, which may be cut off."""
    return _BEGINNING.match(data) is not None


def has_auths(document: Any) -> bool:
    """Return whether a document is an object with ``auths``, in any case, as Go reads it."""
    return isinstance(document, dict) and any(fold(str(name)) == "auths" for name in document)


def other_kind(data: bytes) -> str:
    """Return what a file of Kubernetes seems to be, such as ``a kubeconfig``; empty for any other file.

    It has ``kind``, ``apiVersion`` or a member of a kubeconfig, also beside ``auths``.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        members = {
            name.decode().lower(): value.decode()
            for name, value in _MEMBER.findall(data.removeprefix(codecs.BOM_UTF8))
        }
    else:
        if isinstance(document, list) and document:
            document = document[0]
        if not isinstance(document, dict):
            return ""
        members = {name.lower(): value if isinstance(value, str) else "" for name, value in document.items()}
    if members.get("kind") in _KINDS:
        return _KINDS[members["kind"]]
    if not members.keys().isdisjoint(("clusters", "contexts", "current-context", "users")):
        return "a kubeconfig"
    return "" if members.keys().isdisjoint(("kind", "apiversion")) else "an object of Kubernetes"
