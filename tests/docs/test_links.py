# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every link between files of the repository has a target; ``make docs`` checks the links of the site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.support.blocks import ROOT, pages
from tests.tools import tree

MARKDOWN = [path for path in tree.sources() if path.suffix == ".md"]
_FENCED = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)")
_OURS = re.compile(
    r"https://github\.com/openshift-hyperfleet/ansible-pull-secret/(?:blob|tree)/main/([\w./-]+)"
)
# Paths of documentation files in code, messages and manifests.
_PATH = re.compile(r"(?<![\w./-])docs/[\w./-]*\w\.(?:md|rst|yml)\b")


def broken(source: Path, text: str) -> list[str]:
    """Return the links of a Markdown text whose file or heading does not exist."""
    return [link for link in _links(text) if not _leads(source, text, link)]


def _links(text: str) -> Iterator[str]:
    prose = re.sub(r"`[^`\n]*`", "", _FENCED.sub("", text))
    yield from (link for link in _LINK.findall(prose) if "://" not in link and not link.startswith("mailto:"))


def _leads(source: Path, text: str, link: str) -> bool:
    name, _sharp, anchor = link.partition("#")
    target = (ROOT / source).parent / name
    if not name:
        return anchor in _anchors(text)
    if not anchor or not target.exists():
        return target.exists()
    return target.suffix == ".md" and anchor in _anchors(target.read_text())


def _anchors(text: str) -> set[str]:
    """The anchors that GitHub derives from headings, and the explicit ones."""
    headings = re.findall(r"^#+ +(.*?)\s*$", _FENCED.sub("", text), re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r'<a id="([^"]+)"', text))


@pytest.mark.parametrize("source", MARKDOWN, ids=str)
def test_links_lead_somewhere(source: Path) -> None:
    assert broken(source, (ROOT / source).read_text()) == []


def test_addresses_of_our_files_are_those_of_files() -> None:
    found = {
        (path.name, name)
        for path in [*pages(), *(ROOT / source for source in MARKDOWN), ROOT / "galaxy.yml"]
        for name in _OURS.findall(path.read_text())
    }
    assert {where for where in found if not (ROOT / where[1]).exists()} == set()


def test_pages_that_the_repository_names_exist() -> None:
    """Code, comments and messages name pages by their path."""
    sources = [
        path
        for path in tree.sources()
        if path.suffix in (".py", ".md", ".rst", ".yml", ".yaml", ".sh", ".toml", ".j2")
        and "changelogs" not in path.parts
        and path != Path("tests/docs/test_links.py")
    ]
    found = {(str(path), name) for path in sources for name in _PATH.findall((ROOT / path).read_text())}
    assert {where for where in found if not (ROOT / where[1]).exists()} == set()


def test_every_page_is_in_a_section_once() -> None:
    index = yaml.safe_load((ROOT / "docs" / "docsite" / "extra-docs.yml").read_text())
    listed = [name for section in index["sections"] for name in section["toctree"]]
    named = [str(page.relative_to(ROOT / "docs/docsite/rst").with_suffix("")) for page in pages()]
    # The decisions have their own table of contents.
    flat = [name for name in named if not name.startswith("decisions/") or name == "decisions/index"]
    assert sorted(listed) == sorted(flat)
