# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recognises a docker config, or an encoded ``user:password``, in a text where none belongs.

The encodings are those that people and programs make: base64 of either alphabet, padded or not, in lines,
up to three times, of text in UTF-8, Latin-1 or UTF-16, with a line break or NULs at its end; and hexadecimal
digits.
``tests/secrecy/unit/test_misplaced_credentials.py`` states how often it is wrong, in both directions.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator

__all__ = ["decodings", "holds_secret"]

# A key of a docker config with its colon, in JSON, YAML or Python's way of writing. What is before it on its
# line, and not on the lines before: each of many empty lines would be begun at, and gone through to the end.
_TELLTALE = re.compile(
    r"""(?:["'](?:auths?|password|identitytoken|registrytoken)\\?["']|^[^\S\n]*(?:auths?|password))\s*:""",
    re.IGNORECASE | re.MULTILINE,
)
# Shorter ones are too often names.
_RUN = re.compile(r"[A-Za-z0-9+/_-]{6,}={0,2}")
_SEGMENT = re.compile(r"[A-Za-z0-9+_-]{6,}={0,2}")
# Every secret here has a colon, which is in one of these pairs of base64's digits. In base64 of base64 each
# four digits are of the third kind. A text with neither needs no second look.
_GATE = re.compile(
    r"O[g-v]|[DTjz][o-r]|[AEIMQUYcgkosw048]6"
    r"|(?:[K-Za-e][C-HS-Xi-ny-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){2}"
)
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{2}){10,}(?![0-9A-Za-z])")
_STANDARD = str.maketrans("-_", "+/", "=")
_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")
_USER = re.compile(r"[\w$|<][\w$|<>.+@/\\~ -]{0,254}")
_LINE_BREAKS = str.maketrans("", "", "\t\r\n")
_ENCODED = 8
_NESTING = 3
# In Latin-1 text most letters are ASCII; of random bytes a third are.
_ASCII_SHARE = 0.75
_SHORT = 9
_LONG_USER = 5


def holds_secret(text: str) -> bool:
    """Return whether the text contains a docker config or an encoded credential."""
    if ":" in text and _TELLTALE.search(text):
        return True
    lower = text.lower()
    # Most names have no capital. Base64 of a credential rarely lacks one (once in thousands).
    if (text != lower or "=" in text) and _GATE.search(text) and any(map(_has_login, _candidates(text))):
        return True
    return "3a" in lower and _holds_hex(text)


def decodings(text: str) -> Iterator[bytes]:
    """Yield what the text decodes to from base64, repeatedly."""
    for _round in range(_NESTING):
        raw = _decoded(text)
        if raw is None:
            return
        yield raw
        text = raw.replace(b"\0", b"").decode("latin-1")


def _candidates(text: str) -> Iterator[str]:
    """Yield the text, the encoded strings in it, and these without a possible path around them."""
    yield text
    for run in _RUN.findall(text):
        yield run
        if "/" in run:
            yield from _SEGMENT.findall(run)


def _has_login(text: str) -> bool:
    if len(text) < _ENCODED and not text.endswith("="):
        return False
    return any(_is_login(raw) or bool(_TELLTALE.search(_text(raw)[0])) for raw in decodings(text))


def _decoded(text: str) -> bytes | None:
    unbroken = "".join(text.split()) if not text.isalnum() else text
    if not _RUN.fullmatch(unbroken):
        return None
    digits = unbroken.translate(_STANDARD)
    if digits == digits.lower() and "=" not in unbroken:
        return None
    try:
        return binascii.a2b_base64(digits + "=" * (-len(digits) % 4))
    except binascii.Error:
        return None


def _is_login(raw: bytes, *, only_text: bool = False) -> bool:
    """Return whether the bytes are a user name, a colon and a password.

    :param only_text: the password is UTF-8 text; otherwise it may have any bytes.
    """
    if b":" not in raw:
        return False
    text, is_utf8 = _text(raw)
    user, _colon, password = text.strip().partition(":")
    if not password or not _USER.fullmatch(user):
        return False
    is_text = text.translate(_LINE_BREAKS).isprintable()
    if is_utf8 or only_text:
        return is_text and is_utf8
    letters = sum(map(str.isascii, text))
    if is_text and letters >= len(text) * _ASCII_SHARE and len(text) >= _SHORT:
        return True
    # A password of any bytes, after a name that is too long to be random.
    return user.isascii() and len(user) >= _LONG_USER and len(password) >= _LONG_USER


def _text(raw: bytes) -> tuple[str, bool]:
    """Return the text without the NULs of some writers and of UTF-16, and whether it is UTF-8, otherwise
    Latin-1.
    """
    for mark in _MARKS:
        raw = raw[len(mark) :] if raw.startswith(mark) else raw
    raw = raw.replace(b"\0", b"")
    try:
        return raw.decode("utf-8"), True
    except UnicodeDecodeError:
        return raw.decode("latin-1"), False


def _holds_hex(text: str) -> bool:
    return any(_is_login(binascii.unhexlify(digits), only_text=True) for digits in _HEX.findall(text))
