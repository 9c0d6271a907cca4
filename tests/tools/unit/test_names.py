# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One name has one meaning, and each module lists its public names."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# Ansible finds these classes by their name. Each plugin has one.
NAMED_BY_ANSIBLE = {"ActionModule", "CallbackModule", "FilterModule", "LookupModule", "ModuleDocFragment"}
# The interface of all tasks, which their shared steps use, and the entry points of programs.
INTERFACE = {"build_target", "full_place", "run", "spec", "target_options", "targets_of"}
PROGRAMS = {"compile_all", "load_all", "main"}
# Packages whose modules must list all public names.
LISTED = (
    "extensions/eda/monitoring",
    "extensions/eda/receiving",
    "plugins/module_utils",
    "plugins/plugin_utils",
)


def _modules(*folders: str) -> Iterator[tuple[str, ast.Module]]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield str(path.relative_to(ROOT)), ast.parse(path.read_text())


def _definitions(module: ast.Module) -> Iterator[str]:
    for node in module.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))


def _listed(module: ast.Module) -> set[str] | None:
    for node in module.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return None


def _shared_names(
    *kinds: type[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef],
) -> dict[str, list[str]]:
    """Return the public names that several modules define, with these modules."""
    places: dict[str, list[str]] = defaultdict(list)
    for path, module in _modules("plugins", "extensions"):
        for node in module.body:
            name = getattr(node, "name", "_")
            if isinstance(node, kinds) and not name.startswith("_"):
                places[name].append(path)
    return {name: paths for name, paths in places.items() if len(paths) > 1}


def test_no_two_modules_define_a_public_class_of_one_name() -> None:
    shared = _shared_names(ast.ClassDef)
    assert {name: paths for name, paths in shared.items() if name not in NAMED_BY_ANSIBLE} == {}


def test_no_two_modules_define_a_public_function_of_one_name() -> None:
    shared = _shared_names(ast.FunctionDef, ast.AsyncFunctionDef)
    assert {name: paths for name, paths in shared.items() if name not in INTERFACE | PROGRAMS} == {}
    assert set(shared) == INTERFACE | PROGRAMS, "name only what needs an exception"
    workflows = "plugins/module_utils/workflows"
    folders = ("plugins/module_utils/tasks/", f"{workflows}/provision/", f"{workflows}/inspection/")
    assert all(path.startswith(folders) for name in INTERFACE for path in shared[name])


def test_a_module_lists_exactly_its_public_names() -> None:
    wrong = {}
    for path, module in _modules(*LISTED):
        if path.endswith("/__init__.py"):
            continue
        # A single letter is a type variable.
        public = {name for name in _definitions(module) if not name.startswith("_") and len(name) > 1}
        listed = _listed(module)
        if listed is None or public != listed:
            wrong[path] = public ^ (listed or set())
    assert wrong == {}


def test_a_package_says_what_it_is_for_imports_and_offers_and_does_nothing() -> None:
    """Every module and program that needs a part of the package would load code in its ``__init__``."""
    for path, module in _modules("plugins", "extensions"):
        if path.endswith("/__init__.py") and path != "plugins/module_utils/dockerconfig/__init__.py":
            assert len(module.body) == 1, path
            purpose, _blank, imports, offers = (ast.get_docstring(module) or "").splitlines()
            assert purpose.endswith("."), path
            assert imports.startswith("Imports "), path
            assert offers.startswith("Public: "), path


def test_every_package_of_ours_says_so() -> None:
    folders = {path.parent for path in (ROOT / "plugins" / "module_utils").rglob("*.py")}
    folders |= {path.parent for path in (ROOT / "extensions" / "eda").rglob("*.py")}
    silent = {str(one.relative_to(ROOT)) for one in folders if not (one / "__init__.py").exists()}
    # Ansible requires this folder.
    assert silent == {"extensions/eda/plugins/event_source"}
