# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The world of examples: all stand-ins, two management and two hosted clusters, a directory for ``/``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.docs.examples.documents import Example, below
from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.stand_ins.kubernetes.lab import KubernetesLab
from tests.stand_ins.kubernetes.resources import RESOURCES
from tests.stand_ins.secret_manager.lab import SecretManagerLab
from tests.support.docker_configs import KEY, TYPE, docker_config, encoded, held
from tests.support.processes import Ansible, Finished

LABELS = {"managed-by": "hyperfleet", "adapter": "pullsecret"}


def auths(**entries: str) -> dict[str, dict[str, str]]:
    """Credentials by registry, dots written as ``_``: ``auths(quay_io="platform")``."""
    found: dict[str, dict[str, str]] = docker_config(**entries)["auths"]
    return found


def config(**entries: str) -> str:
    """A docker config as text; see :func:`auths`."""
    return json.dumps({"auths": auths(**entries)})


@dataclass
class World:
    """``root`` stands for ``/``; ``variables`` are the play's, and ``defaults`` its modules'.

    ``clusters`` has the management clusters by context and the hosted ones by id.
    """

    root: Path
    ansible: Ansible
    secret_manager: SecretManagerLab
    clusters: dict[str, KubernetesLab]
    hyperfleet: HyperFleetLab
    variables: dict[str, Any] = field(default_factory=dict)
    defaults: dict[str, dict[str, Any]] = field(default_factory=dict)
    examples: list[Example] = field(default_factory=list)

    def example(self, name: str, code: int = 0) -> Finished:
        """Run the plugin's next example, which has this name; ``code`` is how ansible-playbook ends."""
        assert self.examples, "there are no more examples"
        task = self.examples.pop(0)
        assert task["name"] == name
        finished = self.run(task)
        assert finished.code == code, finished.output
        return finished

    def run(self, *tasks: Example) -> Finished:
        """Run tasks as one play; what they register is there for the next."""
        play = {
            "name": "Examples",
            "hosts": "localhost",
            "gather_facts": False,
            "vars": self.variables,
            "module_defaults": self.defaults,
            "tasks": [below(self.root, task) for task in tasks],
        }
        finished = self.ansible.playbook([play])
        for task, done in zip(tasks, finished.tasks, strict=False):
            if "register" in task:
                self.variables[task["register"]] = done.result
        return finished

    def path(self, name: str) -> Path:
        """Where a path of an example is: below ``root``, or in the directory that Ansible runs in."""
        return Path(f"{self.root}{name}") if name.startswith("/") else self.ansible.directory / name

    def write(self, name: str, text: str) -> None:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def namespace(self, name: str, cluster: str = "mgmt-1") -> None:
        self.clusters[cluster].store.create_namespace(name)

    def put_secret(self, namespace: str, name: str, text: str, cluster: str = "mgmt-1") -> None:
        """Put a pull secret into a cluster by hand."""
        metadata = {"namespace": namespace, "name": name}
        secret = {"metadata": metadata, "type": TYPE, "data": {KEY: encoded(text)}}
        self.clusters[cluster].store.create(RESOURCES["secrets"], secret)

    def secret(self, namespace: str, name: str, cluster: str = "mgmt-1") -> Any:
        """A Secret as the API server has it, or None."""
        return self.clusters[cluster].store.find("secrets", namespace, name)

    def placed(self, namespace: str, name: str, cluster: str = "mgmt-1") -> Any:
        """The ``auths`` of a pull secret in a cluster."""
        secret = self.secret(namespace, name, cluster)
        assert secret["type"] == TYPE
        return held(secret)["auths"]

    def store(self, project: str, cluster_id: str, *versions: str) -> None:
        """Put a secret of ours into Secret Manager, or more versions into one that is there."""
        if self.stored(project, cluster_id) is None:
            secret = {"project": project, "secret": f"hyperfleet-{cluster_id}-pull-secret"}
            self.secret_manager.seed([{**secret, "labels": {**LABELS, "cluster-id": cluster_id}}])
        record = self.stored(project, cluster_id)
        for text in versions:
            self.secret_manager.store.add_version(record, text.encode())

    def stored(self, project: str, cluster_id: str) -> Any:
        """A cluster's secret as Secret Manager has it, or None."""
        return self.secret_manager.store.find(project, f"hyperfleet-{cluster_id}-pull-secret")

    def versions(self, project: str, cluster_id: str) -> list[dict[str, Any]]:
        """The ``auths`` of each version, oldest first."""
        return [json.loads(version.payload)["auths"] for version in self.stored(project, cluster_id).versions]


@contextmanager
def started(directory: Path) -> Iterator[World]:
    """Everything started, nothing in it but the namespaces of a new cluster."""
    with ExitStack() as stack:
        secret_manager = stack.enter_context(SecretManagerLab())
        hyperfleet = stack.enter_context(HyperFleetLab())
        management = {name: stack.enter_context(KubernetesLab()) for name in ("mgmt-1", "mgmt-2")}
        hosted = {name: stack.enter_context(KubernetesLab()) for name in ("cls-123", "cls-456")}
        contexts = [Cluster(name, lab.url, lab.admin_token) for name, lab in management.items()]
        ansible = Ansible(directory / "work")
        ansible.env = {
            "HOME": str(directory / "home"),  # for a path such as ~/pull-secret.json
            "SECRET_MANAGER_EMULATOR_HOST": secret_manager.grpc,
            "KUBECONFIG": str(write_kubeconfig(directory / "kubeconfig", contexts)),
            "HYPERFLEET_API_URL": hyperfleet.url,
        }
        yield World(directory / "root", ansible, secret_manager, {**management, **hosted}, hyperfleet)
