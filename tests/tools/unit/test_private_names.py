# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module uses no private names of other modules."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.tools.env import ROOT

# Names that are public according to their documentation: named tuples and os.
DOCUMENTED = {"_asdict", "_exit", "_fields", "_replace"}
# Ansible's names without a public alternative in each tested ansible-core.
ANSIBLES = {
    ("plugins/action/check_variables.py", "_role"),
    ("plugins/callback/job_log.py", "_result"),
}


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for folder in ("plugins", "extensions"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _private_imports(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            names = [alias.name for alias in node.names] + (node.module or "").split(".")
            yield from (name for name in names if _is_private(name))


def _own_names(module: ast.Module) -> set[str]:
    """Return the private members that the module's classes define."""
    found: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_own(node):
            found.add(node.attr)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def _private_members(module: ast.Module) -> Iterator[str]:
    """Yield private members of objects whose class is in another module."""
    known = _own_names(module) | DOCUMENTED
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and _is_private(node.attr) and not _is_own(node):
            yield from {node.attr} - known


def test_no_module_imports_a_private_name() -> None:
    assert {path: found for path, module in _modules() if (found := [*_private_imports(module)])} == {}


def test_no_module_uses_a_private_member_of_another() -> None:
    assert {(path, name) for path, module in _modules() for name in _private_members(module)} == ANSIBLES


def test_what_is_refused() -> None:
    wrong = "from .a import _b\nfrom ._c import d\ndef f(x): return x._e"
    module = ast.parse(wrong)
    assert [*_private_imports(module)] == ["_b", "_c"]
    assert [*_private_members(module)] == ["_e"]
    right = "class A:\n    def __init__(self): self._e = 1\n    def same(self, other): return other._e"
    assert [*_private_members(ast.parse(right))] == []
