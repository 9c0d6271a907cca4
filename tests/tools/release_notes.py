# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the release that ``galaxy.yml`` names into the changelog, in a copied tree (tests.tools.in_tree).

An entry of the same version is written again from its fragments and from today's plugins: until its tag is there,
it is a draft. antsibull-changelog alone would keep plugins that are gone and the old list of playbooks.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml

CHANGELOG = Path("changelogs", "changelog.yaml")


def drop(document: dict[str, object], version: str) -> bool:
    """Removes a release from the changelog's data; returns whether it was there."""
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
