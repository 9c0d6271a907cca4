# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Only a valid traceparent is accepted."""

from __future__ import annotations

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.tracing import trace_id

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
VALID = f"00-{TRACE}-{SPAN}-01"


def test_the_id_of_a_trace() -> None:
    assert trace_id(VALID) == TRACE


@pytest.mark.parametrize("later", [f"01-{TRACE}-{SPAN}-01", f"cc-{TRACE}-{SPAN}-01-what-will-be"])
def test_a_later_version_is_read(later: str) -> None:
    assert trace_id(later) == TRACE


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        "",
        5,
        ["00"],
        VALID.upper(),
        VALID + "-more",
        VALID + "\n",
        VALID + " ",
        " " + VALID,
        VALID[:-1],
        VALID.replace("-", "_"),
        f"ff-{TRACE}-{SPAN}-01",
        f"cc-{TRACE}-{SPAN}-01.more",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE[:-1]}g-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-0g",
        f"cc-{TRACE}-{SPAN}-01-" + "x" * 1000,
        f"cc-{TRACE}-{SPAN}-01-x\r\nInjected: 1",
        f"cc-{TRACE}-{SPAN}-01-x\r",
        f"00-{TRACE}-{SPAN}-\u0660\u0661",
    ],
)
def test_an_invalid_traceparent_has_no_trace(wrong: object) -> None:
    assert trace_id(wrong) is None
