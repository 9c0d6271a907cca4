# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides how a key of ``auths`` may be printed: people write credentials where the registry belongs.

All output of a key uses :func:`display` or :func:`displayed`. They show what can be a registry's host name,
its port, and path components that can be names of a repository. The page *Secrecy* says what remains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

__all__ = ["display", "displayed", "is_displayed", "secret_parts"]

_LONGEST = 255
_MOST_PORT = 65535
_LABEL = r"[a-z0-9*_](?:[a-z0-9*_-]{0,61}[a-z0-9*_])?"
# To every reader the first part of an image's name is a host only if it has a dot or a port, or is localhost.
# So a single bare word names no registry; it may be a password.
_HOST = re.compile(rf"(?:{_LABEL}(?:\.{_LABEL})+|localhost|\*|\[[0-9a-f:.]+\])")
_SINGLE = re.compile(_LABEL)
_SCHEME = re.compile(r"(?:https?|ftp|docker|oci)://", re.IGNORECASE)
_COMPONENT = re.compile(r"[a-z0-9._*-]{0,128}")
_SEPARATOR = re.compile(r"[:/@]")
_DIGIT = re.compile(r"[0-9]")
_TAG = re.compile(r"[:@]")
_RUN = re.compile(r"[a-z0-9]{12,}")
_CHANGE = re.compile(r"(?<=[a-z])(?=[0-9])|(?<=[0-9])(?=[a-z])")
# In a random string of 16 letters and digits, 6 neighbours are a letter and a digit; in a name rarely 2.
_MOST_CHANGES = 3


class _Shown(NamedTuple):
    """``text``: what may be printed; ``whole``: whether that is the complete key."""

    text: str
    whole: bool


def display(key: str, position: int) -> str:
    """Return the key in printable form.

    Parts that cannot belong to a registry's name are replaced by the entry's number: ``entry 2 (name not
    shown)``, or ``entry 2 (quay.io, the rest not shown)``. So two keys are never printed alike.

    :param position: of the entry, from 0.
    """
    shown = _shown(key)
    if shown.whole:
        return shown.text
    return f"entry {position + 1} ({shown.text + ', the rest' if shown.text else 'name'} not shown)"


def displayed(*keys: Iterable[str]) -> dict[str, str]:
    """Return keys to their printable forms, numbered by their position among all of them, sorted."""
    return {key: display(key, position) for position, key in enumerate(sorted(set().union(*keys)))}


def is_displayed(key: str) -> bool:
    """Return whether the key is printed unchanged."""
    return _shown(key).whole


@lru_cache(maxsize=4096)
def secret_parts(key: str) -> frozenset[str]:
    """Return the parts of the key that a text must not hold: the key, and its hidden parts.

    A bare word counts only with a digit: ``registry`` is in many harmless sentences, and so is a tag.
    """
    shown = _shown(key)
    if shown.whole:
        return frozenset()
    rest = key.partition("://")[2] or key
    parts = {key, rest, *_SEPARATOR.split(rest), *rest.split("/"), *rest.split("@")}
    parts = {part for part in parts if part != part.lower() or _DIGIT.search(part)}
    if not shown.text or "@" in key:
        parts |= {rest.partition(":")[2], *_SEPARATOR.split(rest.partition(":")[2])}
    return frozenset(part for part in parts if part and part not in shown.text)


@lru_cache(maxsize=4096)
def _shown(key: str) -> _Shown:
    nothing = _Shown("", False)
    if not key or len(key) > _LONGEST:
        return nothing
    found = _SCHEME.match(key)
    scheme = found.group() if found else ""
    authority, slash, path = key[len(scheme) :].partition("/")
    user, at_sign, address = authority.rpartition("@")
    if at_sign and ":" in user and not scheme:
        # The at sign may belong to a password, and then so does everything after it.
        return nothing
    host, port, whole = _host_and_port(address)
    if not host:
        return nothing
    text = ("" if at_sign else scheme) + host + port
    whole = whole and not at_sign
    if not slash or not whole:
        return _Shown(text, whole)
    shown = [text]
    for component in path.split("/"):
        # After a colon or an at sign there is normally a tag or a digest.
        name = _TAG.split(component, 1)[0]
        if _is_component(name):
            shown.append(name)
        if shown[-1] != component:
            return _Shown("/".join(shown), False)
    return _Shown(key, True)


def _host_and_port(address: str) -> tuple[str, str, bool]:
    """Return the host, the port with its colon, and whether that is all; no host if it cannot be one."""
    host, colon, port = address, "", ""
    if not address.endswith("]"):
        host, colon, port = address.partition(":") if address[:1] != "[" else address.rpartition(":")
    valid = not port or (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= _MOST_PORT)
    if _HOST.fullmatch(host) or (port and valid and _SINGLE.fullmatch(host)):
        return (host, colon + port, True) if valid else (host, "", False)
    return "", "", False


def _is_component(text: str) -> bool:
    """Return whether it can be a part of a repository's name, rather than a password."""
    if not _COMPONENT.fullmatch(text):
        return False
    return all(len(_CHANGE.findall(run)) <= _MOST_CHANGES for run in _RUN.findall(text))
