# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The world of examples: all stand-ins, two management and two hosted clusters, a directory for ``/``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.docs.examples import Example, below
from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.stand_ins.kubernetes.lab import KubernetesLab
from tests.stand_ins.kubernetes.resources import RESOURCES
from tests.stand_ins.secret_manager.lab import SecretManagerLab
from tests.support.kubernetes.world import docker_config, encoded, held
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
    """``root`` stands for ``/``; ``variables`` are the play's, and ``defaults`` its modules'."""

    root: Path
    ansible: Ansible
    secret_manager: SecretManagerLab
    management: dict[str, KubernetesLab]
    hosted: dict[str, KubernetesLab]
    hyperfleet: HyperFleetLab
    variables: dict[str, Any] = field(default_factory=dict)
    defaults: dict[str, dict[str, Any]] = field(default_factory=dict)

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
        results = {done.name: done.result for done in finished.tasks}
        for task in tasks:
            if "register" in task and task["name"] in results:
                self.variables[task["register"]] = results[task["name"]]
        return finished

    def path(self, name: str) -> Path:
        """Where a path of an example is: below ``root``, or in the directory that Ansible runs in."""
        return Path(f"{self.root}{name}") if name.startswith("/") else self.ansible.directory / name

    def write(self, name: str, text: str) -> None:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def namespace(self, name: str, cluster: str = "mgmt-1") -> None:
        self._server(cluster).store.create_namespace(name)

    def put_secret(self, namespace: str, name: str, text: str, cluster: str = "mgmt-1") -> None:
        """Put a pull secret into a cluster by hand."""
        data = {".dockerconfigjson": encoded(text)}
        metadata = {"namespace": namespace, "name": name}
        self._server(cluster).store.create(
            RESOURCES["secrets"],
            {"metadata": metadata, "type": "kubernetes.io/dockerconfigjson", "data": data},
        )

    def store(self, project: str, cluster_id: str, *versions: str) -> None:
        """Put a secret of ours into Secret Manager, or more versions into one that is there."""
        secret = f"hyperfleet-{cluster_id}-pull-secret"
        record = self.secret_manager.store.find(project, secret)
        if record is None:
            labels = {**LABELS, "cluster-id": cluster_id}
            self.secret_manager.seed([{"project": project, "secret": secret, "labels": labels}])
            record = self.secret_manager.store.get(project, secret)
        for text in versions:
            self.secret_manager.store.add_version(record, text.encode(), crc=None, checked=True)

    def labels(self, project: str, cluster_id: str) -> dict[str, str]:
        record = self.secret_manager.store.get(project, f"hyperfleet-{cluster_id}-pull-secret")
        return dict(record.message.labels)

    def versions(self, project: str, cluster_id: str) -> list[dict[str, Any]]:
        """The ``auths`` of each version, oldest first; an empty list if there is no secret."""
        record = self.secret_manager.store.find(project, f"hyperfleet-{cluster_id}-pull-secret")
        return [json.loads(version.payload)["auths"] for version in record.versions] if record else []

    def enabled(self, project: str, cluster_id: str) -> list[int]:
        """The numbers of the enabled versions, oldest first."""
        return list(self.secret_manager.store.get(project, f"hyperfleet-{cluster_id}-pull-secret").enabled)

    def secret(self, namespace: str, name: str, cluster: str = "mgmt-1") -> dict[str, Any] | None:
        """A Secret as the API server has it, or None."""
        return self._server(cluster).store.find("secrets", namespace, name)

    def placed(self, namespace: str, name: str, cluster: str = "mgmt-1") -> dict[str, Any] | None:
        """The ``auths`` of a pull secret in a cluster; None if there is no Secret."""
        secret = self.secret(namespace, name, cluster)
        if secret is None:
            return None
        assert secret["type"] == "kubernetes.io/dockerconfigjson"
        found: dict[str, Any] = held(secret)["auths"]
        return found

    def _server(self, cluster: str) -> KubernetesLab:
        """A management cluster by its context, a hosted one by its id."""
        return {**self.management, **self.hosted}[cluster]


@contextmanager
def world(directory: Path) -> Iterator[World]:
    """Everything started, nothing in it but the namespaces of a new cluster."""
    with (
        SecretManagerLab() as secret_manager,
        KubernetesLab() as one,
        KubernetesLab() as two,
        KubernetesLab() as first_hosted,
        KubernetesLab() as second_hosted,
        HyperFleetLab() as hyperfleet,
    ):
        management = {"mgmt-1": one, "mgmt-2": two}
        hosted = {"cls-123": first_hosted, "cls-456": second_hosted}
        contexts = [Cluster(name, lab.url, lab.admin_token) for name, lab in management.items()]
        ansible = Ansible(directory / "work")
        ansible.env = {
            "HOME": str(directory / "home"),  # for a path such as ~/pull-secret.json
            "SECRET_MANAGER_EMULATOR_HOST": secret_manager.grpc,
            "KUBECONFIG": str(write_kubeconfig(directory / "kubeconfig", contexts)),
            "HYPERFLEET_API_URL": hyperfleet.url,
        }
        yield World(directory / "root", ansible, secret_manager, management, hosted, hyperfleet)
