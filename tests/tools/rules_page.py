# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``python -m tests.tools.rules_page``: writes docs/rules.md from the rule table of the core."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "rules.md"

_HEAD = """# Rules of a docker config

Two programs read a docker config, and they disagree: kubelet, and containers/image (CRI-O, podman, skopeo). A
pull secret has to be right for both. What breaks a rule of severity *error* is refused before anything is
written; what breaks a *warning* is repaired or pointed out. The ids are stable: they stand in square brackets
at the end of a message.

This page is generated from the table in `plugins/module_utils/dockerconfig/rules.py`; `tests/oracle` holds
the two readers' columns to the readers' own code.

| rule | severity | what is wrong | kubelet | containers/image |
|---|---|---|---|---|
"""


def page() -> str:
    """The page's text."""
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import rules

    rows = [
        f"| `{rule.id}` | {rule.severity} | {rule.text} | {rule.kubelet} | {rule.containers_image} |\n"
        for rule in rules()
    ]
    return _HEAD + "".join(rows)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / ".collections"))
    PAGE.write_text(page(), encoding="utf-8")
