# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/docsite/rst/rules.rst matches the rules in the code."""

from __future__ import annotations

from tests.tools.rules_page import PAGE, page


def test_the_page_is_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.tools.rules_page"
