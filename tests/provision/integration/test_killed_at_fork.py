# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""ansible-playbook is killed right after it has forked a worker: the worker changes nothing and ends."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.lab.supervisor import is_running
from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.docker_configs import docker_config
from tests.support.nightly import some
from tests.support.processes import Ansible

AT_FORK = Path(__file__).parent / "at_fork"
DOCUMENT = json.dumps(docker_config(quay_io="one"))
LIMIT = 60


@dataclass
class World:
    """``directory`` holds the files of the tasks."""

    ansible: Ansible
    store: SecretManagerLab
    management: KubernetesLab
    hyperfleet: HyperFleetLab
    directory: Path

    def touched(self) -> dict[str, int]:
        """Counts of what the worker has done."""
        return {
            "files": len(list(self.directory.iterdir())),
            "Secret Manager": self.store.calls.count(),
            "Kubernetes": len(self.management.calls),
            "HyperFleet API": len(self.hyperfleet.calls.matching()),
        }


@pytest.fixture
def world(
    ansible: Ansible,
    secret_manager: SecretManagerLab,
    kubernetes: KubernetesLab,
    hyperfleet: HyperFleetLab,
    tmp_path: Path,
) -> World:
    ansible.env.update(
        SECRET_MANAGER_EMULATOR_HOST=secret_manager.grpc,
        KUBECONFIG=str(kubernetes.kubeconfig(tmp_path / "kubeconfig")),
        HYPERFLEET_API_URL=hyperfleet.url,
        PULL_SECRET_DATA=DOCUMENT,
        CLUSTER_ID="cls-1",
        CLUSTER_NAME="one",
        GCP_PROJECT_ID="customer-prod-12345",
        MANAGEMENT_NAMESPACE="clusters-cls-1",
    )
    directory = tmp_path / "files"
    directory.mkdir()
    return World(ansible, secret_manager, kubernetes, hyperfleet, directory)


def arguments(world: World, action: str) -> dict[str, Any]:
    files, source = world.directory, {"env": "PULL_SECRET_DATA"}
    given: dict[str, dict[str, Any]] = {
        # Its result would fill a pipe.
        "dockerconfig_merge": {
            "source": source,
            "targets": [{"id": f"{number}", "dest": str(files / f"{number}")} for number in range(1000)],
        },
        "gcp_pull_secret": {"project": "customer-prod-12345", "cluster_id": "cls-1", "source": source},
        "k8s_pull_secret": {"namespace": "clusters-cls-1", "cluster_id": "cls-1", "source": source},
        "kubelet_auth_sync": {"path": str(files / "config.json"), "restart": "never", "source": source},
        "hyperfleet_cluster_info": {},
        "hyperfleet_adapter": {"config": str(world.directory.parent / "adapter.yml"), "all": True},
        "pull_secret_job": {},
    }
    return given[action]


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Path]:
    """The file for the worker's process id. The worker is killed at the end of the test."""
    path = tmp_path / "worker"
    yield path
    if path.exists() and is_running(int(path.read_text())):
        os.kill(int(path.read_text()), signal.SIGKILL)


@pytest.mark.parametrize(
    ("action", "number"),
    some(
        [
            ("dockerconfig_merge", signal.SIGKILL),
            ("dockerconfig_merge", signal.SIGHUP),
            ("gcp_pull_secret", signal.SIGKILL),
            ("k8s_pull_secret", signal.SIGKILL),
            ("kubelet_auth_sync", signal.SIGKILL),
            ("hyperfleet_adapter", signal.SIGKILL),
            ("hyperfleet_cluster_info", signal.SIGKILL),
            ("pull_secret_job", signal.SIGKILL),
        ],
        ("dockerconfig_merge", signal.SIGHUP),
    ),
)
def test_a_worker_without_its_playbook_does_nothing(
    world: World, worker: Path, action: str, number: signal.Signals
) -> None:
    (world.directory.parent / "adapter.yml").write_text(
        json.dumps(
            {
                "apiVersion": "hyperfleet.redhat.com/v1alpha1",
                "kind": "AdapterConfig",
                "metadata": {"name": "pullsecret"},
                "spec": {
                    "execution": "inline",
                    "hyperfleetAPI": {"url": world.hyperfleet.url},
                },
            }
        )
    )
    before = world.touched()
    environment = {
        "PYTHONPATH": os.pathsep.join([str(AT_FORK), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
        "KILLED_AT_FORK": str(worker),
        "KILLED_AT_FORK_ACTION": action,
        "KILLED_AT_FORK_SIGNAL": str(int(number)),
    }
    # The worker inherits the output, so waiting for the end of the output would wait for the worker.
    running = world.ansible.start_module(
        f"hyperfleet.pull_secret.{action}", arguments(world, action), env=environment
    )
    assert running.process.wait(LIMIT) == -number
    pid = int(worker.read_text())
    deadline = time.monotonic() + LIMIT
    while is_running(pid):
        assert time.monotonic() < deadline, f"the worker is still running, after {world.touched()}"
        time.sleep(0.02)
    assert world.touched() == before
    running.wait()
