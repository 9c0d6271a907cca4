# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``environment`` of a task, block or play also applies to what an action plugin reads on the controller."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.stand_ins.client import ask
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.stand_ins.kubernetes import KubernetesLab
from tests.support.docker_configs import KEY, TYPE, docker_config, encoded
from tests.support.processes import Ansible

_NODE = "hyperfleet.pull_secret.kubelet_auth_sync"
_JOB = "hyperfleet.pull_secret.pull_secret_job"


def _document(password: str) -> str:
    return json.dumps(docker_config(quay_io=password))


@pytest.mark.cores
def test_a_node_task_reads_with_the_environment_of_its_task(
    ansible: Ansible, kubernetes: KubernetesLab, tmp_path: Path
) -> None:
    secret = {"metadata": {"name": "src"}, "type": TYPE, "data": {KEY: encoded(_document("cluster"))}}
    path = "/api/v1/namespaces/default/secrets"
    assert ask(kubernetes.url, "POST", path, secret, token=kubernetes.admin_token)[0] == 201
    for name in "task", "block", "play", "cluster", "path":
        (tmp_path / name).mkdir()
    (tmp_path / "path" / "source.json").write_text(_document("path"))

    def node(name: str, source: dict[str, Any], **keywords: Any) -> dict[str, Any]:
        path = str(tmp_path / name / "config.json")
        return {_NODE: {"path": path, "restart": "never", "healthz": "", "source": source}, **keywords}

    def variables(name: str, **more: str) -> dict[str, Any]:
        return {"environment": {"DOCKER_CONFIG_JSON": _document(name), **more}}

    nowhere = Cluster("nowhere", "http://127.0.0.1:1", "example-token")
    management = Cluster("mgmt-2", kubernetes.url, kubernetes.admin_token)
    kubeconfig = write_kubeconfig(tmp_path / "kubeconfig", [nowhere, management])
    from_variable = {"env": "DOCKER_CONFIG_JSON"}
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        **variables("play", KUBECONFIG=str(kubeconfig), K8S_AUTH_CONTEXT="mgmt-2"),
        "tasks": [
            {
                "block": [
                    node("task", from_variable, **variables("task")),
                    node("block", from_variable),
                ],
                **variables("block"),
            },
            node("play", from_variable),
            node(
                "path", {"file": "$DIRECTORY/source.json"}, environment={"DIRECTORY": str(tmp_path / "path")}
            ),
            node("cluster", {"kubernetes": {"namespace": "default", "name": "src"}}),
            {_JOB: {}, "environment": {"CLUSTER_ID": "cls-1"}, "ignore_errors": True},
        ],
    }
    done = ansible.playbook([play], env={"DOCKER_CONFIG_JSON": _document("own")})
    assert done.code == 0, done.output
    for name in "task", "block", "play", "cluster", "path":
        assert json.loads((tmp_path / name / "config.json").read_text()) == json.loads(_document(name))
    (job,) = done.of("pull_secret_job")
    assert "CLUSTER_NAME" in job["msg"]
    assert "CLUSTER_ID" not in job["msg"]
