# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The checks that the tests of the pages use: code blocks, markers, output, names of plugins and targets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs import blocks, commands, session
from tests.docs.blocks import PAGES, Block

PAGE = """
.. run: lab, exit 2

.. code-block:: shell
   :caption: Try it

   false
   echo 1

     two more

* an item

  .. not run: needs a cluster
     of your own

  .. code-block:: yaml

     a: 1

Text.

.. code-block:: text

   free
"""
FALSE = Block(PAGES / "page.rst", 1, "shell", "run", "lab, exit 2", "false\n")


def test_blocks_of_rst_have_their_markers() -> None:
    found = list(blocks.of_rst(PAGES / "page.rst", PAGE))
    assert [(block.line, block.language, block.kind, block.marker, block.text) for block in found] == [
        (4, "shell", "run", "lab, exit 2", "false\necho 1\n\n  two more\n"),
        (17, "yaml", "not run", "needs a cluster of your own", "a: 1\n"),
        (23, "text", "", "", "free\n"),
    ]
    assert [block.session for block in found] == ["lab", "", ""]
    assert [block.statuses for block in found] == [[2], [], []]


def test_code_without_a_language_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.rst"
    page.write_text(f"{PAGE}\nRun this::\n\n   make\n")
    assert blocks.literals(page) == [27]


@pytest.mark.parametrize(
    ("kind", "marker", "known"),
    [
        ("run", "lab", True),
        ("run", "lab, exit 2, exit 3", True),
        ("run", "labs", False),
        ("run", "", False),
        ("not run", "needs root", True),
        ("not run", "", False),
        ("", "", False),
    ],
)
def test_markers_that_are_unknown_are_found(kind: str, marker: str, known: bool) -> None:
    assert session.is_known(FALSE._replace(kind=kind, marker=marker)) is known


@pytest.mark.parametrize(
    ("shown", "same"),
    [
        ("one\ntwo\n", True),
        ("two took 5 s\n3 clusters\n", True),
        ("one\n...\n3 clusters\n", True),
        ("digest …\n", True),
        ("one\n3 clusters\n", False),
        ("wo\n", False),
        ("4 clusters\n", False),
    ],
)
def test_output_that_differs_is_found(shown: str, same: bool) -> None:
    output = "digest 0123456789ab\none\ntwo\ntwo took 12.5 s \n3 clusters\n"
    assert session.shows(shown, output) is same


def test_commands_are_run_in_order_in_one_shell(checkout: Path) -> None:
    file = FALSE._replace(kind="file", marker="group_vars/a.yml", text="a: '$b'\n")
    steps = [
        session.writes(file),
        FALSE._replace(text="b=2; false\n"),
        FALSE._replace(text="cat group_vars/*; echo $b"),
    ]
    done = session.run(steps, checkout, session.clean_environment(checkout))
    assert [(ran.output, ran.statuses) for ran in done] == [("", []), ("", [1]), ("a: '$b'\n2\n", [])]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (
            "ansible-playbook hyperfleet.pull_secret.provision -e cluster_id=a \\\n  -i hosts --check | tee log",
            "",
        ),
        ("if true", "unexpected end of file"),
        (
            "ansible-playbook hyperfleet.pull_secret.provisions",
            "hyperfleet.pull_secret.provisions does not exist",
        ),
        (
            "ansible-playbook hyperfleet.pull_secret.given",
            "the playbook hyperfleet.pull_secret.given does not exist",
        ),
        ("ansible-playbook hyperfleet.pull_secret.provision -e cluster=a", "no variable cluster"),
        ("""ansible-playbook hyperfleet.pull_secret.provision -e '{"cluster": 1}'""", "no variable cluster"),
        ("ansible-playbook site.yml", "ansible-playbook site.yml: the page has no such file"),
        ("ansible-playbook ours.yml", ""),
        ("ansible-doc -t filter hyperfleet.pull_secret.gcp_target", "gcp_target does not exist"),
        ("make lab-up LAB=real", ""),
        ("cd a && make labs-up", "make labs-up does not exist"),
    ],
)
def test_commands_that_name_what_does_not_exist_are_found(text: str, wrong: str) -> None:
    found = commands.complaints(text, ["ours.yml"])
    assert wrong in "\n".join(found)
    assert bool(found) is bool(wrong)
