# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The code blocks of the README (Markdown) and of the documentation site's pages (RST).

A marker in front of a block tells what a test does with it. In Markdown it is ``<!-- run: lab -->``, in RST the
comment ``.. run: lab``:

- ``run: SESSION[, exit N]``: the commands are run (see :mod:`tests.docs.session`); one of them ends with N
- ``not run: REASON``: they are only checked
- ``file: NAME``: the block is written to this file before the next command
- ``output``: what the commands in front of it print
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import dropwhile, takewhile
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = ROOT / "docs" / "docsite" / "rst"

_MARKER = r"(?P<kind>run|not run|file|output)(?:: *(?P<marker>.*?))?"
_MARKDOWN = re.compile(
    rf"^(?:<!-- {_MARKER} -->\n)?```(?P<language>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_DIRECTIVE = re.compile(r"(?P<indent> *)\.\. (?:code-block|sourcecode|code)::(?: +(?P<language>\S+))? *")
_COMMENT = re.compile(rf" *\.\. {_MARKER} *", re.DOTALL)
_OPTION = re.compile(r" *:[\w-]+:.*")


class Block(NamedTuple):
    """``kind`` and ``marker`` are the two sides of the marker's colon, or empty; ``line`` is the block's first."""

    page: Path
    line: int
    language: str
    kind: str
    marker: str
    text: str

    @property
    def where(self) -> str:
        return f"{self.page.relative_to(ROOT)}, line {self.line}"

    @property
    def session(self) -> str:
        """``lab`` of ``run: lab, exit 2``; empty for a block that is not run."""
        return self.marker.partition(",")[0] if self.kind == "run" else ""

    @property
    def statuses(self) -> list[int]:
        """The exit codes other than 0 that the block's commands end with."""
        return [int(number) for number in re.findall(r"\bexit (\d+)\b", self.marker)]


def blocks(page: Path) -> list[Block]:
    """All code blocks of a page, in their order."""
    text = page.read_text()
    return list(_of_markdown(page, text) if page.suffix == ".md" else of_rst(page, text))


def pages() -> list[Path]:
    """All pages of the documentation site that people write."""
    return sorted(PAGES.rglob("*.rst"))


def _of_markdown(page: Path, text: str) -> Iterator[Block]:
    for found in _MARKDOWN.finditer(text):
        line = text.count("\n", 0, found.start("language")) + 1
        yield Block(page, line, found["language"], found["kind"] or "", found["marker"] or "", found["text"])


def of_rst(page: Path, text: str) -> Iterator[Block]:
    lines = text.splitlines()
    for number, line in enumerate(lines):
        found = _DIRECTIVE.fullmatch(line)
        if not found:
            continue
        kind, marker = _marker(lines[:number])
        content = _content(lines[number + 1 :], len(found["indent"]))
        yield Block(page, number + 1, found["language"] or "", kind, marker, content)


def _marker(before: list[str]) -> tuple[str, str]:
    """What the comment in front of a directive says; it may go on over indented lines."""
    above = dropwhile(lambda line: not line.strip(), reversed(before))
    comment = list(takewhile(str.strip, above))[::-1]
    found = _COMMENT.fullmatch("\n".join(comment))
    return (found["kind"], " ".join((found["marker"] or "").split())) if found else ("", "")


def _below(after: list[str], indent: int) -> list[str]:
    """The first lines of ``after`` that are empty or indented by more than ``indent``."""
    return list(takewhile(lambda line: not line.strip() or len(line) - len(line.lstrip()) > indent, after))


def _content(after: list[str], indent: int) -> str:
    """A directive's text without its options."""
    lines = dropwhile(_OPTION.fullmatch, _below(after, indent))
    text = dedent("\n".join(lines)).strip("\n")
    return f"{text}\n" if text else ""
