# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files have at most 400 lines, functions at most 60."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.tools.env import ROOT

MOST_LINES_OF_A_FILE = 400
MOST_LINES_OF_A_FUNCTION = 60
# Variables that Ansible reads as documentation do not count as code.
DOCUMENTATION = {"DOCUMENTATION", "EXAMPLES", "RETURN"}


def _length(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _is_documentation(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in DOCUMENTATION


def _lines_of_code(text: str) -> int:
    documented = (_length(node) for node in ast.parse(text).body if _is_documentation(node))
    return len(text.splitlines()) - sum(documented)


def _long_functions(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if _length(node) > MOST_LINES_OF_A_FUNCTION:
            yield node.name


def _files() -> Iterator[tuple[Path, str]]:
    for folder in ("plugins", "extensions"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            # A fragment contains only documentation.
            if path.parent.name != "doc_fragments":
                yield path.relative_to(ROOT), path.read_text(encoding="utf-8")


def test_no_file_is_too_long() -> None:
    assert [str(path) for path, text in _files() if _lines_of_code(text) > MOST_LINES_OF_A_FILE] == []


def test_no_function_is_too_long() -> None:
    assert [f"{path}: {name}" for path, text in _files() for name in _long_functions(text)] == []


def test_what_is_counted() -> None:
    body = "    a = 1\n" * MOST_LINES_OF_A_FUNCTION
    assert [*_long_functions(f"def short():\n{body[:-10]}def long():\n{body}")] == ["long"]
    assert _lines_of_code("DOCUMENTATION = '''\na\nb\n'''\nc = 1\n") == 1
