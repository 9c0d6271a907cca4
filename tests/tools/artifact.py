# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds ``dist/hyperfleet-pull_secret-VERSION.tar.gz`` and checks that it holds what users need, no more."""

from __future__ import annotations

import re
import sys
import tarfile
from pathlib import Path

from tests.tools import env, in_tree, tree

DIST = env.ROOT / "dist"

# Every top-level name that may be in the tarball.
ALLOWED = {
    "CHANGELOG.md",
    "CHANGELOG.rst",
    "CONTRIBUTING.md",
    "COPYING",
    "FILES.json",
    "MANIFEST.json",
    "README.md",
    "changelogs",
    "docs",
    "extensions",
    "meta",
    "playbooks",
    "plugins",
    "roles",
}
# Directories of which every file has to be in the tarball.
WHOLE = ("meta", "plugins", "playbooks", "roles")
FORBIDDEN = re.compile(r"(^|/)(\.[^/]+|__pycache__|tests|requirements|build|output)(/|$)|\.(pyc|log|gz|cfg)$")
MAX_BYTES = 1 << 20


def path() -> Path:
    """Where the tarball of the current version is."""
    version = re.search(r"^version: *(\S+)", (env.ROOT / "galaxy.yml").read_text(), re.MULTILINE)
    if version is None:
        raise SystemExit("galaxy.yml names no version")
    return DIST / f"hyperfleet-pull_secret-{version.group(1)}.tar.gz"


def complaints(members: dict[str, int], sources: list[str]) -> list[str]:
    """What is wrong with a tarball of ``members`` (name -> bytes) made from ``sources`` (names in git)."""
    found = [
        f"{name}: not expected at the top level" for name in members if name.split("/")[0] not in ALLOWED
    ]
    found += [f"{name}: does not belong in a release" for name in members if FORBIDDEN.search(name)]
    found += [f"{name}: {size} bytes" for name, size in members.items() if size > MAX_BYTES]
    found += [
        f"{name}: missing"
        for name in sources
        if name.split("/")[0] in WHOLE and name not in members and not FORBIDDEN.search(name)
    ]
    found += [f"{name}: missing" for name in ("README.md", "COPYING", "MANIFEST.json") if name not in members]
    return found


def main() -> int:
    DIST.mkdir(exist_ok=True)
    command = ["ansible-galaxy", "collection", "build", "--force", "--output-path", str(DIST)]
    if code := in_tree.run("runtime", command):
        return code
    with tarfile.open(path()) as archive:
        members = {member.name: member.size for member in archive if member.isfile() or member.issym()}
    found = complaints(members, [str(name) for name in tree.sources()])
    for line in found:
        print(line)
    print(f"{path().relative_to(env.ROOT)}: {len(members)} files, {path().stat().st_size} bytes")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
