# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A document as Go's ``encoding/json`` parses it for the two readers, including faults.

Field names match without regard to case, a later field overwrites an earlier one, ``null`` leaves a string
unchanged, and a value of the wrong type rejects the complete file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .credential import Credential, go_kubelet, go_standard
from .display import display
from .entries import fold
from .findings import DockerConfigError, finding, refuse
from .go_url import SURROGATE
from .parse import BAD_NUMBER, Tree, pairs_of

__all__ = [
    "AUTH",
    "FIELDS",
    "NOTHING",
    "ImageEntry",
    "ImageFile",
    "KubeletEntry",
    "go_text",
    "image_credential",
    "image_file",
    "kubelet_entries",
]

AUTH, FIELDS, NOTHING = "auth", "username/password", "nothing"


class KubeletEntry(NamedTuple):
    """The fields of an entry that kubelet keeps; ``source`` says where the credential was written."""

    credential: Credential
    source: str


class ImageEntry(NamedTuple):
    """The fields of an entry that containers/image keeps."""

    auth: str
    identity_token: str


class ImageFile(NamedTuple):
    """The fields of a file that containers/image keeps."""

    auths: dict[str, ImageEntry]
    helpers: dict[str, str]


def go_text(text: str) -> str:
    """Return a JSON string as Go parses it: a half surrogate is a replacement character."""
    return text if text.isascii() else SURROGATE.sub("\ufffd", text)


def _rejects(tree: Tree) -> Any:
    """Return the root, or the error for a document that neither reader accepts."""
    if tree.broken:
        raise DockerConfigError(tree.findings)
    stack = [tree.root]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            stack.extend(item for _name, item in pairs_of(node))
        elif isinstance(node, list):
            stack.extend(node)
        elif node is BAD_NUMBER:
            raise DockerConfigError((finding("number-out-of-range"),))
    return tree.root


def _object(value: Any) -> Iterator[tuple[str, Any]]:
    """Return the pairs of a value that must be an object or null."""
    if value is None:
        return iter(())
    if not isinstance(value, dict):
        refuse("rejected", None, "the reader rejects the whole file")
    return ((go_text(name), item) for name, item in pairs_of(value))


def _strings(value: Any, names: frozenset[str]) -> dict[str, str]:
    """Return the string fields of an object, by folded name."""
    found: dict[str, str] = {}
    for name, item in _object(value):
        field = fold(name)
        if field in names and item is not None:
            if not isinstance(item, str):
                refuse("rejected", None, "the reader rejects the whole file")
            found[field] = go_text(item)
    return found


def _string_map(value: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, item in _object(value):
        if item is not None and not isinstance(item, str):
            refuse("rejected", None, "the reader rejects the whole file")
        found[name] = go_text(item or "")
    return found


_KUBELET_FIELDS = frozenset({"username", "password", "email", "auth"})
_IMAGE_FIELDS = frozenset({"auth", "identitytoken"})


def kubelet_entries(tree: Tree) -> dict[str, KubeletEntry]:
    """Return the entries as kubelet has them after parsing.

    :raises DockerConfigError: if kubelet rejects the complete file; one undecodable ``auth`` is enough.
    """
    entries: dict[str, KubeletEntry] = {}
    for name, value in _object(_rejects(tree)):
        field = fold(name)
        if field == "httpheaders":
            _string_map(value)
        elif field == "auths":
            if value is None:
                entries.clear()
            for position, (key, entry) in enumerate(_object(value)):
                entries[key] = _kubelet_entry(entry, display(key, position))
    return entries


def _kubelet_entry(entry: Any, shown: str) -> KubeletEntry:
    fields = _strings(entry, _KUBELET_FIELDS)
    auth = fields.get("auth")
    if not auth:
        credential = Credential(fields.get("username", "").encode(), fields.get("password", "").encode())
        return KubeletEntry(credential, NOTHING if credential.is_empty else FIELDS)
    decoded = go_kubelet(auth)
    if decoded is None:
        raise DockerConfigError((finding("auth-not-base64", shown),))
    user, colon, password = decoded.partition(b":")
    if not colon:
        raise DockerConfigError((finding("auth-no-colon", shown),))
    return KubeletEntry(Credential(user, password), AUTH)


def image_file(tree: Tree) -> ImageFile:
    """Return the file as containers/image has it after parsing.

    :raises DockerConfigError: if it rejects the complete file.
    """
    auths: dict[str, ImageEntry] = {}
    helpers: dict[str, str] = {}
    for name, value in _object(_rejects(tree)):
        field = fold(name)
        if field == "auths":
            if value is None:
                auths.clear()
            for key, entry in _object(value):
                fields = _strings(entry, _IMAGE_FIELDS)
                auths[key] = ImageEntry(fields.get("auth", ""), fields.get("identitytoken", ""))
        elif field == "credhelpers":
            if value is None:
                helpers.clear()
            helpers.update(_string_map(value))
    return ImageFile(auths, helpers)


def image_credential(entry: ImageEntry) -> Credential | None:
    """Return the credential of an entry, empty if there is none to use; None if the base64 is wrong."""
    decoded = go_standard(entry.auth)
    if decoded is None:
        return None
    user, colon, password = decoded.partition(b":")
    if not colon:
        return Credential()
    return Credential(user, password.strip(b"\x00"), entry.identity_token.encode())
