# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every call that the module makes, in a flow in which it can fail."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.google.client import (
    SecretManagerClient,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Deadline
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.secret_manager import Module, document, owned

WRONG_LABELS = {"managed-by": "hyperfleet", "cluster-id": "cls-1"}
_DISABLED = [{"data": document("one"), "state": "DISABLED"}, {"data": document("two")}]
_NEWEST_DISABLED = [{"data": document("one")}, {"data": document("three"), "state": "DISABLED"}]


@dataclass(frozen=True)
class Call:
    """One call of a flow; ``skip`` counts the calls of that method that come before it."""

    method: str
    arguments: dict[str, Any]
    seed: dict[str, Any] | None = None
    skip: int = 0
    permission: str = ""


_PUT: dict[str, Any] = {"source": {"inline": document("two")}}
_KEEP_ONE: dict[str, Any] = {**_PUT, "retention": {"keep": 1, "destroy_after": 0}}
_RESTORE: tuple[dict[str, Any], dict[str, Any]] = ({"restore_version": "1"}, {"versions": _DISABLED})
_OLD = {"versions": [{"data": document("one")}]}
CALLS = {
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
        {**_OLD, "labels": WRONG_LABELS},
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
    "get version to restore": Call("GetSecretVersion", *_RESTORE, permission="versions.get"),
    "enable to restore": Call("EnableSecretVersion", *_RESTORE, permission="versions.enable"),
    "read to restore": Call("AccessSecretVersion", *_RESTORE, permission="versions.access"),
    "disable after restore": Call("DisableSecretVersion", *_RESTORE, permission="versions.disable"),
}
RETAINING = ("list for retention", "disable", "destroy")
WRITING = [name for name, call in CALLS.items() if call.method[:3] not in ("Get", "Lis", "Acc")]
TRANSIENT = {
    "RESOURCE_EXHAUSTED": "quota",
    "UNAVAILABLE": "unavailable",
    "DEADLINE_EXCEEDED": "unavailable",
    "INTERNAL": "unavailable",
}


# Seconds that no machine needs for one target.
_PLENTY = 600.0


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
        calls, is_struck = itertools.count(), False
        call = SecretManagerClient._call

        def around(client: Any, method: str, *arguments: Any, **options: Any) -> Any:
            nonlocal is_struck
            is_struck = method == self.call.method and next(calls) >= self.call.skip
            try:
                return call(client, method, *arguments, **options)
            finally:
                is_struck = False

        def remaining(_deadline: Deadline) -> float:
            left: float = max(0.0, together - each * fault.hits)
            if is_struck and (fault.times is None or fault.hits < fault.times):
                return min(left, each)
            return _PLENTY if left else 0.0

        monkeypatch.setattr(SecretManagerClient, "_call", around)
        monkeypatch.setattr(Deadline, "remaining", remaining)

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


ENDS: dict[str, dict[str, Any]] = {}


def started(name: str, module: Module) -> Flow:
    """A call's flow, with what is there before it, and with its usual end."""
    found = Flow(CALLS[name], module)
    if name not in ENDS:
        with SecretManagerLab() as other:
            usual = Flow(found.call, Module(other, "grpc"))
            usual.start()
            assert not usual.run().get("failed")
            ENDS[name] = _end(usual.module)
    found.end = ENDS[name]
    found.start()
    return found
