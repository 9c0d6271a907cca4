# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CHANGELOG.md names all plugins, roles and playbooks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.tools import release_notes

ROOT = Path(__file__).resolve().parents[3]
HINT = "run make release-notes"
CHANGELOG = (ROOT / "CHANGELOG.md").read_text().replace("\\", "")


def stems(pattern: str) -> set[str]:
    return {path.stem for path in ROOT.glob(pattern) if path.stem != "__init__"}


def filters() -> set[str]:
    """Return the filters' names. A file may contain several filters; each has its own documentation."""
    return stems("plugins/filter/*.yml")


LISTED = {
    "New Modules": stems("plugins/modules/*.py"),
    "New Roles": {path.name for path in (ROOT / "roles").iterdir()},
    "New Playbooks": stems("playbooks/*.yml"),
    "Callback": stems("plugins/callback/*.py"),
    "Filter": filters(),
    "Lookup": stems("plugins/lookup/*.py"),
}


def under(heading: str) -> list[str]:
    """Return the names below the headings with this name, of which each release has one."""
    parts = re.findall(rf"^#+ {heading}\n(.*?)(?=^#|^<a id|\Z)", CHANGELOG, re.MULTILINE | re.DOTALL)
    return [
        name for part in parts for name in re.findall(r"^\* hyperfleet\.pull_secret\.(\w+) - ", part, re.M)
    ]


@pytest.mark.parametrize("heading", sorted(LISTED))
def test_what_the_tree_has_is_listed_once(heading: str) -> None:
    assert LISTED[heading], heading
    assert sorted(under(heading)) == sorted(LISTED[heading]), HINT


@pytest.mark.parametrize(
    "name",
    sorted(
        stems("extensions/eda/plugins/event_source/*.py")
        | stems("extensions/eda/rulebooks/*.yml")
        | {path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("extensions/*/Containerfile")}
        | {"extensions/monitoring", "pullsecret-job", "global-pull-secret-syncer"}
    ),
)
def test_event_sources_rulebooks_and_programs_are_named(name: str) -> None:
    assert f"<code>{name}</code>" in CHANGELOG


def test_an_entry_is_written_again_from_its_fragments() -> None:
    document: dict[str, object] = {"releases": {"0.1.0": {}, "0.2.0": {}}}
    assert release_notes.drop(document, "0.2.0")
    assert document == {"releases": {"0.1.0": {}}}
    assert not release_notes.drop(document, "0.2.0")
