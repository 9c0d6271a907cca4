# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The EXAMPLES of the collection's plugins, read from their files as ``ansible-doc`` does."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ROOT / "plugins"
# Plugins that people call: each has examples.
CALLED = ("modules", "lookup", "filter", "test", "inventory")
# What no example may touch on the machine that tests it: an absolute path, alone or inside a template.
_ABSOLUTE = re.compile(r"(?<![\w.:/}~-])/(?=[a-z])")

Example = dict[str, Any]


def documents() -> dict[str, str]:
    """EXAMPLES by plugin (``modules/gcp_pull_secret``); empty where a documented plugin has none."""
    found = {}
    for path in sorted(PLUGINS.glob("*/*")):
        texts = _texts(path)
        if "DOCUMENTATION" in texts and (path.parent.name in CALLED or "EXAMPLES" in texts):
            found[f"{path.parent.name}/{path.stem}"] = texts.get("EXAMPLES", "")
    return found


def parse(text: str) -> list[Example]:
    """The tasks of a block; ValueError if it is anything else, or if a task has no name of its own."""
    tasks = yaml.safe_load(text)
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise ValueError("EXAMPLES is not a list of tasks")
    names = [task.get("name") for task in tasks]
    if not names or None in names or len(set(names)) < len(names):
        raise ValueError("EXAMPLES has no task, or one without a name of its own")
    return tasks


def below(root: Path, value: Any) -> Any:
    """A copy in which every absolute path begins at ``root``."""
    if isinstance(value, str):
        return _ABSOLUTE.sub(f"{root}/", value)
    if isinstance(value, list):
        return [below(root, item) for item in value]
    if isinstance(value, dict):
        return {key: below(root, item) for key, item in value.items()}
    return value


def _texts(path: Path) -> dict[str, Any]:
    if path.suffix in (".yml", ".yaml"):
        loaded = yaml.safe_load(path.read_text())
        return loaded if isinstance(loaded, dict) else {}
    if path.suffix != ".py":
        return {}
    return {
        target.id: ast.literal_eval(node.value)
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id in ("DOCUMENTATION", "EXAMPLES")
    }
