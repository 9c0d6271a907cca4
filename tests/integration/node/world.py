# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real node with something in kubelet's place, and the module that is run against it."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path
from typing import Any

import jeepney

from tests.integration.processes import Ansible, Finished
from tests.lab.nodes import Node, ansible_environment, write_inventory

UNIT = "kubelet.service"
FILE = "/var/lib/kubelet/config.json"
LEDGER, BACKUP = f"{FILE}.hyperfleet", f"{FILE}.hyperfleet-backup"
BAD = "bad.example"
# Long enough for a crash after two seconds; the default of 12 s is for kubeadm's RestartSec.
WINDOW = 3.0
FAST = {"window": WINDOW, "ready_timeout": 5.0, "backoff": 0.1, "restart_timeout": 20.0, "attempts": 2}


def auth(text: str) -> dict[str, str]:
    return {"auth": base64.b64encode(f"robot:example-password-{text}".encode()).decode()}


def document(*registries: str) -> dict[str, Any]:
    return {"auths": {name: auth(name) for name in registries}}


class World:
    """One test's nodes; all of them have a kubelet that is well."""

    def __init__(self, nodes: list[Node], ansible: Ansible, directory: Path) -> None:
        self.nodes = nodes
        self.ansible = ansible
        self.directory = directory
        ansible.env.update(ansible_environment())
        self.inventory = write_inventory(directory / "inventory", nodes)

    @property
    def node(self) -> Node:
        return self.nodes[0]

    def install(self, mode: str = "well", *, kind: str = "notify", extra: str = "", unit: str = "") -> None:
        """A kubelet on every node, started with no file of ours."""
        program = (Path(__file__).parent / "fake_kubelet.py").read_text()
        for node in self.nodes:
            node.write("/usr/local/bin/fake-kubelet", program)
            node.run(["mkdir", "-p", "-m", "0700", "/var/lib/kubelet"], check=True)
            node.install_unit(
                UNIT,
                f"[Unit]\n{unit}\n[Service]\nType={kind}\nRestart=always\nRestartSec=10\nTimeoutStartSec=3\n"
                f"ExecStart=/usr/bin/python3 /usr/local/bin/fake-kubelet {mode}\n{extra}\n",
            )
            node.run(["systemctl", "start", UNIT], check=True)

    def give_jeepney(self) -> None:
        """Put jeepney on the first node, which then speaks D-Bus: pure Python, nothing to install."""
        source = Path(jeepney.__file__).parent
        target = self.node.root / "usr/lib/python3/dist-packages/jeepney"
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "tests"))

    def sync(self, *registries: str, flags: tuple[str, ...] = (), **options: Any) -> Finished:
        """Run the module on all nodes, with a docker config of these registries as its source."""
        wanted: dict[str, Any] = {**FAST, **options}
        if wanted.get("state", "present") == "present":
            source = self.directory / "source.json"
            source.write_text(json.dumps(document(*registries)))
            wanted["source"] = {"file": str(source)}
        play = [
            {
                "hosts": "nodes",
                "gather_facts": False,
                "tasks": [{"name": "sync", "hyperfleet.pull_secret.kubelet_auth_sync": wanted}],
            }
        ]
        return self.play(play, *flags)

    def play(self, play: Any, *flags: str) -> Finished:
        path = self.directory / "play.yml"
        path.write_text(json.dumps(play))
        return self.ansible.playbook(str(path), flags=["-i", str(self.inventory), *flags])

    def put(self, content: Any, mode: int = 0o600) -> None:
        for node in self.nodes:
            node.write(FILE, content if isinstance(content, str) else json.dumps(content), mode)

    def auths(self, node: Node | None = None) -> set[str]:
        return set(json.loads((node or self.node).read(FILE))["auths"])

    def beside(self, node: Node | None = None) -> list[str]:
        told = (node or self.node).run(["ls", "-A", "/var/lib/kubelet"], check=True).stdout
        return sorted(told.split())

    def ledger(self, node: Node | None = None) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((node or self.node).read(LEDGER))
        return found

    def kubelet(self, node: Node | None = None) -> tuple[str, str]:
        """What is running: ActiveState and InvocationID."""
        told = (node or self.node).show(UNIT, "ActiveState", "InvocationID")
        return told["ActiveState"], told["InvocationID"]
