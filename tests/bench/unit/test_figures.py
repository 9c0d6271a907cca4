# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a measurement shows its goals."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.figures import Goal, conclude


def test_a_missed_goal_is_printed_and_is_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    conclude(tmp_path, "example", {"figure": 2}, [Goal("figure", 2, 1), Goal("other", 1, 1)])
    said = capsys.readouterr().out
    assert "figure: 2 (asked: at most 1)  NOT REACHED" in said
    assert said.count("NOT REACHED") == 1
    assert len(list(tmp_path.glob("*-example.json"))) == 1
