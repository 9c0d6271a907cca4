# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Durations are written as in Go."""

from __future__ import annotations

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.duration import seconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30s", 30.0),
        ("1m30s", 90.0),
        ("500ms", 0.5),
        ("1.5h", 5400.0),
        ("1h2m3.5s", 3723.5),
        ("10us", 1e-5),
        ("10µs", 1e-5),
        (".5s", 0.5),
        ("1.s", 1.0),
        ("45", 45.0),
        (" 10s ", 10.0),
    ],
)
def test_a_duration(text: str, expected: float) -> None:
    assert seconds(text) == pytest.approx(expected)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "0s",
        "-1s",
        "+1s",
        "s",
        ".s",
        "1m30",
        "1 s",
        "1d",
        "1s\n2s",
        "٣s",
        "9" * 400 + "s",
        "1.5",
        "1e3s",
        "inf",
    ],
)
def test_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match=r"^not a duration$"):
        seconds(text)
