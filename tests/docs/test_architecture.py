# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every file and package that the architecture and decision pages name exists."""

from __future__ import annotations

import re

import pytest

from tests.support import doc_tables
from tests.support.doc_tables import PAGES
from tests.tools.env import ROOT

DESIGN = ["architecture", *(f"decisions/{path.stem}" for path in sorted((PAGES / "decisions").glob("*.rst")))]
_PATH = re.compile(r"[a-z][a-z0-9_]*(?:/[A-Za-z0-9_.]+)+")
# Paths on these pages are relative to one of these folders.
_FROM = [
    ROOT,
    ROOT / "plugins",
    ROOT / "plugins" / "module_utils",
    ROOT / "plugins" / "module_utils" / "workflows" / "adapter",
]
_ENDINGS = ("", ".py")


@pytest.mark.parametrize("page", DESIGN)
def test_files_on_the_page_exist(page: str) -> None:
    literals = doc_tables.literals(doc_tables.page(page))
    paths = [word.removesuffix(".must_stay") for word in literals]
    files = [path for path in paths if _PATH.fullmatch(path) and not path.startswith("projects/")]
    assert [path for path in files if not _exists(path)] == []


def _exists(path: str) -> bool:
    return any((start / f"{path}{ending}").exists() for start in _FROM for ending in _ENDINGS)


def test_every_package_of_the_library_is_on_the_page() -> None:
    text = doc_tables.page("architecture")
    packages = [path.name for path in (ROOT / "plugins" / "module_utils").iterdir() if path.is_dir()]
    assert [name for name in packages if name[0] not in "_." and name not in text] == []


def test_every_decision_has_its_three_parts() -> None:
    for page in DESIGN[1:]:
        if page != "decisions/index":
            text = doc_tables.page(page)
            assert re.findall(r"^(\w+)\n-{4,}$", text, re.MULTILINE) == ["Context", "Decision", "Consequence"]
