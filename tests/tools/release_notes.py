# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the release of ``galaxy.yml`` to the changelog, in a copied tree (tests.tools.in_tree).

It replaces an entry of the same version, which is a draft until its tag exists, from the fragments and the current
plugins. antsibull-changelog alone would keep removed plugins and the old list of playbooks.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml

CHANGELOG = Path("changelogs", "changelog.yaml")


def drop(document: dict[str, object], version: str) -> bool:
    """Remove a release from the changelog's data; return whether it existed."""
    releases = document.get("releases")
    return isinstance(releases, dict) and releases.pop(version, None) is not None


def main() -> int:
    version = yaml.safe_load(Path("galaxy.yml").read_text())["version"]
    document = yaml.safe_load(CHANGELOG.read_text())
    if drop(document, version):
        CHANGELOG.write_text(yaml.safe_dump(document))
    return subprocess.run(["antsibull-changelog", "release", "--reload-plugins"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
