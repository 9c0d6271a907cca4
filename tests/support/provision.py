# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All that the main job meets: sources, Secret Manager, a management cluster, and Ansible itself."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.secret_manager.lab import SecretManagerLab
from tests.support.docker_configs import docker_config, held
from tests.support.kubernetes.world import Api
from tests.support.processes import Ansible, Finished, Running
from tests.support.secret_manager import PROJECT, payloads

PLAYBOOK = "hyperfleet.pull_secret.provision"
# Passing faults are met many times here; the real delays would only make the tests slow.
FAST = {"provision_retry": {"tries": 3, "delay": 0.05, "max_delay": 0.1}}


class World:
    """One test's fleet. Cluster ids are this test's own, since the real API server is shared."""

    def __init__(
        self,
        api: Api,
        manager: SecretManagerLab,
        hyperfleet: HyperFleetLab,
        ansible: Ansible,
        directory: Path,
    ) -> None:
        self.api = api
        self.manager = manager
        self.hyperfleet = hyperfleet
        self.ansible = ansible
        self.fleet = directory / "fleet"
        self.fleet.mkdir()
        self.namespaces: list[str] = []
        ansible.env.update(
            KUBECONFIG=str(api.kubeconfig(directory / "kubeconfig")),
            SECRET_MANAGER_EMULATOR_HOST=manager.grpc,
            HYPERFLEET_API_URL=hyperfleet.url,
        )

    def cluster(self, config: Any = None, *, namespace: bool = True) -> dict[str, Any]:
        """A cluster as the role takes it, its pull secret in a file, its namespace there or not."""
        identity = self.api.new_name("cls")
        cluster = {
            "cluster_id": identity,
            "cluster_name": f"name-of-{identity}",
            "gcp_project_id": PROJECT,
            "management_namespace": f"clusters-{identity}",
            "source": {"file": str(self.fleet / f"{identity}.dockerconfig")},
        }
        self.write(cluster, docker_config(quay_io="one") if config is None else config)
        if namespace:
            self.namespace(cluster)
        return cluster

    def namespace(self, cluster: dict[str, Any]) -> None:
        self.namespaces.append(self.api.namespace(cluster["management_namespace"]))

    def write(self, cluster: dict[str, Any], config: Any) -> None:
        """What the cluster's source holds from now on; a string is written as it is."""
        text = config if isinstance(config, str) else json.dumps(config)
        Path(cluster["source"]["file"]).write_text(text)

    def cluster_file(self, config: Any = None, *, namespace: bool = True, **gcp: Any) -> tuple[str, Path]:
        """A cluster as the HyperFleet API returns it, in a file: its id and the path."""
        cluster = self.cluster(config, namespace=namespace)
        identity = cluster["cluster_id"]
        source = Path(cluster["source"]["file"])
        document = {
            "kind": "Cluster",
            "id": identity,
            "name": cluster["cluster_name"],
            "spec": {
                "provider": "gcp",
                "gcp": {"projectId": PROJECT, **gcp},
                "pullSecret": {"data": source.read_text()},
            },
            "status": {"conditions": []},
        }
        source.unlink()
        path = self.fleet / f"{identity}.json"
        path.write_text(json.dumps(document))
        return identity, path

    def provision(self, variables: dict[str, Any], *, playbook: Any = PLAYBOOK, **options: Any) -> Finished:
        """Run the playbook to its end."""
        return self.ansible.playbook(playbook, {**FAST, **variables}, **options)

    def start(self, variables: dict[str, Any]) -> Running:
        """Start the playbook."""
        return self.ansible.start_playbook(PLAYBOOK, {**FAST, **variables})

    def versions(self, cluster: str | dict[str, Any]) -> int:
        """How many versions Secret Manager has of a cluster's pull secret, destroyed ones included."""
        identity = cluster if isinstance(cluster, str) else cluster["cluster_id"]
        return len(payloads(self.manager, identity))

    def placed(self, cluster: str | dict[str, Any]) -> Any:
        """The Secret in the management cluster, or None."""
        identity = cluster if isinstance(cluster, str) else cluster["cluster_id"]
        return self.api.secret(f"clusters-{identity}", f"{identity}-pull-secret")

    def placed_config(self, cluster: str | dict[str, Any]) -> Any:
        """The docker config that it holds."""
        return held(self.placed(cluster))


def rows(finished: Finished) -> dict[str, dict[str, Any]]:
    """The report's row of each cluster."""
    (report,) = finished.of("pull_secret_report")
    return {row["cluster"]: row for row in report["clusters"]}


def recap(finished: Finished) -> dict[str, int]:
    """The numbers of the play recap."""
    found = re.search(r"^localhost\s+:\s+(.*)$", finished.stdout, re.MULTILINE)
    assert found, finished.output
    return {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", found.group(1))}
