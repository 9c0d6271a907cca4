# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The EXAMPLES of the collection's plugins, as ``ansible-doc`` reads them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml
from ansible.parsing.plugin_docs import read_docstring

from tests.tools.env import ROOT

# Plugins that people call: each has examples.
CALLED = ("modules", "lookup", "filter", "test", "inventory")
# What no example may touch on the machine that tests it: an absolute path, alone or inside a template.
_ABSOLUTE = re.compile(r"(?<![\w.:/}~-])/(?=[a-z])")

Example = dict[str, Any]


def documents() -> dict[str, str]:
    """EXAMPLES by plugin (``modules/gcp_pull_secret``); empty where a documented plugin has none."""
    found = {}
    for path in sorted((ROOT / "plugins").glob("*/*.*")):
        texts = read_docstring(str(path), verbose=False)
        examples = texts["plainexamples"] or ""
        if texts["doc"] and (path.parent.name in CALLED or examples):
            found[f"{path.parent.name}/{path.stem}"] = examples
    return found


def parse(text: str) -> list[Example]:
    """The tasks of a block; ValueError if it is anything else, or if a task has no name of its own.

    The examples of an inventory plugin are configurations, each a document, and a play in the last one.
    """
    configurations = list(yaml.safe_load_all(text))
    if len(configurations) > 1:
        return configurations
    (tasks,) = configurations
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
