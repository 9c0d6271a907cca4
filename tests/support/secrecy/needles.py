# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finding canaries in what a run left behind."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tests.support.secrecy.canary import Canary

__all__ = ["Evidence", "Leak", "Needles"]

# Any 17 bytes of a form in a row are found; of hexadecimal digits, which are common, any 19. Shorter pieces
# could be an odd character's escape and little else, which several canaries have.
_WIDTH, _STEP = 14, 4
_HEX_WIDTH, _HEX_STEP = 14, 6
_HEX = re.compile(rb"[0-9A-Fa-f]+\Z")
_HEX_RUN = re.compile(rb"[0-9A-Fa-f]{14,}")
# What wrapping, quoting and escaping put between the characters of a form.
_BETWEEN = b" \t\r\n\\\"'`"


@dataclass(frozen=True)
class Evidence:
    """Something that a run showed; ``kind`` is the watcher that saw it, such as ``argv``."""

    kind: str
    name: str
    data: bytes


@dataclass(frozen=True)
class Leak:
    """A form of a canary where nothing of it should be. Canaries are random: this may be printed."""

    canary: str
    form: str
    kind: str
    name: str
    excerpt: str

    def __str__(self) -> str:
        return f"{self.canary}: {self.form}, in {self.kind} {self.name}: {self.excerpt}"


class Needles:
    """Short pieces of every form of many canaries, for one pass over the evidence."""

    def __init__(self, canaries: Iterable[Canary]) -> None:
        self._text: dict[bytes, tuple[str, str]] = {}
        self._hex: dict[bytes, tuple[str, str]] = {}
        for canary in canaries:
            for form, data in canary.forms().items():
                owner = (canary.name, form)
                if _HEX.match(data):
                    _cut(data.lower(), _HEX_WIDTH, _HEX_STEP, self._hex, owner)
                    continue
                _cut(data, _WIDTH, _STEP, self._text, owner)
                _cut(data.translate(None, _BETWEEN), _WIDTH, _STEP, self._text, owner)

    def leaks(self, evidence: Iterable[Evidence]) -> list[Leak]:
        """One leak for each canary, kind and name of evidence: the first form that is met."""
        found: dict[tuple[str, str, str], Leak] = {}
        seen: set[tuple[str, bytes]] = set()
        for item in evidence:
            if (item.kind, item.data) in seen:
                continue
            seen.add((item.kind, item.data))
            for (canary, form), excerpt in self._hits(item.data):
                key = (canary, item.kind, item.name)
                found.setdefault(key, Leak(canary, form, item.kind, item.name, excerpt))
        return list(found.values())

    def _hits(self, data: bytes) -> Iterable[tuple[tuple[str, str], str]]:
        for text in (data, data.translate(None, _BETWEEN)):
            get = self._text.get
            for at in range(len(text) - _WIDTH + 1):
                owner = get(text[at : at + _WIDTH])
                if owner is not None:
                    yield owner, _excerpt(text, at)
        for run in _HEX_RUN.finditer(data):
            digits = run.group().lower()
            for at in range(len(digits) - _HEX_WIDTH + 1):
                owner = self._hex.get(digits[at : at + _HEX_WIDTH])
                if owner is not None:
                    yield owner, _excerpt(data, run.start() + at)


def _cut(
    data: bytes, width: int, step: int, into: dict[bytes, tuple[str, str]], owner: tuple[str, str]
) -> None:
    for at in range(0, len(data) - width + 1, step):
        into.setdefault(data[at : at + width], owner)


def _excerpt(text: bytes, at: int) -> str:
    return repr(text[max(0, at - 160) : at + 60].decode("utf-8", "replace"))
