# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""traceparent: taken strictly, handed on."""

from __future__ import annotations

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter import tracing

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
VALID = f"00-{TRACE}-{SPAN}-01"


def test_a_child_has_the_trace_and_a_span_of_its_own() -> None:
    child = tracing.child(VALID)
    parsed = tracing.parse(child)
    assert parsed is not None
    assert parsed.trace == TRACE
    assert parsed.span != SPAN
    assert parsed.sampled
    assert tracing.child(VALID) != child
    assert tracing.trace_id(child) == TRACE
    assert tracing.header(child) == {"traceparent": child}


def test_what_is_not_recorded_stays_so() -> None:
    assert tracing.child(f"00-{TRACE}-{SPAN}-00").endswith("-00")
    # Flags that we do not know are not handed on.
    assert tracing.child(f"00-{TRACE}-{SPAN}-ff").endswith("-01")


@pytest.mark.parametrize("later", [f"01-{TRACE}-{SPAN}-01", f"cc-{TRACE}-{SPAN}-01-what-will-be"])
def test_a_later_version_is_read_and_handed_on_as_ours(later: str) -> None:
    assert tracing.child(later).startswith(f"00-{TRACE}-")


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
def test_what_is_no_traceparent_begins_a_trace(wrong: str) -> None:
    assert tracing.parse(wrong) is None
    assert tracing.trace_id(wrong) == ""
    assert tracing.header(wrong) == {}
    child = tracing.child(wrong)
    assert tracing.parse(child) is not None
    assert tracing.trace_id(child) != TRACE
    assert child.endswith("-00")
