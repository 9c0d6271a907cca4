# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds every string that reveals a docker config, so that a caller can mask it."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .credential import encode
from .display import secret_parts
from .document import DockerConfig
from .entries import fold
from .parse import BAD_NUMBER, parse, text_of

MIN_LENGTH = 6
"""Shorter forms are left out: masking them would destroy unrelated text."""

# The text between two quotes, inside or outside of a string: in a broken document this is unknown.
_BETWEEN = re.compile(r'(?:[^"\\]|\\.)+', re.DOTALL)
_COLON = re.compile(r'"\s*:')
_STRUCTURE = " \t\r\n:,{}[]"
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
# Not secret by itself, and masking it would hide names that reports need.
_PUBLIC = frozenset({"email", "username", "serveraddress", "credsstore", "credhelpers"})
_WRAP = 76  # the line length of base64(1) and of MIME
_NESTING = 3  # how often base64 inside base64 is followed


def sensitive_forms(data: bytes | str | Mapping[str, Any] | DockerConfig) -> set[str]:
    """Every string of at least 6 characters that shows ``data`` or a secret in it.

    The document as it is, canonical, compact and indented by 2 and 4, each also in base64 and as JSON or
    Python would quote it; of every entry ``auth``, the decoded ``user:password``, the password, and
    tokens, each with its base64; unknown fields; what of a registry is not shown.  User names, e-mail
    addresses and other registries are left readable.  Works on documents that are refused and on text
    that is no JSON at all.
    """
    forms: set[str] = set()
    _document(data.canonical() if isinstance(data, DockerConfig) else data, forms, _NESTING)
    return {form for form in forms if len(form) >= MIN_LENGTH}


def _document(data: Any, forms: set[str], nesting: int) -> None:
    if isinstance(data, (bytearray, memoryview)):
        data = bytes(data)
    if isinstance(data, (bytes, str)):
        text, raw = _text_and_bytes(data)
        _add_document_text(text, raw, forms)
        if text.strip() != text:
            _add_document_text(text.strip(), text.strip().encode("utf-8", "replace"), forms)
        _scan(text, forms, nesting)
    tree = parse(data)
    if tree.broken or not isinstance(tree.root, (dict, list)):
        if isinstance(data, (bytes, str)):
            for value in _quoted(text):
                _leaf(value, forms, 0)
        if isinstance(data, Mapping):
            _leaves(_tolerant(data, 0), forms, nesting)
        return
    for text in set(_layouts(tree.root)):  # most of them are alike
        _add_document_text(text, text.encode("utf-8", "replace"), forms)
    _leaves(tree.root, forms, nesting)


def _text_and_bytes(data: bytes | str) -> tuple[str, bytes]:
    if isinstance(data, str):
        return data, data.encode("utf-8", "replace")
    text, not_utf8 = text_of(data)
    return (data.decode("utf-8", "replace") if not_utf8 else text), data


def _tolerant(value: Any, depth: int) -> Any:
    """Plain values of a mapping that no JSON can be made of."""
    if isinstance(value, Mapping) and depth < 64:
        return {str(key): _tolerant(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)) and depth < 64:
        return [_tolerant(item, depth + 1) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else str(value) if isinstance(value, (int, float)) else None


def _layouts(root: Any) -> Iterator[str]:
    """Return the formats in which programs usually print the same document."""
    for ascii_only in (True, False):
        for keys_sorted in (True, False):
            for indent in (None, 2, 4, "\t"):
                yield _dump(root, ensure_ascii=ascii_only, sort_keys=keys_sorted, indent=indent)
            yield _dump(root, ensure_ascii=ascii_only, sort_keys=keys_sorted, separators=(",", ":"))
    yield repr(root)


def _dump(root: Any, **options: Any) -> str:
    return json.dumps(root, default=lambda bad: None if bad is BAD_NUMBER else str(bad), **options)


def _add_document_text(text: str, raw: bytes, forms: set[str]) -> None:
    _add_text(text, forms)
    for line in text.splitlines():
        # A name with an opening bracket (`"auths": {`) reveals nothing and is everywhere.
        if not line.rstrip().endswith(("{", "[")):
            forms.add(line.strip())
    for content in (raw, raw + b"\n"):
        encoded = encode(content)
        _add_base64(encoded, forms)
        if len(encoded) > _WRAP:
            forms.update(encoded[at : at + _WRAP] for at in range(0, len(encoded), _WRAP))


def _add_text(text: str, forms: set[str]) -> None:
    """Add the text, and its forms inside JSON and inside Python."""
    forms.add(text)
    forms.add(json.dumps(text)[1:-1])
    forms.add(json.dumps(text, ensure_ascii=False)[1:-1])
    forms.add(repr(text)[1:-1])


def _add_base64(encoded: str, forms: set[str]) -> None:
    forms.add(encoded)
    forms.add(encoded.rstrip("="))
    forms.add(encoded.translate(_TO_URL_SAFE))
    forms.add(encoded.translate(_TO_URL_SAFE).rstrip("="))


_TO_URL_SAFE = str.maketrans("+/", "-_")
_FROM_URL_SAFE = str.maketrans("-_", "+/")


def _leaves(root: Any, forms: set[str], nesting: int) -> None:
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            for name, item in getattr(node, "pairs", None) or node.items():
                if fold(name) in _PUBLIC:
                    continue
                stack.append(item)
                if fold(name) == "auths" and isinstance(item, dict):
                    for part in frozenset().union(*map(secret_parts, item)):
                        _secret(part, forms)
            _user_and_password(node, forms)
        elif isinstance(node, (list, tuple)):
            stack.extend(node)
        elif isinstance(node, str):
            _leaf(node, forms, nesting)


def _user_and_password(node: Mapping[str, Any], forms: set[str]) -> None:
    user, password = node.get("username"), node.get("password")
    if not isinstance(password, str):
        return
    _key_file(password, forms)
    if isinstance(user, str):
        _secret(f"{user}:{password}", forms)


def _secret(text: str, forms: set[str]) -> None:
    if len(text) < MIN_LENGTH:
        return
    _add_text(text, forms)
    _add_base64(encode(text.encode("utf-8", "replace")), forms)
    _add_base64(encode(text.encode("utf-8", "replace") + b"\n"), forms)


def _leaf(text: str, forms: set[str], nesting: int) -> None:
    """Handle a string that may be secret: what it decodes to, and the password in that."""
    _secret(text, forms)
    unbroken = "".join(text.split())
    if unbroken != text:
        _secret(unbroken, forms)
        for line in text.split():
            _secret(line, forms)
    decoded = _decoded(unbroken)
    if decoded is None:
        return
    _add_base64(encode(decoded), forms)
    inner = decoded.decode("utf-8", "replace")
    if inner.lstrip().startswith("{") and nesting:
        _document(decoded, forms, nesting - 1)
        return
    _secret(inner, forms)
    _secret(inner.strip(), forms)
    _user, colon, password = inner.partition(":")
    if colon:
        _secret(password, forms)
        _secret(password.strip(), forms)
        _secret(password.strip("\x00"), forms)
        _key_file(password, forms)


def _key_file(password: str, forms: set[str]) -> None:
    """Handle a password that is a Google key file, of which a program may print single lines or the key."""
    try:
        key = json.loads(password)["private_key"].splitlines()
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        key = []
    for text in (*password.splitlines(), "\n".join(key), *key):
        _secret(text.strip(), forms)


def _decoded(text: str) -> bytes | None:
    if not _BASE64.fullmatch(text):
        return None
    standard = text.translate(_FROM_URL_SAFE).rstrip("=")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4))
    except (binascii.Error, ValueError):
        return None


def _scan(text: str, forms: set[str], nesting: int) -> None:
    """Handle text that may not be a document: every string that decodes to a secret."""
    for match in _BASE64.finditer(text):
        decoded = _decoded(match.group())
        if decoded is not None and (b":" in decoded or decoded.lstrip().startswith(b"{")):
            _leaf(match.group(), forms, nesting)


def _quoted(text: str) -> Iterator[str]:
    """Yield the quoted values of text that is not valid JSON, in one pass."""
    name = ""
    for match in _BETWEEN.finditer(text):
        if _COLON.match(text, match.end()):
            name = match.group().lower()
        elif name not in _PUBLIC and match.group().strip(_STRUCTURE):
            yield match.group()


__all__ = ["MIN_LENGTH", "sensitive_forms"]
