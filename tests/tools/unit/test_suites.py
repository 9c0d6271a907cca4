# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A feature's tests import nothing from another feature's tests: shared code is in tests/support."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
# The other folders that each folder may import. All other folders are features.
SHARED = {
    "stand_ins": (),
    "tools": ("stand_ins",),
    "lab": ("stand_ins", "tools"),
    "support": ("lab", "stand_ins", "tools"),
}
FEATURE = ("support", "lab", "stand_ins", "tools")
# Tests of the tools may import all shared code.
TOOLS_TESTS = TESTS / "tools" / "unit"


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the folders below tests/ from which a module imports something."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (name.split(".")[1] for name in names if name.startswith("tests."))


def wrong(path: Path, text: str) -> list[str]:
    folder = path.relative_to(TESTS).parts[0]
    may = FEATURE if path.is_relative_to(TOOLS_TESTS) else SHARED.get(folder, FEATURE)
    return sorted({one for one in imported(ast.parse(text)) if one != folder and one not in may})


def test_features_import_nothing_of_one_another() -> None:
    found = {path: wrong(path, path.read_text(encoding="utf-8")) for path in TESTS.rglob("*.py")}
    assert len(found) > 500
    assert {str(path.relative_to(TESTS)): names for path, names in found.items() if names} == {}


def test_an_import_of_another_feature_is_found() -> None:
    path = TESTS / "job" / "unit" / "test_it.py"
    assert wrong(path, "from tests.adapter.world import World") == ["adapter"]
    assert wrong(path, "def test():\n    from tests import secrecy, support") == ["secrecy"]
    assert wrong(path, "import tests.node.rows, tests.job.world") == ["node"]
    assert wrong(path, "from tests.lab.session import STAND_IN") == []
    assert wrong(TESTS / "stand_ins" / "kubernetes" / "api.py", "from tests.lab import world") == ["lab"]
    assert wrong(TESTS / "support" / "job.py", "from tests.job.world import World") == ["job"]
