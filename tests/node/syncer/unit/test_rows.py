# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each documented outcome has a test on real nodes, for the module and for the syncer."""

from __future__ import annotations

import tests.node.real.test_files as module_files
import tests.node.real.test_outcomes as module_outcomes
import tests.node.syncer.real.test_nodes as syncer_program
import tests.node.syncer.real.test_outcomes as syncer_outcomes
from tests.node.rows import UNWELL, shown
from tests.support import doc_tables


def table() -> dict[str, str]:
    """The result of systemd's job for each row of the documentation's table."""
    header = ("what happens", "systemd's job", "the module says", "what is left")
    rows = doc_tables.table(doc_tables.page("nodes"), *header)
    return {row[0].replace("``", "`"): row[1] for row in rows}


def test_the_page_has_the_jobs_results_that_were_seen() -> None:
    jobs = table()
    assert [(case.row, case.job) for case in UNWELL] == [(case.row, jobs[case.row]) for case in UNWELL]


def test_the_module_shows_each() -> None:
    assert shown([module_outcomes, module_files]) == set(table())


def test_the_syncer_shows_each() -> None:
    assert shown([syncer_outcomes]) == set(table())


def test_the_program_shows_what_the_page_says() -> None:
    assert shown([syncer_program]) == {
        "all is well",
        "notify that exits, exec whose binary is bad",
        "`config.json` is a link, a directory, a pipe",
    }
