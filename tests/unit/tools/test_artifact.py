# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of the tarball notices what is too much and what is missing."""

from __future__ import annotations

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
