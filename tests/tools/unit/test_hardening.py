# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each item of the hardening list has a test, and no test names an item that does not exist."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.support.hardening import ITEMS

TESTS = Path(__file__).resolve().parents[2]


def _marked() -> set[int]:
    """The items that the decorators of test functions and the ``pytestmark`` of files name."""
    found: set[int] = set()
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if ".hardening(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.hardening":
                found |= {ast.literal_eval(argument) for argument in node.args}
    return found


def test_each_item_has_a_test() -> None:
    assert _marked() == set(ITEMS)
