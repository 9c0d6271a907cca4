# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Canaries: docker configs whose every secret part is random, and all the forms that would give one away.

An oracle of its own: the collection's ``sensitive_forms`` is deliberately not used here.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import random
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, quote_plus

__all__ = ["Canary", "Entry", "forms"]

_LETTERS = string.ascii_letters + string.digits
# Each is written in another way by JSON, repr(), URLs, YAML, XML or UTF-8.
_ODD = ("\\", '"', "'", "/", "%", "&", "<", "é", "+", ":", " ", "#", "{")


@dataclass(frozen=True)
class Entry:
    """One registry's credential, every part of it random."""

    registry: str
    user: str
    password: str
    token: str
    email: str

    @property
    def auth(self) -> str:
        return base64.b64encode(f"{self.user}:{self.password}".encode()).decode()

    @property
    def atoms(self) -> dict[str, str]:
        """The parts that must show nowhere."""
        return {
            "user": self.user,
            "password": self.password,
            "user:password": f"{self.user}:{self.password}",
            "auth": self.auth,
            "token": self.token,
            "email": self.email,
        }


@dataclass(frozen=True)
class Canary:
    """A docker config of three registries; ``name`` says which case it belongs to."""

    name: str
    entries: tuple[Entry, ...]
    extra: tuple[str, ...] = field(default=())

    @classmethod
    def make(cls, name: str, rng: random.Random | None = None) -> Canary:
        """A fresh one; the three ``auth`` have the three paddings of base64."""
        rng = rng or random.SystemRandom()
        entries = []
        for index in range(3):
            user = "robot" + _word(rng, 13)
            password = _odd_word(rng, 30)
            while len(f"{user}:{password}".encode()) % 3 != index:
                password += rng.choice(_LETTERS)
            entries.append(
                Entry(
                    f"r{index}.example", user, password, _word(rng, 40), f"{_word(rng, 14)}@{_word(rng, 14)}"
                )
            )
        return cls(name, tuple(entries))

    @property
    def document(self) -> dict[str, Any]:
        """``auth`` alone; user and password without it (which is repaired); everything, with a token."""
        one, two, three = self.entries
        return {
            "auths": {
                one.registry: {"auth": one.auth, "email": one.email},
                two.registry: {"username": two.user, "password": two.password},
                three.registry: {"auth": three.auth, "note": three.token},
            }
        }

    @property
    def text(self) -> str:
        return json.dumps(self.document, separators=(",", ":"))

    def forms(self) -> dict[str, bytes]:
        """Form's name -> bytes, any run of which gives the canary away."""
        found: dict[str, bytes] = {}
        for index, entry in enumerate(self.entries):
            for atom, value in entry.atoms.items():
                for form, data in forms(value):
                    found[f"{atom} {index}, {form}"] = data
        for value in self.extra:
            for form, data in forms(value):
                found[f"extra, {form}"] = data
        # A plain digest of a guessable secret can be guessed at.
        for layout, text in _layouts(self.document):
            for form, data in _digests(text.encode()):
                found[f"document {layout}, {form}"] = data
        return found


def forms(text: str) -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of all the ways in which programs write ``text``."""
    raw = text.encode()
    yield "plain", raw
    yield "JSON", json.dumps(text)[1:-1].encode()
    yield "JSON, UTF-8", json.dumps(text, ensure_ascii=False)[1:-1].encode()
    yield "repr", repr(text)[1:-1].encode()
    yield "repr of bytes", repr(raw)[2:-1].encode()
    yield "ascii", ascii(text)[1:-1].encode()
    yield "URL", quote(text, safe="").encode()
    yield "URL path", quote(text).encode()
    yield "query", quote_plus(text).encode()
    yield "XML", html.escape(text).encode()
    yield "YAML single-quoted", text.replace("'", "''").encode()
    yield "reversed", text[::-1].encode()
    yield "UTF-16", text.encode("utf-16-le")
    yield "hex", raw.hex().encode()
    yield "HEX", raw.hex().upper().encode()
    for shift, encoded in _base64_anywhere(raw):
        yield f"base64, shifted {shift}", encoded
        yield f"URL-safe base64, shifted {shift}", encoded.translate(_URL_SAFE)
        for again, twice in _base64_anywhere(encoded):
            yield f"base64 twice, shifted {shift} and {again}", twice
    yield from _digests(raw)


_URL_SAFE = bytes.maketrans(b"+/", b"-_")


def _base64_anywhere(raw: bytes) -> Iterator[tuple[int, bytes]]:
    """What base64 of any text around ``raw`` has in common, for each of the three alignments."""
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw).rstrip(b"=")
        # The first character(s) mix in what stands before, the last one what comes after.
        yield shift, encoded[(0, 2, 3)[shift] : -1]


def _digests(raw: bytes) -> Iterator[tuple[str, bytes]]:
    for kind in ("md5", "sha1", "sha256", "sha512"):
        digest = hashlib.new(kind, raw).digest()
        yield f"{kind} in hex", digest.hex().encode()
        yield f"{kind} in base64", base64.b64encode(digest)


def _layouts(document: Any) -> Iterable[tuple[str, str]]:
    for ordered in (False, True):
        name = "sorted" if ordered else "as it is"
        yield f"compact, {name}", json.dumps(document, separators=(",", ":"), sort_keys=ordered)
        for indent in (None, 2, 4):
            yield f"indent {indent}, {name}", json.dumps(document, indent=indent, sort_keys=ordered)


def _word(rng: random.Random, length: int) -> str:
    return "".join(rng.choice(_LETTERS) for _index in range(length))


def _odd_word(rng: random.Random, length: int) -> str:
    """Random letters with an odd character after every third."""
    odd = list(_ODD)
    rng.shuffle(odd)
    return "".join(
        rng.choice(_LETTERS) + (odd.pop() if index % 3 == 2 and odd else "") for index in range(length)
    )
