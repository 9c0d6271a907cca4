# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls that are not answered in time, and waits that would exceed the time limit."""

from __future__ import annotations

from typing import Any

import pytest

from tests.secret_manager.integration.flows import WRITING, Flow
from tests.support.nightly import some
from tests.support.secret_manager import EVERY_TRANSPORT, Module

pytestmark = pytest.mark.parametrize("module", EVERY_TRANSPORT, indirect=True)


@pytest.mark.parametrize(
    "flow",
    some(["get secret", "list versions", "access to compare", "claim", "add", "verify", "delete"], "add"),
    indirect=True,
)
def test_a_call_that_never_answers_ends_with_the_targets_time(
    flow: Flow, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = flow.fault(delay=60.0)
    flow.only_this_call_takes_time(monkeypatch, fault, each=0.2, together=0.6)
    result = flow.run()
    assert result["failed"]
    assert result["kind"] in ("timeout", "unavailable")
    assert flow.call.method in result["msg"]


@pytest.mark.parametrize("flow", ["get secret", "access to compare", "verify"], indirect=True)
def test_a_call_that_takes_too_long_is_made_again(flow: Flow, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = flow.fault(delay=60.0, times=1)
    flow.only_this_call_takes_time(monkeypatch, fault, each=1.0)
    result = flow.run()
    assert not result.get("failed"), result.get("msg")
    assert fault.hits == 1
    assert result["retries"] == 1
    assert flow.is_right()


@pytest.mark.parametrize("flow", some(WRITING, "add"), indirect=True)
def test_a_write_whose_answer_takes_too_long_is_not_done_twice(
    flow: Flow, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = flow.fault(delay=60.0, phase="after", times=1)
    flow.only_this_call_takes_time(monkeypatch, fault, each=1.0)
    result = flow.run()
    assert not result.get("failed"), result.get("msg")
    assert fault.hits == 1
    assert flow.is_right()


def test_waiting_for_the_next_try_does_not_pass_the_limit(module: Module) -> None:
    fault = module.lab.faults.add("GetSecret", code="UNAVAILABLE")
    result = module.put(timeout=60, retry={"delay": 600, "max_delay": 600})
    assert result["kind"] == "timeout"
    assert "the next try would pass the limit of 60 s" in result["msg"]
    assert "UNAVAILABLE: GetSecret" in result["msg"]
    assert fault.hits == 1


def test_nobody_at_the_address_is_unavailable(module: Module) -> None:
    parameters: dict[str, Any] = {"retry": {"tries": 2, "delay": 0.01}, "api_timeout": 5}
    address = module.lab.grpc if module.transport == "grpc" else module.lab.rest.partition("://")[2]
    module.lab.stop()
    result = module.put(**parameters)
    assert result["kind"] == "unavailable"
    assert "GetSecret" in result["msg"]
    assert f" at {address}" in result["msg"]
    assert "(tried 2 times)" in result["msg"]
