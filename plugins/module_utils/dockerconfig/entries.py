# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One entry of ``auths``: what is wrong with it, and its repaired form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from .credential import decode, encode
from .findings import Finding, finding
from .parse import optional_text
from .rules import ERROR, WARNING

__all__ = ["FIELDS", "TOKENS", "Entry", "examine_entry", "fold", "lacks_user_or_password"]

_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
_LINE_END = (b"\n", b"\r")
TOKENS = ("identitytoken", "registrytoken")
# Which reader rejects a field that is not a string, and which ignores it.
_READ_BY_KUBELET = frozenset({"auth", "username", "password", "email"})
_READ_BY_CONTAINERS_IMAGE = frozenset({"auth", "identitytoken"})
FIELDS = _READ_BY_KUBELET | _READ_BY_CONTAINERS_IMAGE | {"registrytoken"}


class Entry(NamedTuple):
    """``repaired`` is None if the entry is refused."""

    findings: list[Finding]
    repaired: dict[str, Any] | None


def fold(name: str) -> str:
    """Return a field name as Go compares it: without case, and two non-ASCII letters fold to s and k."""
    if not name.isascii():
        name = name.replace("\u017f", "s").replace("\u212a", "k")
    return name.lower() if name.isascii() else name


def examine_entry(entry: Any, registry: str, *, has_helper: bool) -> Entry:
    """Lint and repair one entry.

    :param registry: the printable key.
    :param has_helper: whether ``credHelpers`` or ``credsStore`` could hold the credential instead.
    """
    if not isinstance(entry, dict):
        if entry is None:
            return Entry([_null_entry(registry)], None)
        return Entry([finding("entry-not-an-object", registry)], None)
    found = [item for item in (_field(name, entry[name], registry) for name in entry) if item]
    auth = entry.get("auth")
    if auth and isinstance(auth, str):
        more, repaired_auth = _examine_auth(auth, entry, registry)
    else:
        more, repaired_auth = _examine_fields(entry, registry, has_helper)
        if any(item.rule == "field-not-a-string" and item.severity == ERROR for item in found):
            more = []  # the reason why there is no credential has been named
    found += more
    if any(optional_text(entry.get(name)) for name in TOKENS) and repaired_auth is not None:
        found.append(finding("identity-token", registry))
    if repaired_auth is None or any(item.severity == ERROR for item in found):
        return Entry(found, None)
    return Entry(found, entry if repaired_auth == auth else {**entry, "auth": repaired_auth})


def _null_entry(registry: str) -> Finding:
    return finding(
        "entry-not-an-object",
        registry,
        "it is null",
        kubelet="tries an empty credential",
        containers_image="ignores the entry",
    )


def _field(name: str, value: Any, registry: str) -> Finding | None:
    if name not in FIELDS:
        folded = fold(name)
        return finding("field-wrong-case", registry, folded) if folded in FIELDS else None
    if value is None or isinstance(value, str):
        return None
    is_read = name in _READ_BY_KUBELET | _READ_BY_CONTAINERS_IMAGE
    return finding(
        "field-not-a-string",
        registry,
        name,
        severity=None if is_read else WARNING,
        kubelet=None if name in _READ_BY_KUBELET else "ignores the field",
        containers_image=None if name in _READ_BY_CONTAINERS_IMAGE else "ignores the field",
    )


def _examine_auth(auth: str, entry: dict[str, Any], registry: str) -> tuple[list[Finding], str | None]:
    decoded = decode(auth)
    if decoded.error:
        return [finding(decoded.error, registry)], None
    user, colon, password = decoded.content.partition(b":")
    if not colon:
        return [finding("auth-no-colon", registry)], None
    found = _examine_pair(user, password, registry)
    if decoded.unpadded:
        found.append(finding("auth-unpadded", registry))
    if decoded.line_breaks:
        found.append(finding("auth-line-breaks", registry))
    if not decoded.content.isascii():
        try:
            decoded.content.decode("utf-8")
        except UnicodeDecodeError:
            found.append(finding("auth-not-utf8", registry))
    for name, part in (("username", user), ("password", password)):
        written = optional_text(entry.get(name))
        if written is not None and written.encode("utf-8", "surrogatepass") != part:
            found.append(finding("auth-overrides-fields", registry, name))
    return found, encode(decoded.content)


def _examine_pair(user: bytes, password: bytes, registry: str) -> list[Finding]:
    found = []
    if not user:
        found.append(finding("empty-user", registry))
    if not password.rstrip(b"\r\n"):
        found.append(finding("empty-password", registry))
    elif password.endswith(_LINE_END):
        found.append(finding("trailing-newline", registry))
    if _CONTROL.search(user) or _CONTROL.search(password.rstrip(b"\r\n")):
        found.append(finding("control-character", registry))
    return found


def lacks_user_or_password(entry: Mapping[str, Any]) -> bool:
    """Return whether a pull with this accepted, repaired entry fails: its user name or password is empty."""
    user, _colon, password = decode(entry["auth"]).content.partition(b":")
    return not user or not password.rstrip(b"\r\n")


def _examine_fields(
    entry: dict[str, Any], registry: str, has_helper: bool
) -> tuple[list[Finding], str | None]:
    """There is no ``auth``: check for a user name and password from which to make it."""
    user, password = optional_text(entry.get("username")), optional_text(entry.get("password"))
    if user is None and password is None:
        if any(optional_text(entry.get(name)) for name in TOKENS):
            return [finding("token-only", registry)], None
        return [finding("helper-only" if has_helper else "no-credentials", registry)], None
    # Half surrogates have been reported for the document as a whole.
    user_bytes = (user or "").encode("utf-8", "surrogatepass")
    password_bytes = (password or "").encode("utf-8", "surrogatepass")
    found = _examine_pair(user_bytes, password_bytes, registry)
    if b":" in user_bytes:
        found.append(finding("user-with-colon", registry))
    found.append(finding("username-password-only", registry))
    return found, encode(user_bytes + b":" + password_bytes)
