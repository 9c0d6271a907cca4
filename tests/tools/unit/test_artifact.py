# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of the tarball finds unexpected and missing files."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from tests.tools import artifact

WHOLE = {"README.md": 10, "COPYING": 10, "MANIFEST.json": 10, "FILES.json": 10, "plugins/modules/one.py": 10}
SOURCES = ["README.md", "plugins/modules/one.py", "tests/unit/test_one.py", "Makefile"]


def test_a_good_tarball_has_no_complaints() -> None:
    assert artifact.complaints(WHOLE, SOURCES) == []


@pytest.mark.parametrize(
    "name",
    [
        "Makefile",
        ".venv/bin/python",
        "plugins/__pycache__/one.pyc",
        "roles/a/.hidden",
        "docs/build/index.html",
    ],
)
def test_what_users_do_not_need_is_found(name: str) -> None:
    assert any(name in line for line in artifact.complaints({**WHOLE, name: 1}, SOURCES))


def test_a_missing_plugin_is_found() -> None:
    members = {name: size for name, size in WHOLE.items() if not name.startswith("plugins")}
    assert artifact.complaints(members, SOURCES) == ["plugins/modules/one.py: missing"]


def test_a_large_file_is_found() -> None:
    assert artifact.complaints({**WHOLE, "plugins/modules/one.py": artifact.MAX_BYTES + 1}, SOURCES) != []


def tarball(where: Path, *more: str) -> Path:
    """Return a tarball with the expected files and ``more``, each with some text."""
    where.mkdir(exist_ok=True)
    text = where / "text"
    text.write_text("some text\n")
    built = where / "hyperfleet-pull_secret-0.1.0.tar.gz"
    with tarfile.open(built, "w:gz") as archive:
        for name in (*WHOLE, *more):
            archive.add(text, name)
    return built


@pytest.fixture
def dist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(artifact, "DIST", tmp_path / "dist")
    return tmp_path / "dist"


def test_a_checked_tarball_is_moved_to_dist(tmp_path: Path, dist: Path) -> None:
    built = tarball(tmp_path / "scratch")
    assert artifact.release(built, SOURCES, set(WHOLE)) == []
    assert [path.name for path in dist.iterdir()] == [built.name]


@pytest.mark.parametrize("name", ["pull-secret.json", "roles/provision/files/pull-secret.json"])
def test_a_tarball_with_a_file_that_git_does_not_track_is_not_kept(
    tmp_path: Path, dist: Path, name: str
) -> None:
    """The tarball of an earlier build is removed, too: it could be mistaken for the new one."""
    artifact.release(tarball(tmp_path / "before"), SOURCES, set(WHOLE))
    found = artifact.release(tarball(tmp_path / "scratch", name), SOURCES, set(WHOLE))
    assert f"{name}: git does not track this file; remove it, or add it with git add" in found
    assert list(dist.iterdir()) == []
