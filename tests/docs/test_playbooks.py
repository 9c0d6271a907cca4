# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The comments above the playbooks name options, variables and plugins that exist."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.names import settable
from tests.support.processes import Ansible
from tests.tools.env import ROOT

PLAYBOOKS = sorted((ROOT / "playbooks").glob("*.yml"))
_OPTION = re.compile(r"-e (?:@\S+|\S+=\S+)")
_LIST = re.compile(r"a list named (\w+)")
_CALLBACK = re.compile(r"ANSIBLE_STDOUT_CALLBACK=hyperfleet\.pull_secret\.(\w+)")


class Usage(NamedTuple):
    """One comment line that names options, and the playbook that it belongs to."""

    playbook: Path
    options: list[str]
    comment: str

    def __str__(self) -> str:
        return f"{self.playbook.stem}: {' '.join(self.options)}"


def _split(playbook: Path) -> tuple[list[str], str]:
    """Split the playbook into its comment lines and the rest."""
    lines = playbook.read_text().splitlines()
    comments = [line for line in lines if line.startswith("#")]
    return comments, "\n".join(line for line in lines if not line.startswith("#"))


def _usages() -> list[Usage]:
    found = []
    for playbook in PLAYBOOKS:
        for comment in _split(playbook)[0]:
            options = [word for option in _OPTION.findall(comment) for word in shlex.split(option)]
            if options:
                found.append(Usage(playbook, options, comment))
    return found


def _variables(usage: Usage) -> list[str]:
    """The variables that a comment names: set one by one, or listed in a file."""
    given = [word.partition("=")[0] for word in usage.options if "=" in word]
    return [*given, *_LIST.findall(usage.comment)]


@pytest.mark.parametrize("usage", _usages(), ids=str)
@pytest.mark.nightly
def test_playbook_takes_what_its_comment_gives(usage: Usage, tmp_path: Path) -> None:
    """ansible-playbook accepts the options, and the playbook uses each of the variables."""
    names = _variables(usage)
    assert names
    assert [name for name in names if name not in settable(usage.playbook.stem)] == []
    ansible = Ansible(tmp_path / "ansible")
    for file in (word[1:] for word in usage.options if word.startswith("@")):
        (ansible.directory / file).write_text(json.dumps({name: [] for name in names}))
    done = ansible.playbook(usage.playbook, flags=["--syntax-check", *usage.options])
    assert done.code == 0, done.output
    assert f"playbook: {usage.playbook}" in done.stdout


def test_callbacks_in_comments_are_there() -> None:
    named = [name for path in PLAYBOOKS for name in _CALLBACK.findall("\n".join(_split(path)[0]))]
    assert named == ["job_log"]
    assert [name for name in named if not (ROOT / "plugins" / "callback" / f"{name}.py").is_file()] == []
