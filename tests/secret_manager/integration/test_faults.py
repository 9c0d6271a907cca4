# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every kind of failure at every call that the module makes (the job contract's "Error Handling")."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager import claim
from tests.secret_manager.integration.flows import CALLS, RETAINING, TRANSIENT, WRITING, WRONG_LABELS, Flow
from tests.support.nightly import some
from tests.support.secret_manager import EVERY_TRANSPORT, PLAIN, PROJECT, Module, document, owned, secret_id

pytestmark = pytest.mark.parametrize("module", some(EVERY_TRANSPORT, PLAIN), indirect=True)


@pytest.mark.parametrize("flow", [name for name in CALLS if name not in RETAINING], indirect=True)
@pytest.mark.parametrize("code", ["PERMISSION_DENIED", "UNAUTHENTICATED"])
def test_a_denied_call_is_made_once_and_says_who_needs_what(flow: Flow, code: str) -> None:
    fault = flow.fault(code=code)
    result = flow.run()

    assert result["failed"]
    assert result["kind"] == "permission_denied"
    assert fault.hits == 1
    assert result["retries"] == 0
    assert f"{flow.call.method} on projects/{PROJECT}/secrets/{secret_id('cls-1')}" in result["msg"]
    assert "an anonymous caller (connection without TLS)" in result["msg"]
    assert f"has secretmanager.{flow.call.permission} in project {PROJECT}" in result["msg"]
    # An anonymous caller has no service account that the message could name.
    assert result["msg"].endswith("(roles/secretmanager.admin includes it)")


def test_a_project_without_the_api_is_told_to_enable_it(module: Module) -> None:
    """No role helps, so the message gives Google's sentence and the command."""
    said = (
        "Secret Manager API has not been used in project 123456789012 before or it is disabled. Enable it by "
        "visiting https://console.developers.google.com/apis/api/secretmanager.googleapis.com/overview"
    )
    module.lab.faults.add(method="*", code="PERMISSION_DENIED", message=said)
    result = module.one(source={"inline": document()})
    assert result["kind"] == "permission_denied"
    assert said in result["msg"]
    assert f"gcloud services enable secretmanager.googleapis.com --project={PROJECT}`" in result["msg"]
    assert "roles/" not in result["msg"]


@pytest.mark.parametrize("flow", RETAINING, indirect=True)
@pytest.mark.parametrize("code", ["PERMISSION_DENIED", "UNAUTHENTICATED"])
def test_a_denied_retention_is_a_warning_that_says_who_needs_what(flow: Flow, code: str) -> None:
    """The secret has the right content, so a run that copies it need not wait for old versions."""
    fault = flow.fault(code=code)
    result = flow.run()

    assert not result.get("failed"), result.get("msg")
    assert flow.module.holds("two")
    assert result["version"] == str(len(flow.module.states()))
    assert fault.hits == 1
    assert result["retries"] == 0
    (warning,) = result["warnings"]
    assert f"{flow.call.method} on projects/{PROJECT}/secrets/{secret_id('cls-1')}" in warning
    assert "an anonymous caller (connection without TLS)" in warning
    assert f"has secretmanager.{flow.call.permission} in project {PROJECT}" in warning
    assert "(roles/secretmanager.admin includes it)" in warning
    assert "check also" not in warning


@pytest.mark.parametrize("code", some(TRANSIENT, "UNAVAILABLE"))
def test_a_call_that_fails_four_times_is_made_a_fifth(flow: Flow, code: str) -> None:
    fault = flow.fault(code=code, times=4)
    result = flow.run()

    assert not result.get("failed"), result.get("msg")
    assert fault.hits == 4
    assert result["retries"] == 4
    assert result["changed"]
    assert flow.is_right()


@pytest.mark.parametrize("code", some(TRANSIENT, "RESOURCE_EXHAUSTED"))
def test_after_five_tries_it_is_given_up(flow: Flow, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = flow.fault(code=code)
    result = flow.run()

    assert result["failed"]
    assert fault.hits == 5
    assert result["kind"] == TRANSIENT[code]
    assert code in result["msg"]
    assert "(tried 5 times)" in result["msg"]
    # Once no claim is valid any more, the next run reaches the wanted state.
    monkeypatch.setattr(claim, "time", SimpleNamespace(time=lambda: time.time() + 1000))
    flow.module.lab.faults.clear()
    assert not flow.run().get("failed")
    assert flow.is_right()


@pytest.mark.parametrize("code", some(["UNAVAILABLE", "DEADLINE_EXCEEDED"]))
@pytest.mark.parametrize("flow", WRITING, indirect=True)
@pytest.mark.parametrize("times", some([1, 3]))
def test_a_write_that_happened_and_failed_is_not_done_twice(flow: Flow, code: str, times: int) -> None:
    fault = flow.fault(code=code, phase="after", times=times)
    result = flow.run()

    assert not result.get("failed"), result.get("msg")
    assert 1 <= fault.hits <= times
    assert result["changed"]
    assert result["warnings"] == []
    assert flow.is_right()


@pytest.mark.parametrize("flow", ["add", "add to a new secret"], indirect=True)
def test_an_add_that_happened_is_found_even_if_every_answer_is_lost(flow: Flow) -> None:
    fault = flow.fault(code="UNAVAILABLE", phase="after")
    result = flow.run()
    assert not result.get("failed"), result.get("msg")
    assert fault.hits == 1
    assert flow.is_right()


@pytest.mark.parametrize("flow", ["access to compare", "read to restore"], indirect=True)
def test_an_enabled_version_that_cannot_be_read_is_no_conflict(flow: Flow) -> None:
    """For example its KMS key is disabled. Starting again until the time limit would not help."""
    flow.fault(code="FAILED_PRECONDITION")
    result = flow.run(timeout=20)
    assert result["kind"] == "precondition"
    assert "FAILED_PRECONDITION: AccessSecretVersion" in result["msg"]
    assert flow.module.count("AddSecretVersion") == 0
    flow.module.lab.faults.clear()
    assert not flow.run().get("failed")
    assert flow.is_right()


def test_what_was_done_before_a_failure_is_told(module: Module) -> None:
    module.lab.seed([owned("cls-1", document("one"), labels=WRONG_LABELS)])
    module.lab.faults.add("AddSecretVersion", code="PERMISSION_DENIED")
    result = module.put("two")
    assert result["failed"]
    assert result["changed"]
    assert result["actions"] == ["labels updated"]

    module.lab.faults.clear()
    module.lab.faults.add("DisableSecretVersion", code="UNAVAILABLE")
    result = module.put("two", retention={"keep": 1})
    assert result["failed"]
    assert result["changed"]
    assert result["actions"] == ["version added"]


@pytest.mark.parametrize("there", [False, True], ids=["first run", "update"])
def test_a_refused_add_leaves_no_claim_for_the_next_run_to_wait_for(module: Module, there: bool) -> None:
    if there:
        module.lab.seed([owned("cls-1", document("one"))])
    module.lab.faults.add("AddSecretVersion", code="PERMISSION_DENIED", times=1)
    assert module.put("two")["kind"] == "permission_denied"
    # Another run with its own name and less time than a claim is valid.
    assert module.put("two", timeout=15)["actions"] == ["version added"]


@pytest.mark.parametrize("there", [False, True], ids=["first run", "update"])
@pytest.mark.parametrize("code", ["RESOURCE_EXHAUSTED", "UNAVAILABLE", "INTERNAL"])
def test_an_add_that_is_given_up_leaves_no_claim_either(module: Module, there: bool, code: str) -> None:
    if there:
        module.lab.seed([owned("cls-1", document("one"))])
    fault = module.lab.faults.add("AddSecretVersion", code=code, times=5)
    assert module.put("two")["kind"] == TRANSIENT[code]
    assert fault.hits == 5
    assert claim.ANNOTATION not in module.secret().annotations
    assert module.put("two", timeout=15)["actions"] == ["version added"]


def test_a_claim_that_was_written_without_an_answer_is_taken_back(module: Module) -> None:
    module.lab.seed([owned("cls-1", document("one"))])
    module.lab.faults.add("UpdateSecret", code="UNAVAILABLE", phase="after", times=5)
    assert module.put("two")["kind"] == "unavailable"
    assert module.count("AddSecretVersion") == 0
    assert claim.ANNOTATION not in module.secret().annotations


@pytest.mark.parametrize("there", [False, True], ids=["first run", "update"])
@pytest.mark.parametrize("unseen", [False, True], ids=["not answered", "not to be seen"])
def test_the_claim_stays_while_an_add_may_still_happen(module: Module, there: bool, unseen: bool) -> None:
    if there:
        module.lab.seed([owned("cls-1", document("one"))])
    if unseen:
        module.lab.faults.add("AddSecretVersion", code="UNAVAILABLE")
        # Two reads for the comparison come before the add.
        module.lab.faults.add("AccessSecretVersion", skip=2 * there, code="PERMISSION_DENIED")
    else:
        module.lab.faults.add("AddSecretVersion", code="DEADLINE_EXCEEDED")
    assert module.put("two")["kind"] == ("permission_denied" if unseen else "unavailable")
    assert claim.ANNOTATION in module.secret().annotations


def test_what_was_not_done_is_not_told(module: Module) -> None:
    module.lab.faults.add("CreateSecret", code="PERMISSION_DENIED")
    result = module.put()
    assert result["failed"]
    assert not result["changed"]
    assert result["actions"] == []


# The LIST at the beginning of a batch only saves calls, so it may fail.

_BATCH: dict[str, Any] = {
    "project": PROJECT,
    "source": {"inline": document("two")},
    "targets": [{"cluster_id": f"cls-{number}"} for number in range(1, 5)],
}


def test_a_batch_asks_for_all_metadata_at_once(module: Module) -> None:
    module.run(**_BATCH)
    module.lab.calls.clear()
    assert not module.run(**_BATCH)["changed"]
    assert module.count("ListSecrets") == 1
    assert module.count("GetSecret") == 0
    assert module.writes() == 0


@pytest.mark.parametrize(
    ("code", "tries"), [("PERMISSION_DENIED", 1), ("UNAUTHENTICATED", 1), *((code, 5) for code in TRANSIENT)]
)
def test_without_the_list_each_secret_is_asked_for(module: Module, code: str, tries: int) -> None:
    module.lab.seed([owned("cls-1", document("two")), owned("cls-2", document("one"))])
    module.lab.faults.add("ListSecrets", code=code)
    result = module.run(**_BATCH)

    assert module.count("ListSecrets") == tries
    assert not result["failed_targets"]
    assert [target["actions"] for target in result["targets"]] == [
        [],
        ["version added"],
        ["created", "version added"],
        ["created", "version added"],
    ]


@pytest.mark.parametrize("code", list(TRANSIENT))
def test_a_list_that_recovers_is_used(module: Module, code: str) -> None:
    module.run(**_BATCH)
    fault = module.lab.faults.add("ListSecrets", code=code, times=4)
    module.lab.calls.clear()
    assert not module.run(**_BATCH)["changed"]
    assert fault.hits == 4
    assert module.count("GetSecret") == 0


def test_one_targets_failure_leaves_the_others_alone(module: Module) -> None:
    module.lab.faults.add(resource=f"projects/{PROJECT}/secrets/{secret_id('cls-2')}*", code="INTERNAL")
    module.lab.faults.add(
        "AddSecretVersion",
        resource=f"projects/{PROJECT}/secrets/{secret_id('cls-3')}",
        code="PERMISSION_DENIED",
    )
    result = module.run(**_BATCH)

    assert [target.get("kind") for target in result["targets"]] == [
        None,
        "unavailable",
        "permission_denied",
        None,
    ]
    assert result["msg"].startswith("2 of 4 targets failed: cls-2: ")
    assert [target["id"] for target in result["failed_targets"]] == ["cls-2", "cls-3"]
    assert module.holds("two", "cls-1")
    assert module.holds("two", "cls-4")
