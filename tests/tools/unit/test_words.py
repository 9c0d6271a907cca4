# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``make words`` counts only prose."""

from __future__ import annotations

from pathlib import Path

from tests.tools.words import ROOT, documentation, figures, groups, paragraphs, sentences

PAGE = """\
A heading
=========

The first sentence. It has
two lines (e.g. here).

.. code-block:: shell

   make lab-up

   make lab-down

#. An item.
   It goes on.

   * - a cell
.. note:: a directive
| a | table |
```shell
more code
```
The last one.
"""


def test_a_page_has_the_texts_between_its_code_and_its_tables() -> None:
    assert [*paragraphs(PAGE)] == [
        "A heading",
        "The first sentence. It has two lines (e.g. here).",
        "An item. It goes on.",
        "a cell",
        "The last one.",
    ]


def test_a_sentence_ends_before_a_capital_letter() -> None:
    assert sentences("The path is ``a.b``, e.g. *here*. See O(source.inline)! (And RV(x).)") == [6, 2, 2]
    assert sentences("") == []


def test_documentation_is_found_in_constants_and_in_files(tmp_path: Path) -> None:
    program = tmp_path / "module.py"
    program.write_text(
        'DOC = """\noptions:\n  a: &a\n    description: [One., Two.]\n  b: *a\n"""\nX = "text"\n'
    )
    assert [*documentation(program)] == ["One.", "Two."]
    roles = tmp_path / "argument_specs.yml"
    roles.write_text("main:\n  description: Three.\n  options: {c: {description: Four.}}\n")
    assert [*documentation(roles)] == ["Three.", "Four."]


def test_the_figures_are_of_all_sentences() -> None:
    assert figures(["One two. Three.", " ".join(["word"] * 26)], 9) == (9, 29, 3, 2, 1 / 3)
    assert figures([]) == (0, 0, 1, 0, 0)


def test_the_repository_has_some_of_each() -> None:
    found = groups(ROOT)
    assert all(one.words for name, one in found.items() if name != "pages (.md)")
    assert found["module documentation"].middle <= 15
