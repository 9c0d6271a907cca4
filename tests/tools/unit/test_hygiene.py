# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mechanical checks find what they must find, and nothing else."""

from __future__ import annotations

import pytest

from tests.tools import hygiene

MACHINE = "/" + "work/main/file"
REGISTRY = "https://" + "py" + "pi.org/simple"


@pytest.mark.parametrize("line", [MACHINE, f"cd {MACHINE}", f'path = "{MACHINE}"', REGISTRY])
def test_a_line_that_belongs_to_one_machine_is_found(line: str) -> None:
    assert len(list(hygiene.text_complaints("file", f"first\n{line}\n"))) == 1


@pytest.mark.parametrize(
    "line", ["/workspace/file", "build/work/file", "https://docs.ansible.com/", "frame" + "work/"]
)
def test_other_lines_are_left_alone(line: str) -> None:
    assert list(hygiene.text_complaints("file", line)) == []


@pytest.mark.parametrize(
    "body",
    [
        "assert x",
        "with pytest.raises(ValueError):\n        f()",
        "check_all(x)",
        "with refused('why'):\n        f()",
    ],
)
def test_a_test_that_can_fail_is_accepted(body: str) -> None:
    helpers = hygiene.asserting_helpers(["def refused(why):\n    assert why\n"])
    assert list(hygiene.test_complaints("file", f"def test_it():\n    {body}\n", helpers)) == []


@pytest.mark.parametrize("body", ["pass", "print(x)", "refused('why')"])
def test_a_test_that_asserts_nothing_is_found(body: str) -> None:
    helpers = hygiene.asserting_helpers(["def refused(why):\n    print(why)\n"])
    assert list(hygiene.test_complaints("file", f"def test_it():\n    {body}\n", helpers)) == [
        "file:1: test_it asserts nothing"
    ]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("run(api_timeout=" + "0.4)", 1),
        ('{"api_timeout"' + ": .5}", 1),
        ("run(api_timeout=1.0)", 0),
        ("run(lock_timeout=0.4)", 0),
    ],
)
def test_a_call_that_has_to_be_answered_at_once_is_found(line: str, found: int) -> None:
    assert len(list(hygiene.text_complaints("tests/unit/test_it.py", line))) == found
    assert list(hygiene.text_complaints("plugins/it.py", line)) == []
