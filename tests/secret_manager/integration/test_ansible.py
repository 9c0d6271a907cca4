# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module run by Ansible: results as callbacks get them, check mode, diff, failures and a long batch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.docker_configs import auth
from tests.support.nightly import some
from tests.support.processes import Ansible
from tests.support.secret_manager import PROJECT, TRANSPORTS, Module, document, owned


@pytest.fixture
def store(secret_manager: SecretManagerLab, ansible: Ansible) -> Module:
    """The stand-in. Ansible's processes find it by the emulator's environment variable."""
    ansible.env["SECRET_MANAGER_EMULATOR_HOST"] = secret_manager.grpc
    return Module(secret_manager, "grpc")


def _play(*tasks: Mapping[str, Any], **play: Any) -> list[dict[str, Any]]:
    return [{"hosts": "localhost", "gather_facts": False, "tasks": list(tasks), **play}]


@pytest.mark.cores
def test_the_life_of_a_secret(ansible: Ansible, store: Module) -> None:
    """Check mode, created, unchanged, changed, removed: six tasks of one playbook."""
    name = "hyperfleet.pull_secret.gcp_pull_secret"
    target = {"cluster_id": "cls-1", "project": PROJECT}
    one = {name: {**target, "source": {"inline": document("one")}}}
    two = {name: {**target, "source": {"inline": document("two")}}}
    gone = {name: {**target, "state": "absent"}}
    finished = ansible.playbook(
        _play({**one, "check_mode": True}, one, one, two, gone, gone), flags=["--diff", "-vvvv"]
    )

    assert finished.code == 0, finished.output
    assert [task.result["changed"] for task in finished.tasks] == [True, True, False, True, True, False]
    actions = [task.result["targets"][0]["actions"] for task in finished.tasks]
    created = ["created", "version added"]
    assert actions == [created, created, [], ["version added"], ["deleted"], []]
    # The whole run uses one key, so the same document has the same digest in every task.
    digests = [task.result["targets"][0].get("digest") for task in finished.tasks]
    assert digests[0] == digests[1] == digests[2] != digests[3]
    assert "+registry quay.io" in finished.stdout
    assert "(credential differs)" in finished.stdout
    for word in (auth("one"), auth("two"), "example-password"):
        assert word not in finished.output
        assert word not in json.dumps([task.result for task in finished.tasks])
    assert store.secret() is None


@pytest.mark.parametrize("transport", some(TRANSPORTS))
def test_module_defaults_reach_the_group_and_a_failure_names_its_target(
    ansible: Ansible, secret_manager: SecretManagerLab, transport: str
) -> None:
    module = Module(secret_manager, transport)
    secret_manager.seed([owned("cls-2", document("theirs"), labels={"managed-by": "somebody"})])
    defaults = {
        "group/hyperfleet.pull_secret.pull_secret": {
            "gcp": module.defaults["gcp"],
            "retry": {"tries": 2, "delay": 0.01},
        }
    }
    arguments = {
        "project": PROJECT,
        "source": {"inline": document("one")},
        "targets": [{"cluster_id": "cls-1"}, {"cluster_id": "cls-2"}, {"cluster_id": "cls-3"}],
    }
    task = {"hyperfleet.pull_secret.gcp_pull_secret": arguments}
    finished = ansible.playbook(_play(task, module_defaults=defaults))

    assert finished.code == 2, finished.output
    result = finished.result
    assert finished.tasks[-1].status == "failed"
    assert result["changed"]
    assert [entry["id"] for entry in result["failed_targets"]] == ["cls-2"]
    assert "1 of 3 targets failed: cls-2: " in result["msg"]
    assert module.holds("one", "cls-1")
    assert module.holds("one", "cls-3")
    assert module.payloads("cls-2") == [document("theirs").encode()]


_MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"source": {}}, "source must be a mapping with one of inline, file, env"),
    ({"source": {"file": "/a", "env": "B"}}, "source has both file and env"),
    ({"source": {"inline": document("one")}, "layers": []}, "mutually exclusive"),
    ({"state": "gone"}, "state must be one of present, absent"),
    ({"soruce": {"file": "/a"}}, "Unsupported parameters"),
    ({"targets": [{"cluster_id": "cls-1"}, {"cluster_id": "cls-1"}]}, "the same id cls-1"),
]


@pytest.mark.nightly
def test_a_mistake_in_the_task_fails_it_without_a_call(ansible: Ansible, store: Module) -> None:
    finished = ansible.playbook(
        _play(
            *(
                {
                    "hyperfleet.pull_secret.gcp_pull_secret": {"project": PROJECT, **arguments},
                    "ignore_errors": True,
                }
                for arguments, _words in _MISTAKES
            )
        )
    )
    assert len(finished.tasks) == len(_MISTAKES), finished.output
    for task, (_arguments, words) in zip(finished.tasks, _MISTAKES, strict=True):
        assert task.status == "failed"
        assert words in task.result["msg"]
    assert "example-password" not in finished.output
    assert auth("one") not in finished.output
    assert store.lab.calls.count() == 0


@pytest.mark.nightly
def test_a_long_batch_shows_how_far_it_is(ansible: Ansible, store: Module) -> None:
    store.lab.faults.add("AddSecretVersion", delay=0.1)
    targets = [
        {"cluster_id": f"cls-{number}", "source": {"inline": document(str(number))}} for number in range(40)
    ]
    arguments = {"project": PROJECT, "targets": targets, "concurrency": 1}
    finished = ansible.module("gcp_pull_secret", arguments)
    assert finished.code == 0, finished.output
    assert finished.result["summary"] == {"total": 40, "changed": 40, "failed": 0}
    assert "gcp_pull_secret: " in finished.stdout
    assert "/40" in finished.stdout
