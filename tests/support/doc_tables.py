# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables and YAML blocks of a documentation page, for tests that compare them with the code."""

from __future__ import annotations

import re
import textwrap

from tests.tools.env import ROOT

PAGES = ROOT / "docs" / "docsite" / "rst"
_TABLE = re.compile(r"^\.\. list-table::.*\n((?:[ ]{3}.*\n|\n)+)", re.MULTILINE)
_YAML = re.compile(r"^[ ]*\.\. code-block:: yaml\n\n((?:[ ]{3,}.*\n|\n)+)", re.MULTILINE)
_LITERAL = re.compile(r"``(.+?)``")

Row = list[str]


def page(name: str) -> str:
    """The text of a page, such as ``permissions``."""
    return (PAGES / f"{name}.rst").read_text()


def section(text: str, title: str) -> str:
    """What follows a headline, up to the end of the page."""
    return text.split(f"\n{title}\n")[1]


def yaml_blocks(text: str) -> list[str]:
    """The text of every block of YAML, in order."""
    return [textwrap.dedent(found[1]) for found in _YAML.finditer(text)]


def tables(text: str) -> list[list[Row]]:
    """The rows of every table, the header first; a cell is one line of text."""
    return [_rows(found[1]) for found in _TABLE.finditer(text)]


def table(text: str, *header: str) -> list[Row]:
    """The rows below the header of the one table that has this header."""
    (found,) = (rows[1:] for rows in tables(text) if rows[0] == list(header))
    return found


def literals(cell: str) -> list[str]:
    """What stands in double backquotes."""
    return _LITERAL.findall(cell)


def _rows(body: str) -> list[Row]:
    rows: list[Row] = []
    for line in body.splitlines():
        if line.startswith("   * - "):
            rows.append([line[7:]])
        elif f"{line} ".startswith("     - "):
            rows[-1].append(line[7:])
        elif line.startswith("       ") and rows:
            rows[-1][-1] += f" {line.strip()}"
    return [[cell.strip() for cell in row] for row in rows]
