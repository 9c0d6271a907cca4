# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""If actionlint cannot be built, the check of the workflows is skipped, except in CI."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.tools import env
from tests.tools.actionlint import __main__ as actionlint


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a script of the test in place of Go."""
    monkeypatch.setattr(env, "CACHE", tmp_path / "cache")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(sys, "argv", ["actionlint", "shellcheck"])
    program = tmp_path / "go"
    program.touch(0o755)
    return program


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 1)])
def test_a_build_that_fails_leaves_the_check_out(
    go: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], ci: str, code: int
) -> None:
    go.write_text("#!/bin/sh\nexit 1\n")
    monkeypatch.setenv("CI", ci)
    assert actionlint.main() == code
    assert "left out: cannot build actionlint" in capfd.readouterr().err


def test_the_program_is_built_once_and_given_every_workflow(
    go: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    built = tmp_path / "built"
    built.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\nexit 3\n')
    built.chmod(0o755)
    go.write_text(
        f'#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\ncp {built} "$2"\necho once >> {tmp_path}/builds\n'
    )
    assert [actionlint.main(), actionlint.main()] == [3, 3]
    assert (tmp_path / "builds").read_text() == "once\n"
    seen = capfd.readouterr().out.splitlines()
    workflows = sorted((env.ROOT / ".github" / "workflows").glob("*.yml"))
    assert [line for line in seen if line.endswith(".yml")] == [str(path) for path in workflows] * 2
