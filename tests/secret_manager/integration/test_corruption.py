# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Payloads and checksums damaged in transit or in the store: the old version stays unchanged."""

from __future__ import annotations

import pytest

from tests.support.secret_manager import EVERY_TRANSPORT, Module, document, owned

pytestmark = pytest.mark.parametrize("module", EVERY_TRANSPORT, indirect=True)


@pytest.mark.parametrize("corrupt", ["payload", "crc"])
def test_an_answer_damaged_once_is_asked_for_again(module: Module, corrupt: str) -> None:
    module.lab.seed([owned("cls-1", document("one"))])
    fault = module.lab.faults.add("AccessSecretVersion", corrupt=corrupt, times=1)
    result = module.put("one")
    assert fault.hits == 1
    assert not result["changed"]
    assert result["retries"] == 1
    assert module.writes() == 0


@pytest.mark.parametrize("corrupt", ["payload", "crc"])
def test_answers_that_stay_damaged_fail_before_any_write(module: Module, corrupt: str) -> None:
    module.lab.seed([owned("cls-1", document("one"))])
    fault = module.lab.faults.add("AccessSecretVersion", corrupt=corrupt)
    result = module.put("two")
    assert result["failed"]
    assert "does not match its CRC32C" in result["msg"]
    assert fault.hits == 5
    assert module.writes() == 0


@pytest.mark.parametrize("corrupt", ["payload", "crc"])
def test_a_damaged_read_back_is_asked_for_again(module: Module, corrupt: str) -> None:
    fault = module.lab.faults.add("AccessSecretVersion", corrupt=corrupt, times=2)
    result = module.put("one")
    assert not result.get("failed")
    assert fault.hits == 2
    assert module.states() == ["ENABLED"]


@pytest.mark.parametrize("there", [False, True], ids=["first run", "update"])
def test_what_was_stored_damaged_is_disabled_and_the_old_version_stays(module: Module, there: bool) -> None:
    if there:
        module.lab.seed([owned("cls-1", document("one"))])
    module.lab.faults.add("AddSecretVersion", corrupt="payload", times=1)
    result = module.put("two")

    assert result["failed"]
    assert result["changed"]
    assert result["kind"] == "verification"
    assert "does not hold what was written" in result["msg"]
    assert "the version was disabled" in result["msg"]
    assert module.states() == ["ENABLED"] * there + ["DISABLED"]
    assert module.holds("one") == there

    assert module.put("two")["actions"] == ["version added"]
    assert module.states() == ["ENABLED"] * there + ["DISABLED", "ENABLED"]
    assert module.holds("two")


def test_a_damaged_version_that_cannot_be_disabled_is_told(module: Module) -> None:
    module.lab.faults.add("AddSecretVersion", corrupt="payload", times=1)
    module.lab.faults.add("DisableSecretVersion", code="PERMISSION_DENIED")
    result = module.put("two")
    assert result["kind"] == "verification"
    assert "this run could not disable that version (PERMISSION_DENIED: DisableSecretVersion" in result["msg"]


def test_a_service_that_did_not_check_our_checksum_is_checked_by_reading_back(module: Module) -> None:
    module.lab.faults.add("AddSecretVersion", corrupt="crc")
    assert module.put("two")["actions"] == ["created", "version added"]
    assert module.count("AccessSecretVersion") == 1
    assert module.holds("two")
