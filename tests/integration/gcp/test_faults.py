# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every way that a call can fail, at every call that the module makes (seed 003, "Error Handling")."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager import claim
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.client import (
    SecretManagerClient,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.retry import Deadline
from tests.exhaustive import some
from tests.lab.secret_manager import SecretManagerLab

from .support import PROJECT, Module, document, owned, secret_id

_WRONG_LABELS = {"managed-by": "hyperfleet", "cluster-id": "cls-1"}
_DISABLED = [{"data": document("one"), "state": "DISABLED"}, {"data": document("two")}]
_NEWEST_DISABLED = [{"data": document("one")}, {"data": document("three"), "state": "DISABLED"}]


@dataclass(frozen=True)
class Call:
    """One call of one flow: which it is, what is there before, and what the module is asked for.

    ``skip`` counts the calls of that method that come before it.
    """

    method: str
    arguments: dict[str, Any]
    seed: dict[str, Any] | None = None
    skip: int = 0
    permission: str = ""


_PUT: dict[str, Any] = {"source": {"inline": document("two")}}
_KEEP_ONE: dict[str, Any] = {**_PUT, "retention": {"keep": 1, "destroy_after": 0}}
_OLD = {"versions": [{"data": document("one")}]}
_CALLS = {
    "get secret": Call("GetSecret", _PUT, _OLD, permission="secrets.get"),
    "create": Call("CreateSecret", _PUT, permission="secrets.create"),
    "list versions": Call(
        "ListSecretVersions", _PUT, {"versions": _NEWEST_DISABLED}, permission="versions.list"
    ),
    "access to compare": Call("AccessSecretVersion", _PUT, _OLD, permission="versions.access"),
    "claim": Call("UpdateSecret", _PUT, _OLD, permission="secrets.update"),
    "labels": Call(
        "UpdateSecret",
        {"source": {"inline": document("one")}},
        {**_OLD, "labels": _WRONG_LABELS},
        permission="secrets.update",
    ),
    "add to a new secret": Call("AddSecretVersion", _PUT, permission="versions.add"),
    "add": Call("AddSecretVersion", _PUT, _OLD, permission="versions.add"),
    "verify of a new secret": Call("AccessSecretVersion", _PUT, permission="versions.access"),
    "verify": Call("AccessSecretVersion", _PUT, _OLD, skip=2, permission="versions.access"),
    "delete": Call("DeleteSecret", {"state": "absent"}, _OLD, permission="secrets.delete"),
    "list for retention": Call("ListSecretVersions", _KEEP_ONE, _OLD, permission="versions.list"),
    "disable": Call("DisableSecretVersion", _KEEP_ONE, _OLD, permission="versions.disable"),
    "destroy": Call(
        "DestroySecretVersion", _KEEP_ONE, {"versions": _DISABLED}, permission="versions.destroy"
    ),
    "get version to restore": Call(
        "GetSecretVersion", {"restore_version": "1"}, {"versions": _DISABLED}, permission="versions.get"
    ),
    "enable to restore": Call(
        "EnableSecretVersion", {"restore_version": "1"}, {"versions": _DISABLED}, permission="versions.enable"
    ),
    "read to restore": Call(
        "AccessSecretVersion", {"restore_version": "1"}, {"versions": _DISABLED}, permission="versions.access"
    ),
    "disable after restore": Call(
        "DisableSecretVersion",
        {"restore_version": "1"},
        {"versions": _DISABLED},
        permission="versions.disable",
    ),
}
# What becomes of old versions once the secret is right: to be denied that is a warning.
_RETAINING = ("list for retention", "disable", "destroy")
_WRITING = [name for name, call in _CALLS.items() if call.method[:3] not in ("Get", "Lis", "Acc")]
_TRANSIENT = {
    "RESOURCE_EXHAUSTED": "quota",
    "UNAVAILABLE": "unavailable",
    "DEADLINE_EXCEEDED": "unavailable",
    "INTERNAL": "unavailable",
}


# Seconds that no machine needs for one target.
_PLENTY = 600.0


class _Timed:
    """A target's time, which passes in the calls that a fault strikes, and in no others."""

    def __init__(self, call: Call, fault: Any, each: float, together: float) -> None:
        self._call, self._fault, self._each, self._together = call, fault, each, together
        self._calls = 0
        self._spent = 0.0
        self._since: float | None = None

    @contextmanager
    def counted(self, method: str) -> Iterator[None]:
        if method != self._call.method:
            yield
            return
        self._calls += 1
        if self._calls <= self._call.skip:
            yield
            return
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._spent += time.monotonic() - self._since
            self._since = None

    def remaining(self) -> float:
        under_way = time.monotonic() - self._since if self._since is not None else 0.0
        left = max(0.0, self._together - self._spent - under_way)
        times = self._fault.times
        strikes = times is None or self._fault.hits < self._call.skip + times
        if self._since is not None and strikes:
            return min(left, self._each)
        return _PLENTY if left else 0.0


@dataclass
class Flow:
    """A call's flow, and how it ends where nothing fails."""

    call: Call
    module: Module
    end: dict[str, Any] = field(default_factory=dict)

    def fault(self, **options: Any) -> Any:
        return self.module.lab.faults.add(self.call.method, skip=self.call.skip, **options)

    def run(self, **more: Any) -> dict[str, Any]:
        return self.module.one(**{**self.call.arguments, **more})

    def only_this_call_takes_time(
        self, monkeypatch: pytest.MonkeyPatch, fault: Any, *, each: float, together: float = _PLENTY
    ) -> None:
        """Limits in seconds for the calls that the fault strikes; all others have as much as they need."""
        timed = _Timed(self.call, fault, each, together)
        monkeypatch.setattr(Deadline, "remaining", lambda _deadline: timed.remaining())
        call = SecretManagerClient._call

        def around(client: Any, method: str, *arguments: Any, **options: Any) -> Any:
            with timed.counted(method):
                return call(client, method, *arguments, **options)

        monkeypatch.setattr(SecretManagerClient, "_call", around)

    def start(self) -> None:
        if self.call.seed is not None:
            self.module.lab.seed([owned("cls-1", **self.call.seed)])

    def is_right(self) -> bool:
        return _end(self.module) == self.end


def _end(module: Module) -> dict[str, Any]:
    secret = module.secret()
    return {
        "labels": dict(secret.labels) if secret else None,
        "states": module.states(),
        "payloads": module.payloads(),
    }


_ENDS: dict[str, dict[str, Any]] = {}


@pytest.fixture(params=list(_CALLS))
def flow(request: pytest.FixtureRequest, module: Module) -> Flow:
    """Each call in its turn, over both transports."""
    found = Flow(_CALLS[request.param], module)
    if request.param not in _ENDS:
        with SecretManagerLab() as other:
            usual = Flow(found.call, Module(other, "grpc"))
            usual.start()
            assert not usual.run().get("failed")
            _ENDS[request.param] = _end(usual.module)
    found.end = _ENDS[request.param]
    found.start()
    return found


@pytest.mark.parametrize("flow", [name for name in _CALLS if name not in _RETAINING], indirect=True)
@pytest.mark.parametrize("code", ["PERMISSION_DENIED", "UNAUTHENTICATED"])
def test_a_denied_call_is_made_once_and_says_who_needs_what(flow: Flow, code: str) -> None:
    fault = flow.fault(code=code)
    result = flow.run()

    assert result["failed"]
    assert result["kind"] == "permission_denied"
    assert fault.hits == 1
    assert result["retries"] == 0
    assert f"{flow.call.method} on projects/{PROJECT}/secrets/{secret_id('cls-1')}" in result["msg"]
    assert "nobody (a connection without TLS)" in result["msg"]
    assert f"has secretmanager.{flow.call.permission} in project {PROJECT}" in result["msg"]
    assert "roles/iam.workloadIdentityUser" in result["msg"]


@pytest.mark.parametrize("flow", _RETAINING, indirect=True)
@pytest.mark.parametrize("code", ["PERMISSION_DENIED", "UNAUTHENTICATED"])
def test_a_denied_retention_is_a_warning_that_says_who_needs_what(flow: Flow, code: str) -> None:
    """The secret holds what it should, and whoever copies it further need not wait for old versions."""
    fault = flow.fault(code=code)
    result = flow.run()

    assert not result.get("failed"), result.get("msg")
    assert flow.module.holds("two")
    assert result["version"] == str(len(flow.module.states()))
    assert fault.hits == 1
    assert result["retries"] == 0
    (warning,) = result["warnings"]
    assert f"{flow.call.method} on projects/{PROJECT}/secrets/{secret_id('cls-1')}" in warning
    assert "nobody (a connection without TLS)" in warning
    assert f"has secretmanager.{flow.call.permission} in project {PROJECT}" in warning
    assert "roles/iam.workloadIdentityUser" in warning


@pytest.mark.parametrize("code", some(_TRANSIENT, "UNAVAILABLE"))
def test_a_call_that_fails_four_times_is_made_a_fifth(flow: Flow, code: str) -> None:
    fault = flow.fault(code=code, times=4)
    result = flow.run()

    assert not result.get("failed"), result.get("msg")
    assert fault.hits == 4
    assert result["retries"] == 4
    assert result["changed"]
    assert flow.is_right()


@pytest.mark.parametrize("code", some(_TRANSIENT, "RESOURCE_EXHAUSTED"))
def test_after_five_tries_it_is_given_up(flow: Flow, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = flow.fault(code=code)
    result = flow.run()

    assert result["failed"]
    assert fault.hits == 5
    assert result["kind"] == _TRANSIENT[code]
    assert code in result["msg"]
    assert "(tried 5 times)" in result["msg"]
    # The next run, once no claim holds any more, ends where this one should have.
    monkeypatch.setattr(claim, "time", SimpleNamespace(time=lambda: time.time() + 1000))
    flow.module.lab.faults.clear()
    assert not flow.run().get("failed")
    assert flow.is_right()


@pytest.mark.parametrize("code", some(["UNAVAILABLE", "DEADLINE_EXCEEDED"]))
@pytest.mark.parametrize("flow", _WRITING, indirect=True)
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
    """As with a KMS key that is disabled: beginning again until the time is over would not help."""
    flow.fault(code="FAILED_PRECONDITION")
    result = flow.run(timeout=20)
    assert result["kind"] == "precondition"
    assert "FAILED_PRECONDITION: AccessSecretVersion" in result["msg"]
    assert flow.module.count("AddSecretVersion") == 0
    flow.module.lab.faults.clear()
    assert not flow.run().get("failed")
    assert flow.is_right()


def test_what_was_done_before_a_failure_is_told(module: Module) -> None:
    module.lab.seed([owned("cls-1", document("one"), labels=_WRONG_LABELS)])
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
    # Another run, with a name of its own, and no time to wait.
    assert module.put("two", timeout=5)["actions"] == ["version added"]


@pytest.mark.parametrize("there", [False, True], ids=["first run", "update"])
@pytest.mark.parametrize("code", ["RESOURCE_EXHAUSTED", "UNAVAILABLE", "INTERNAL"])
def test_an_add_that_is_given_up_leaves_no_claim_either(module: Module, there: bool, code: str) -> None:
    if there:
        module.lab.seed([owned("cls-1", document("one"))])
    fault = module.lab.faults.add("AddSecretVersion", code=code, times=5)
    assert module.put("two")["kind"] == _TRANSIENT[code]
    assert fault.hits == 5
    assert claim.ANNOTATION not in module.secret().annotations
    assert module.put("two", timeout=5)["actions"] == ["version added"]


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
        # Two are made before the add, to compare.
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


# The LIST that a batch begins with only saves calls: it may fail.

_BATCH: dict[str, Any] = {
    "project": PROJECT,
    "source": {"inline": document("two")},
    "targets": [{"cluster_id": f"cls-{number}"} for number in range(1, 5)],
}


def test_a_batch_asks_for_all_metadata_at_once(module: Module) -> None:
    module.run(**_BATCH)
    module.lab.calls.reset()
    assert not module.run(**_BATCH)["changed"]
    assert module.count("ListSecrets") == 1
    assert module.count("GetSecret") == 0
    assert module.writes() == 0


@pytest.mark.parametrize(
    ("code", "tries"), [("PERMISSION_DENIED", 1), ("UNAUTHENTICATED", 1), *((code, 5) for code in _TRANSIENT)]
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


@pytest.mark.parametrize("code", list(_TRANSIENT))
def test_a_list_that_recovers_is_used(module: Module, code: str) -> None:
    module.run(**_BATCH)
    fault = module.lab.faults.add("ListSecrets", code=code, times=4)
    module.lab.calls.reset()
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


# Time.


@pytest.mark.hardening(19)
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


@pytest.mark.parametrize("flow", some(_WRITING, "add"), indirect=True)
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
    result = module.put(timeout=5, retry={"delay": 60, "max_delay": 60})
    assert result["kind"] == "timeout"
    assert "the next try would pass the limit of 5 s" in result["msg"]
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
