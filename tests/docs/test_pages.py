# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every command on a page of the documentation site is run as written, or gives a reason and is only checked.

Only ``/tmp`` and HOME differ from a user's. The ``lab`` blocks of a page share one shell and one lab.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs import commands, session
from tests.support import blocks
from tests.support.blocks import PAGES, ROOT, Block
from tests.tools import tree

BLOCKS = {str(page.relative_to(PAGES).with_suffix("")): blocks.blocks(page) for page in blocks.pages()}
LAB = [name for name, found in BLOCKS.items() if any(block.session.startswith("lab") for block in found)]
DOCUMENTS = [path for path in tree.sources() if path.suffix == ".md" and path.name != "CHANGELOG.md"]
LANGUAGES = ("shell", "yaml", "json", "text", "promql")
UP = "make lab-up\n. .lab/env\n. .venv/bin/activate\n"
_INLINE = re.compile(r"(?<!`)``([^`]+)``(?!`)")


@pytest.mark.parametrize("page", BLOCKS)
def test_every_block_is_one_that_a_test_checks(page: str) -> None:
    for number, block in enumerate(BLOCKS[page]):
        before = BLOCKS[page][number - 1] if number else None
        assert block.language in LANGUAGES, f"{block.where}: {block.language!r} is not one of {LANGUAGES}"
        if block.language == "shell":
            assert session.is_known(block), f"{block.where}: needs '.. run: ...' or '.. not run: REASON'"
        elif before is not None and before.kind == "run" and block.language == "text":
            assert block.kind in ("output", "not run"), (
                f"{block.where}: needs '.. output' or '.. not run: ...'"
            )
        if block.kind == "output":
            assert before is not None, f"{block.where}: output without a command before it"
            assert before.kind in ("run", "output"), f"{block.where}: output of a block that is not run"
        if block.kind == "file":
            session.writes(block)


@pytest.mark.parametrize("page", BLOCKS)
def test_data_can_be_read(page: str) -> None:
    for block in BLOCKS[page]:
        try:
            if block.language == "yaml":
                list(yaml.safe_load_all(block.text))
            elif block.language == "json":
                json.loads(block.text)
        except ValueError as error:
            pytest.fail(f"{block.where}: {error}")
        except yaml.YAMLError as error:
            pytest.fail(f"{block.where}: {error}")


def _play(block: Block) -> list[dict[str, Any]] | None:
    """Return a YAML block as a playbook. Tasks are wrapped in a play; anything else gives None."""
    if block.language != "yaml" or len(found := list(yaml.safe_load_all(block.text))) != 1:
        return None
    (data,) = found
    if not isinstance(data, list) or not data or not all(isinstance(part, dict) for part in data):
        return None
    if all("hosts" in part or "ansible.builtin.import_playbook" in part for part in data):
        return data if not any("sources" in part for part in data) else None  # a rulebook
    is_task = [
        any(str(key).startswith((commands.COLLECTION, "ansible.builtin.")) for key in part) for part in data
    ]
    return [{"name": "Tasks", "hosts": "localhost", "tasks": data}] if all(is_task) else None


def test_playbooks_are_accepted_by_ansible(tmp_path: Path) -> None:
    """The syntax check also covers tasks: every module and role they use exists."""
    found = {
        f"{page.replace('/', '-')}-line-{block.line}.yml": play
        for page, of_page in BLOCKS.items()
        for block in of_page
        if (play := _play(block)) is not None
    }
    if not found:
        return
    for name, play in found.items():
        (tmp_path / name).write_text(yaml.safe_dump(play, sort_keys=False))
    done = subprocess.run(
        [Path(sys.executable).with_name("ansible-playbook"), "--syntax-check", *found],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path), "ANSIBLE_LOCALHOST_WARNING": "False"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", BLOCKS)
def test_commands_that_are_not_run_name_what_exists(page: str) -> None:
    files = {block.marker for block in BLOCKS[page] if block.kind == "file"}
    wrong = {
        block.where: found
        for block in BLOCKS[page]
        if block.language == "shell"
        and block.kind == "not run"
        and (found := commands.complaints(block.text, files))
    }
    assert wrong == {}


def test_files_that_users_write_get_into_no_commit_and_no_tarball() -> None:
    """Above all pull secrets. A tarball that a user builds without ``make build`` must not have them either."""
    names = sorted({block.marker for found in BLOCKS.values() for block in found if block.kind == "file"})
    ignored = subprocess.run(
        ["git", "check-ignore", *names], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ignored.stdout.splitlines() == names
    left_out = set(yaml.safe_load((ROOT / "galaxy.yml").read_text())["build_ignore"])
    assert {name.partition("/")[0] for name in names} - left_out - {".lab"} == set()


@pytest.mark.parametrize("page", BLOCKS)
def test_names_in_the_text_exist(page: str) -> None:
    """Names of plugins, roles and playbooks anywhere, and targets of make in literals."""
    text = (PAGES / f"{page}.rst").read_text()
    literals = "\n".join(_INLINE.findall(text))
    assert [*commands.unknown_names(text), *commands.unknown_targets(literals)] == []


# `make test-real` has time for the first page, and `make test-all` for the others.
_FIRST = pytest.param("get_started", marks=[pytest.mark.real(), pytest.mark.alone])


@pytest.mark.parametrize(
    "page",
    [_FIRST, *(pytest.param(page, marks=pytest.mark.nightly) for page in LAB if page != "get_started")],
)
def test_commands_work_as_written(page: str, checkout: Path) -> None:
    found = BLOCKS[page]
    steps = [session.writes(block) if block.kind == "file" else block for block in found]
    steps = [session.moved(block, checkout) for block in steps if block.session.startswith("lab")]
    if not any(block.session == "lab-up" for block in steps):
        steps.insert(0, Block(PAGES / f"{page}.rst", 0, "shell", "run", "lab-up", UP))
    done = session.run(steps, checkout, session.clean_environment(checkout))
    for ran in done:
        where = f"{ran.block.where} printed:\n{ran.output}"
        assert ran.statuses == ran.block.statuses, where
        origin = next((block for block in found if block.line == ran.block.line), None)
        for shown in session.shown_after(origin, found) if origin and origin.kind == "run" else ():
            assert session.shows(session.moved(shown, checkout).text, ran.output), (
                f"{shown.where} differs; {where}"
            )
    assert len(done) == len(steps)


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_commands_of_other_documents_name_what_exists(document: Path) -> None:
    """Check the READMEs of roles and extensions and all other Markdown files: nothing runs their blocks."""
    for block in blocks.blocks(ROOT / document):
        if block.language in ("sh", "shell", "bash"):
            assert commands.complaints(block.text) == [], block.where
        elif block.language == "yaml":
            list(yaml.safe_load_all(block.text))
            assert commands.unknown_names(block.text) == [], block.where
