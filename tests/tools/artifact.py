# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds ``dist/hyperfleet-pull_secret-VERSION.tar.gz``, and checks that it has the files that users need, and no
others.

A tarball that fails the check, for example because a pull secret is in the checkout, is not moved to ``dist``. The
tarball of an earlier build is then removed from there.
"""

from __future__ import annotations

import re
import shutil
import sys
import tarfile
import tempfile
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
    "SECURITY.md",
    "SUPPORT.md",
    "changelogs",
    "docs",
    "extensions",
    "meta",
    "playbooks",
    "plugins",
    "roles",
}
# Files that ansible-galaxy itself adds.
_ADDED = {"FILES.json", "MANIFEST.json"}
# Directories whose files must all be in the tarball.
WHOLE = ("meta", "plugins", "playbooks", "roles")
FORBIDDEN = re.compile(r"(^|/)(\.[^/]+|__pycache__|tests|requirements|build|output)(/|$)|\.(pyc|log|gz|cfg)$")
MAX_BYTES = 1 << 20


def path() -> Path:
    """Return the path of the current version's tarball."""
    version = re.search(r"^version: *(\S+)", (env.ROOT / "galaxy.yml").read_text(), re.MULTILINE)
    if version is None:
        raise SystemExit("galaxy.yml names no version")
    return DIST / f"hyperfleet-pull_secret-{version.group(1)}.tar.gz"


def complaints(members: dict[str, int], sources: list[str], tracked: set[str] | None = None) -> list[str]:
    """Return what is wrong with a tarball.

    :param members: the names in the tarball, with their sizes in bytes.
    :param sources: the names of the files that git tracks or would track.
    :param tracked: the names that git tracks; None skips this check.
    """
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
    if tracked is not None:
        found += [
            f"{name}: git does not track this file; remove it, or add it with git add"
            for name in members
            if name not in tracked | _ADDED
        ]
    return found


def release(built: Path, sources: list[str], tracked: set[str]) -> list[str]:
    """Move a built tarball to ``dist`` if nothing is wrong with it; return what is wrong."""
    with tarfile.open(built) as archive:
        members = {member.name: member.size for member in archive if member.isfile() or member.issym()}
    found = complaints(members, sources, tracked)
    target = DIST / built.name
    target.unlink(missing_ok=True)
    if not found:
        DIST.mkdir(exist_ok=True)
        shutil.move(built, target)
        print(f"{target.relative_to(DIST.parent)}: {len(members)} files, {target.stat().st_size} bytes")
    return found


def main() -> int:
    path().unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="pull-secret-build-") as scratch:
        command = ["ansible-galaxy", "collection", "build", "--force", "--output-path", scratch]
        if code := in_tree.run("runtime", command):
            return code
        sources = [str(name) for name in tree.sources()]
        found = release(Path(scratch, path().name), sources, {str(name) for name in tree.tracked()})
    for line in found:
        print(line)
    if found:
        print("no tarball was kept")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
