# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Together, ``make test`` and ``make test-real`` run every test exactly once."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MARKERS = ("real", "exhaustive", "alone")


def would_run(*targets: str) -> str:
    """Return the commands of the targets, as make itself prints them."""
    make = shutil.which("make")
    assert make is not None
    found = subprocess.run(
        [make, "-n", *targets],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.mark.parametrize("started", [False, True], ids=["in-process", "starts Ansible"])
@pytest.mark.parametrize(
    "marked",
    list(itertools.product((False, True), repeat=len(MARKERS))),
    ids=lambda one: "-".join(map(str, one)),
)
def test_every_test_is_in_exactly_one_part(marked: tuple[bool, ...], started: bool) -> None:
    """A part is an expression of markers. This test covers all combinations of markers.

    Exhaustive tests that start Ansible run only in the ansible-core matrix.
    """
    commands = would_run("test", "test-real")
    parts = re.findall(r'-m pytest .*-m "([^"]*)"((?: --ignore=\S+)*) tests$', commands, re.MULTILINE)
    assert len(parts) == 4, parts
    matrix = re.findall(r'-m tests.tools.matrix .*-m "([^"]*)" (.*)$', commands, re.MULTILINE)
    ignored = [re.findall(r"--ignore=(\S+)", options) for dummy, options in parts]
    assert [paths for paths in ignored if paths] == [matrix[0][1].split()]
    markers = dict(zip(MARKERS, marked, strict=True))
    taking = [
        expression
        for (expression, dummy), paths in zip(parts, ignored, strict=True)
        if not (started and paths)
    ]
    if started and markers["exhaustive"] and not markers["real"]:
        taking.append(matrix[0][0])
    assert [eval(part, {"__builtins__": {}}, markers) for part in taking].count(True) == 1  # noqa: S307


def test_nothing_beside_the_real_parts_has_their_priority() -> None:
    lines = [line for line in would_run("test-real").splitlines() if "tests/tools/part.sh" in line]
    hurried = [line for line in lines if not line.startswith("nice -n 19 ")]
    names = [re.findall(r'part\.sh "([^"]*)"', line) for line in hurried]
    assert sorted(names) == [["nodes' parts"], ["real parts"], ["real parts, alone"]]
    assert len(lines) > len(hurried)
