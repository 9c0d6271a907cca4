# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies the checkout to the path that Ansible's tools require: ``ansible_collections/hyperfleet/pull_secret``.

ansible-test does not accept links. The copy has the files that git tracks or would track (untracked, not ignored).
It is in the user's cache, so that ansible-test does not detect the checkout's git repository, and later runs update
it. ``python -m tests.tools.tree`` prints its collections path.
"""

from __future__ import annotations

import filecmp
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from tests.tools.env import CACHE, ROOT, lock

COLLECTION = Path("ansible_collections", "hyperfleet", "pull_secret")
KEEP = Path("tests", "output")  # ansible-test's own


def sources() -> list[Path]:
    """Return the files of the checkout that git tracks or would track, relative to it."""
    return _listed("--cached", "--others", "--exclude-standard")


def tracked() -> list[Path]:
    """Return the files of the checkout that git tracks, relative to it."""
    return _listed("--cached")


def _listed(*options: str) -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z", *options],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    names = sorted(set(filter(None, listing.stdout.split("\0"))))
    return [Path(name) for name in names if (ROOT / name).is_symlink() or (ROOT / name).is_file()]


def refresh(name: str = "tree") -> Path:
    """Copy changed files and delete removed ones; return the path above ``ansible_collections``."""
    base = CACHE / "trees" / f"{name}-{hashlib.sha256(str(ROOT).encode()).hexdigest()[:16]}"
    target = base / COLLECTION
    with lock(base.name):
        target.mkdir(parents=True, exist_ok=True)
        wanted = sources()
        kept = set(wanted)
        for old in sorted(target.rglob("*"), reverse=True):
            relative = old.relative_to(target)
            if relative == KEEP or KEEP in relative.parents or relative in kept:
                continue
            if old.is_symlink() or old.is_file():
                old.unlink()
            elif not any(old.iterdir()):
                old.rmdir()
        for relative in wanted:
            _copy(ROOT / relative, target / relative)
    return base


def _copy(source: Path, target: Path) -> None:
    same_kind = target.exists() and source.is_symlink() == target.is_symlink()
    if same_kind and not source.is_symlink() and filecmp.cmp(source, target, shallow=False):
        shutil.copymode(source, target)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    shutil.copy2(source, target, follow_symlinks=False)


if __name__ == "__main__":
    print(refresh())
    sys.exit(0)
