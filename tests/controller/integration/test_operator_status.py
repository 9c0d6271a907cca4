# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a run writes about its custom resource, and when a deleted one goes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import operator_status
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.kubernetes.resources import RESOURCES

NOT_FOUND = {"cluster": "a", "failed": True, "kind": "not_found", "reason": "there is no kubeconfig"}
INVALID = {"cluster": "a", "failed": True, "kind": "invalid", "reason": "gcpProjectId: no such name"}
UNTRUSTED = {"cluster": "a", "failed": True, "kind": "configuration", "reason": "not trusted"}
ON_NODES = {"cluster": "a", "nodes": "1 of 3"}
NOT_RUN = {"cluster": "a", "failed": True, "kind": "not_run", "reason": "not reached: no source"}
STORED = {"cluster": "a", "failed": True, "reason": "refused", "management_secret": "not reached"}
PROBLEM = {"failed": True, "msg": "the source does not exist"}


class Written:
    """A custom resource in a stand-in, and what ``operator_status`` does to it."""

    def __init__(self, lab: KubernetesLab, kubeconfig: Path) -> None:
        self.store, self.kubeconfig = lab.store, kubeconfig
        lab.store.create_namespace("home")
        metadata = {"name": "one", "namespace": "home"}
        self.item = lab.store.create(RESOURCES["pullsecrets"], {"metadata": metadata, "spec": {}}).obj

    def run(self, deleted: float | None, **options: Any) -> dict[str, Any]:
        item = {"apiVersion": "pullsecret.hyperfleet.io/v1alpha1", "kind": "PullSecret", **self.item}
        if deleted is not None:
            moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - deleted))
            item["metadata"] = {**item["metadata"], "deletionTimestamp": moment}
            item["spec"] = {"deletionPolicy": "Delete", "deletionTimeout": 900}
        arguments = {"object": item, "kubernetes": {"kubeconfig": str(self.kubeconfig)}, **options}
        checked = ArgumentSpecValidator(operator_status.target_options()).validate(arguments)
        assert not checked.error_messages
        return operator_status.run(dict(checked.validated_parameters), check_mode=False, diff=False)

    def events(self) -> list[tuple[str, str]]:
        entries = [entry.obj for entry in self.store.entries(RESOURCES["events"], "home")]
        return [(event["reason"], event["message"]) for event in entries]


@pytest.fixture
def written(tmp_path: Path) -> Iterator[Written]:
    with KubernetesLab() as lab:
        kubeconfig = write_kubeconfig(tmp_path / "kubeconfig", [Cluster("mgmt-1", lab.url, lab.admin_token)])
        yield Written(lab, kubeconfig)


@pytest.mark.parametrize(
    ("options", "ready", "event"),
    [
        ({"rows": [{"cluster": "a"}]}, ("True", "UpToDate", "up to date"), None),
        ({"rows": [ON_NODES]}, ("False", "Waiting", "1 of 3 nodes have it"), None),
        ({"rows": [UNTRUSTED]}, ("False", "Configuration", "not trusted"), "Degraded"),
        ({"problem": PROBLEM}, ("False", "RunFailed", "the source does not exist"), "Degraded"),
        (
            {"problem": PROBLEM, "rows": [NOT_RUN]},
            ("False", "RunFailed", "the source does not exist"),
            "Degraded",
        ),
        (
            {"rows": [STORED]},
            ("False", "Failed", "refused; its Secret in the management cluster was not tried"),
            "Degraded",
        ),
        ({}, ("False", "Waiting", "nothing is selected"), None),
    ],
)
def test_the_status_says_what_is_wrong(
    written: Written, options: dict[str, Any], ready: tuple[str, str, str], event: str | None
) -> None:
    assert written.run(None, **options)["failed"] is False
    item = written.store.find("pullsecrets", "home", "one")
    assert item is not None
    condition = item["status"]["conditions"][0]
    assert (condition["status"], condition["reason"], condition["message"]) == ready
    assert ("nextAttempt" in item["status"]) == (ready[0] == "False")
    assert written.events() == ([(event, ready[2])] if event else [])


@pytest.mark.parametrize(
    ("options", "seconds", "goes", "event"),
    [
        ({"rows": [{"cluster": "a"}]}, 1, True, None),
        ({}, 1, True, None),
        ({"rows": [NOT_FOUND]}, 1, False, "Degraded"),
        ({"rows": [INVALID]}, 1, True, "LeftBehind"),
        ({"rows": [UNTRUSTED]}, 1, False, "Degraded"),
        ({"rows": [UNTRUSTED]}, 901, True, "LeftBehind"),
        ({"rows": [INVALID, UNTRUSTED]}, 1, False, "Degraded"),
        # The nodes still have it.
        ({"rows": [ON_NODES]}, 1, False, "Degraded"),
        ({"rows": [ON_NODES]}, 901, True, "LeftBehind"),
        ({"problem": PROBLEM}, 1, False, "Degraded"),
        ({"problem": PROBLEM}, 901, True, "LeftBehind"),
    ],
)
def test_a_deleted_object_goes_when_nothing_is_left(
    written: Written, options: dict[str, Any], seconds: float, goes: bool, event: str | None
) -> None:
    result = written.run(seconds, **options)
    assert result["failed"] is not goes
    assert [reason for reason, _message in written.events()] == ([event] if event else [])
    item = written.store.find("pullsecrets", "home", "one")
    assert item is not None
    assert ("status" in item) is not goes
