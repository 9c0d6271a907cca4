# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Covers what `make layers` cannot detect: imports by a string, and modules that no contract names."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# Files that import a module of the collection by a string, with the reason.
BY_TEXT: set[str] = set()
# The packages that extensions/eda may import. They include the AdapterConfig's reader, because the event source
# checks the complete file before the first event. Otherwise runs would fail and use up a cluster's tries.
OPEN = ("clients", "runtime", "model", "workflows", "workflows.adapter", "workflows.adapter.config")


def _names_a_module(path: Path) -> bool:
    texts = (node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant))
    return any(isinstance(text, str) and text.startswith("ansible_collections.hyperfleet.") for text in texts)


def _modules_in(directory: Path) -> set[str]:
    """Return the packages and modules of a package."""
    return {
        path.stem
        for path in directory.iterdir()
        if (path.is_dir() and any(path.glob("**/*.py"))) or (path.suffix == ".py" and path.stem != "__init__")
    }


def test_few_modules_are_imported_by_a_text() -> None:
    paths = [path for part in ("plugins", "extensions") for path in (ROOT / part).rglob("*.py")]
    assert {str(path.relative_to(ROOT)) for path in paths if _names_a_module(path)} == BY_TEXT


def test_the_contract_of_the_event_sources_names_every_room_that_is_closed_to_them() -> None:
    utils = ROOT / "plugins/module_utils"
    rooms = {f"module_utils.{name}" for name in _modules_in(utils)} | _modules_in(ROOT / "plugins")
    for package in ("workflows", "workflows.adapter"):
        rooms |= {f"module_utils.{package}.{name}" for name in _modules_in(utils / package.replace(".", "/"))}
    closed = rooms - {"module_utils"} - {f"module_utils.{name}" for name in OPEN}
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = (one for one in contracts if one["id"] == "event-sources")
    assert {name.split(".plugins.", 1)[1] for name in contract["forbidden_modules"]} == closed
    assert not any("ignore_imports" in one for one in contracts)
