# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ``auth`` field: base64 as Go reads it, ``user:password``, and a holder that does not print itself."""

from __future__ import annotations

import base64
import binascii
import re
from typing import NamedTuple

__all__ = ["Credential", "Decoded", "decode", "encode", "go_kubelet", "go_standard"]

_ALPHABET = re.compile(r"([A-Za-z0-9+/]*)(={0,2})")
_URL_SAFE = str.maketrans("-_", "+/")
_LINE_BREAKS = str.maketrans("", "", "\r\n")


class Credential:
    """A user name and password (and a token), reachable by name only: ``repr()`` shows nothing of them.

    ``username``, ``password`` and ``identity_token`` are bytes: what is decoded need not be UTF-8.
    """

    __slots__ = ("identity_token", "password", "username")

    def __init__(self, username: bytes = b"", password: bytes = b"", identity_token: bytes = b"") -> None:
        self.username = username
        self.password = password
        self.identity_token = identity_token

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to log in with."""
        return not (self.username or self.password or self.identity_token)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}{' (empty)' if self.is_empty else ''}>"


class Decoded(NamedTuple):
    """A decoded ``auth`` for lint: ``error`` is a rule id, ``content`` the decoded bytes."""

    error: str | None
    content: bytes
    unpadded: bool
    line_breaks: bool


def _padding(text: str) -> tuple[int, int] | None:
    """Return the number of ``=`` and the right number; None if this is not base64 at all."""
    match = _ALPHABET.fullmatch(text)
    if not match:
        return None
    length = len(match.group(1))
    return None if length % 4 == 1 else (len(match.group(2)), -length % 4)


def _is_padded(text: str) -> bool:
    padding = _padding(text)
    return padding is not None and padding[0] == padding[1]


def _is_raw(text: str) -> bool:
    padding = _padding(text)
    return padding is not None and padding[0] == 0


def _decode(text: str) -> bytes:
    return binascii.a2b_base64(text + "=" * (-len(text) % 4))


def go_standard(text: str) -> bytes | None:
    """``base64.StdEncoding``: padded; CR and LF are ignored anywhere; None on an error."""
    text = text.translate(_LINE_BREAKS)
    return _decode(text) if _is_padded(text) else None


def go_kubelet(text: str) -> bytes | None:
    """Decode as kubelet does: padded if it ends in ``=``, otherwise unpadded; None on an error."""
    text = text.translate(_LINE_BREAKS)
    return _decode(text) if (_is_padded if text.endswith("=") else _is_raw)(text) else None


def decode(auth: str) -> Decoded:
    """Decode for lint: accept what both readers accept and what can be repaired, otherwise return the broken
    rule.
    """
    text = auth.translate(_LINE_BREAKS)
    line_breaks = len(text) != len(auth)
    if _is_padded(text):
        return Decoded(None, _decode(text), False, line_breaks)
    if _is_raw(text):
        return Decoded(None, _decode(text), True, line_breaks)
    if any(char.isspace() for char in text):
        error = "auth-whitespace"
    elif _is_url_safe(text):
        error = "auth-url-safe"
    else:
        error = "auth-not-base64"
    return Decoded(error, b"", False, line_breaks)


def _is_url_safe(text: str) -> bool:
    """Whether a text that is not standard base64 is ``user:password`` in URL-safe base64."""
    standard = text.translate(_URL_SAFE)
    is_mixed = "+" in text or "/" in text
    return not is_mixed and (_is_padded(standard) or _is_raw(standard)) and b":" in _decode(standard)


def encode(content: bytes) -> str:
    """Encode as padded standard base64, which both readers accept."""
    return base64.b64encode(content).decode("ascii")
