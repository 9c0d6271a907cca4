# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All playbooks with variables with which they would do work, and the calls that a run makes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.secret_manager.lab import SecretManagerLab
from tests.support.adapter_jobs.documents import document as adapter_config
from tests.support.processes import Ansible, Finished

# A part of values with an error elsewhere: no message may quote it.
CANARY = "example-canary-f81c"
DOCUMENT = {"auths": {"quay.io": {"username": "robot", "password": CANARY}}}


class World:
    """The stand-ins, and right variables for each playbook."""

    def __init__(
        self,
        kubernetes: KubernetesLab,
        manager: SecretManagerLab,
        hyperfleet: HyperFleetLab,
        ansible: Ansible,
        directory: Path,
    ) -> None:
        self.kubernetes = kubernetes
        self.manager = manager
        self.hyperfleet = hyperfleet
        self.ansible = ansible
        self.directory = directory
        kubernetes.store.create_namespace("clusters-cls-1")
        self.kubelet = directory / "kubelet.json"
        source = directory / "source.json"
        source.write_text(json.dumps(DOCUMENT))
        self.inventory = directory / "inventory.json"
        self._inventory({})
        config = directory / "adapter.json"
        config.write_text(json.dumps(adapter_config(hyperfleetAPI=None)))
        ansible.env.update(
            KUBECONFIG=str(kubernetes.kubeconfig(directory / "kubeconfig")),
            SECRET_MANAGER_EMULATOR_HOST=manager.grpc,
            HYPERFLEET_API_URL=hyperfleet.url,
            CLUSTER_ID="cls-1",
            CLUSTER_NAME="one",
            GCP_PROJECT_ID="customer-prod-12345",
            MANAGEMENT_NAMESPACE="clusters-cls-1",
            PULL_SECRET_DATA=json.dumps(DOCUMENT),
        )
        stored = {
            "cluster_id": "cls-1",
            "management_namespace": "clusters-cls-1",
            "gcp_project_id": "customer-prod-12345",
        }
        self.usual: dict[str, dict[str, Any]] = {
            "adapter": {"adapter_config": str(config), "cluster_ids": ["cls-1"]},
            "guest_cluster": {
                "guest_cluster_source": {"file": str(source)},
                "guest_cluster_namespace_pattern": "clusters-.*",
            },
            "hosted_cluster": {
                "cluster_id": "cls-1",
                "control_plane_namespace": "clusters-cls-1",
                "syncer_image": "registry.example.com/syncer:1",
            },
            "inspect": stored,
            "job": {},
            "node": {
                "node_source": {"file": str(source)},
                "node_path": str(self.kubelet),
                "node_restart": "never",
            },
            "provision": {**stored, "source": {"file": str(source)}},
            "reconcile": {"adapter_config": str(config)},
        }

    def _inventory(self, variables: dict[str, Any]) -> None:
        local = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
        hosts = {"node-1": local, "localhost": local}
        document = {
            "all": {"hosts": hosts, "vars": variables, "children": {"nodes": {"hosts": {"node-1": {}}}}}
        }
        self.inventory.write_text(json.dumps(document))

    def run(
        self, playbook: str, extra: dict[str, Any], *, inventory: dict[str, Any] | None = None
    ) -> Finished:
        """Run the playbook with its usual variables and these, some of them in the inventory."""
        self._inventory(inventory or {})
        return self.ansible.playbook(
            f"hyperfleet.pull_secret.{playbook}",
            {**self.usual[playbook], **extra},
            flags=["-i", str(self.inventory)],
        )

    def nothing_was_reached(self) -> bool:
        """Return whether no service has received a request, and no node's file was written."""
        calls = (
            self.manager.calls.count() + len(self.kubernetes.calls) + len(self.hyperfleet.calls.matching())
        )
        return calls == 0 and not self.kubelet.exists()
