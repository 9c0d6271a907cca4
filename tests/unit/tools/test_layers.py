# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `make layers` cannot see: a module of ours that is imported by a text."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# ansible-rulebook loads an event source as a file; these parts are loaded when they are needed.
BY_TEXT = {"extensions/eda/receiving/settings.py", "extensions/eda/receiving/monitoring.py"}


def _names_a_module(path: Path) -> bool:
    texts = (node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant))
    return any(isinstance(text, str) and text.startswith("ansible_collections.hyperfleet.") for text in texts)


def test_few_modules_are_imported_by_a_text() -> None:
    paths = [path for part in ("plugins", "extensions") for path in (ROOT / part).rglob("*.py")]
    assert {str(path.relative_to(ROOT)) for path in paths if _names_a_module(path)} == BY_TEXT
