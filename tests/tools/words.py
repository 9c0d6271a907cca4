# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``python -m tests.tools.words [PATH]``: prints how much prose there is, and how long its sentences are.

Each group has a line: lines, words, sentences, the median number of words per sentence, and the share of sentences
with more than 25 words. Code, tables, directives and markup do not count. PATH is another checkout.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

import yaml

from tests.tools.messages import messages

ROOT = Path(__file__).resolve().parents[2]
_LONG = 25
_PAGES = {"README": "README.md", "pages (.md)": "docs/*.md", "pages (.rst)": "docs/docsite/rst/**/*.rst"}
_DOCUMENTATION = ("plugins/*/*.py", "plugins/*/*.yml", "roles/*/meta/argument_specs.yml")
_PROSE_KEYS = {"description", "short_description", "details", "notes"}
_WORD = re.compile(r"[\w'./:-]*\w")
_MARKUP = re.compile(r"[*`|]+|\b(?:[A-Z]|RV|HP)\((?=[^)]*\))")
_END = re.compile(r"(?<=[.!?])[)\"']*\s+(?=[\"'(]?[A-Z])")
_ITEM = re.compile(r"\s*(?:[-*+#>]|\d+\.|#\.)\s+")
_NOT_PROSE = re.compile(r"\s*(?:\||\+[-=]|\.\. |:[\w-]+:|[=~^\"'-]{3,}\s*$|\[!|<)")


class Figures(NamedTuple):
    """The figures of a group; ``lines`` is the number of lines, or of texts if they are in other files."""

    lines: int
    words: int
    sentences: int
    middle: float
    long: float


def sentences(text: str) -> list[int]:
    """Return the number of words of each sentence of a text."""
    return [len(words) for one in _END.split(_MARKUP.sub("", text)) if (words := _WORD.findall(one))]


def paragraphs(page: str) -> Iterator[str]:
    """Yield the paragraphs of a page of Markdown or reStructuredText."""
    text: list[str] = []
    block: int | None = None  # the indentation of the code block or table that the line may be in
    for line in [*re.sub(r"(?ms)^```.*?^```$", "", page).splitlines(), ""]:
        indent = len(line) - len(line.lstrip())
        if block is not None and (not line.strip() or indent > block):
            continue
        block = None
        if text and (not line.strip() or _ITEM.match(line) or _NOT_PROSE.match(line)):
            yield " ".join(text)
            text = []
        if re.match(r"\s*\.\. (?!note|warning|tip|seealso|_)|.*::$", line):
            block = indent
        elif line.strip() and not _NOT_PROSE.match(line):
            text.append(_ITEM.sub("", line).strip())


def described(node: object) -> Iterator[str]:
    """Yield the descriptions in the documentation of a plugin, a module or a role."""
    for one in node if isinstance(node, list) else ():
        yield from described(one)
    for key, value in node.items() if isinstance(node, dict) else ():
        if key in _PROSE_KEYS and isinstance(value, (str, list)):
            yield from (
                text for text in ([value] if isinstance(value, str) else value) if isinstance(text, str)
            )
        else:
            yield from described(value)


def documentation(path: Path) -> Iterator[str]:
    """Yield the descriptions in a documentation file, or in a program's documentation constants."""
    source = path.read_text(encoding="utf-8")
    constants = ast.walk(ast.parse(source)) if path.suffix == ".py" else [ast.Constant(source)]
    texts = (one.value for one in constants if isinstance(one, ast.Constant))
    for text in (text for text in texts if isinstance(text, str) and "description:" in text):
        yield from described(yaml.safe_load(re.sub(r"(?m) [&*]\w+$", "", text)))


def figures(texts: Iterable[str], lines: int | None = None) -> Figures:
    """Return the figures of a group of texts."""
    found = [*texts]
    counts = [count for text in found for count in sentences(text)] or [0]
    long = sum(count > _LONG for count in counts) / len(counts)
    return Figures(lines or len(found), sum(counts), len(counts), median(counts), long)


def groups(root: Path) -> dict[str, Figures]:
    """Return the figures of a checkout, by group."""
    found = {}
    for name, pattern in _PAGES.items():
        pages = [path.read_text(encoding="utf-8") for path in sorted(root.glob(pattern))]
        lines = sum(len(page.splitlines()) for page in pages)
        found[name] = figures((text for page in pages for text in paragraphs(page)), lines)
    files = [path for pattern in _DOCUMENTATION for path in sorted(root.glob(pattern))]
    found["module documentation"] = figures(text for path in files for text in documentation(path))
    found_messages = messages([root / one for one in ("plugins", "extensions", "roles", "playbooks")], root)
    found["messages"] = figures(re.sub(r"\{[^{}]*\}", "x", one.text) for one in found_messages)
    return found


def main() -> None:
    """Print the figures."""
    print(f"{'':24}{'lines':>8}{'words':>8}{'sentences':>11}{'median':>8}{'over ' + str(_LONG):>9}")
    for name, one in groups(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT).items():
        print(f"{name:24}{one.lines:8}{one.words:8}{one.sentences:11}{one.middle:8g}{one.long:9.0%}")


if __name__ == "__main__":
    main()
