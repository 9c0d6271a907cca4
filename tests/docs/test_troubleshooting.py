# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page *Troubleshooting* has a section for every kind of error, and quotes messages that exist in the code."""

from __future__ import annotations

import re

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model import errors
from tests.support import doc_tables
from tests.tools import messages
from tests.tools.env import ROOT

PAGE = doc_tables.page("troubleshooting")
ROWS = [row for rows in doc_tables.tables(PAGE) for row in rows[1:] if rows[0][0] == "Message"]
_SECTION = re.compile(r"^(\w+)\n-{3,}$", re.MULTILINE)
_KIND = re.compile(r'^    kind(?:: ClassVar\[str\])? = "(\w+)"', re.MULTILINE)


@pytest.fixture(scope="module")
def all_messages() -> str:
    """The messages that ``make messages`` prints, as one text."""
    found = messages.messages([ROOT / "plugins", ROOT / "extensions"])
    return "\n".join(str(message) for message in found)


def kinds() -> set[str]:
    found = {
        "stopped",
        "held",
    }  # of a job that was stopped, and of a kubelet that has failed with the same file
    for folder in ("plugins", "extensions"):
        for path in (ROOT / folder).rglob("*.py"):
            found |= set(_KIND.findall(path.read_text()))
    return found


def test_every_kind_has_a_section() -> None:
    assert len(kinds()) > 15
    assert sorted(_SECTION.findall(PAGE)) == sorted(kinds())


def test_every_kind_says_whether_it_is_retried() -> None:
    rows = doc_tables.table(PAGE, "Kind", "Within the run", "By the next run")
    named = [kind for row in rows for kind in doc_tables.literals(row[0])]
    assert sorted(named) == sorted(kinds())
    # The first row has the kinds that are retried within the run.
    assert set(doc_tables.literals(rows[0][0])) == {
        error.kind for error in vars(errors).values() if getattr(error, "retryable", False)
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:60])
def test_message_is_one_of_the_code(row: list[str], all_messages: str) -> None:
    assert all(row), "a row without a cause or remedy"
    (quoted,) = doc_tables.literals(row[0])
    for part in quoted.split("…"):
        # The semicolon between a message and what to do may be missing in the code's message.
        words = part.strip().strip(";").strip()
        assert words in all_messages, words
    assert re.search(r"\w{3}", quoted)
