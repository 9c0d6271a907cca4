# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of ``gcp_pull_secret`` share: documents, the module in-process, a look into the store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import gcp_pull_secret as task
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import validated
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.stand_ins.secret_manager.protos import STATE_NAME
from tests.support.docker_configs import docker_config

TRANSPORTS = ("grpc", "rest")
# No option of the modules: the job's program uses it.
PLAIN = "plain"
EVERY_TRANSPORT = (*TRANSPORTS, PLAIN)
PROJECT = "customer-prod-12345"
WRITES = (
    "CreateSecret",
    "UpdateSecret",
    "DeleteSecret",
    "AddSecretVersion",
    "EnableSecretVersion",
    "DisableSecretVersion",
    "DestroySecretVersion",
)
OURS = {
    "managed-by": "hyperfleet",
    "adapter": "pullsecret",
    "resource-type": "pull-secret",
    "hyperfleet-version": "v1",
}


def document(word: str = "one", *registries: str, **layout: Any) -> str:
    """A docker config whose credentials hold ``word``; ``layout`` goes to ``json.dumps``."""
    names = registries or ("quay.io", "registry.redhat.io")
    return json.dumps(docker_config(**dict.fromkeys(names, word)), **layout)


def secret_id(cluster: str) -> str:
    return f"hyperfleet-{cluster}-pull-secret"


def owned(cluster: str, *payloads: str, **fields: Any) -> dict[str, Any]:
    """A secret to seed the stand-in with, labelled as we label it."""
    return {
        "project": PROJECT,
        "secret": secret_id(cluster),
        "labels": {**OURS, "cluster-id": cluster},
        "versions": [{"data": payload} for payload in payloads],
        **fields,
    }


def payloads(lab: SecretManagerLab, cluster: str) -> list[bytes]:
    """The payloads of a cluster's versions, oldest first."""
    record = lab.store.find(PROJECT, secret_id(cluster))
    return [] if record is None else [version.payload for version in record.versions]


def endpoint(lab: SecretManagerLab, transport: str) -> dict[str, str]:
    """The module's ``gcp`` option for a stand-in."""
    return {
        "transport": transport,
        "endpoint": f"http://{lab.grpc}" if transport == "grpc" else lab.rest,
    }


class Module:
    """The module without Ansible's process around it, against a stand-in over one transport."""

    def __init__(self, lab: SecretManagerLab, transport: str) -> None:
        self.lab = lab
        self.transport = transport
        self.defaults: dict[str, Any] = {
            "gcp": endpoint(lab, transport),
            "retry": {"delay": 0.01, "max_delay": 0.02},
            "digest_key": "example-digest-key",
        }

    def parameters(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters that Ansible would give the module; of ``plain``, Ansible knows nothing."""
        given = {**self.defaults, **arguments}
        transport = (given.get("gcp") or {}).get("transport")
        if transport == PLAIN:
            given["gcp"] = {**given["gcp"], "transport": "rest"}
        found = validated(task.target_options, given)
        if transport == PLAIN:
            found["gcp"]["transport"] = PLAIN
        return found

    def run(self, *, check: bool = False, diff: bool = False, **arguments: Any) -> dict[str, Any]:
        """The module's whole result."""
        return task.run(self.parameters(arguments), check_mode=check, diff=diff)

    def one(
        self, cluster: str = "cls-1", *, check: bool = False, diff: bool = False, **arguments: Any
    ) -> dict[str, Any]:
        """The result of one cluster's target, with ``diff`` and the task's ``failed`` where there is one."""
        whole = self.run(check=check, diff=diff, **{"cluster_id": cluster, "project": PROJECT, **arguments})
        (target,) = whole["targets"]
        assert whole["changed"] == target["changed"]
        assert bool(whole.get("failed")) == bool(target.get("failed"))
        return {**target, **({"diff": whole["diff"]} if "diff" in whole else {})}

    def put(self, word: str = "one", cluster: str = "cls-1", **arguments: Any) -> dict[str, Any]:
        """As ``one``, with ``document(word)`` as the source."""
        return self.one(cluster, source={"inline": document(word)}, **arguments)

    # What the store holds, asked without calls.

    def writes(self) -> int:
        """Calls that write, successful or not, since the counters were last reset."""
        return sum(self.lab.calls.count(method) for method in WRITES)

    def count(self, method: str) -> int:
        return self.lab.calls.count(method)

    def secret(self, cluster: str = "cls-1") -> Any:
        """The secret's message, or None."""
        record = self.lab.store.find(PROJECT, secret_id(cluster))
        return None if record is None else record.message

    def states(self, cluster: str = "cls-1") -> list[str]:
        """The versions' states, oldest first."""
        record = self.lab.store.find(PROJECT, secret_id(cluster))
        return [] if record is None else [STATE_NAME[version.state] for version in record.versions]

    def payloads(self, cluster: str = "cls-1") -> list[bytes]:
        """The versions' payloads, oldest first."""
        return payloads(self.lab, cluster)

    def holds(self, word: str, cluster: str = "cls-1") -> bool:
        """Whether the newest enabled version holds ``document(word)``."""
        enabled = [
            payload
            for payload, state in zip(self.payloads(cluster), self.states(cluster), strict=True)
            if state == "ENABLED"
        ]
        return bool(enabled) and json.loads(enabled[-1]) == json.loads(document(word))
