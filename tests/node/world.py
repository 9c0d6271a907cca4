# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real node with something in kubelet's place, and the module that is run against it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jeepney

from tests.lab.nodes import Node, ansible_environment, write_inventory
from tests.lab.supervisor import wait_until
from tests.node.unit.support import auth
from tests.support.processes import Ansible, Finished

UNIT = "kubelet.service"
DIRECTORY = "/var/lib/kubelet"
FILE = f"{DIRECTORY}/config.json"
LEDGER, BACKUP = f"{FILE}.hyperfleet", f"{FILE}.hyperfleet-backup"
BAD = "bad.example"
# Long enough for a crash after two seconds; the default of 12 s is for kubeadm's RestartSec.
WINDOW = 3.0
FAST = {"window": WINDOW, "ready_timeout": 5.0, "backoff": 0.1, "restart_timeout": 20.0, "attempts": 2}


# Takes away what runs the stand-in while its file is bad: execve itself then fails.
_MISSING = (
    "ExecStartPre=/bin/ln -sf /usr/bin/python3 {binary}\n"
    "ExecStartPre=/bin/sh -c 'if grep -qs {bad} {file}; then rm {binary}; fi'"
)
# What kubelet can be made to need.
_NEEDED = "[Unit]\nStartLimitIntervalSec=0\n[Service]\nType=oneshot\nExecStart=/bin/test -e {flag}\n"


# Of each of them, whatever its registry.
_SECRET = ("example-password", auth("")["auth"][:28])


def assert_silent(output: str) -> None:
    """No secret is in it, as it is or as it stands in a docker config."""
    for form in _SECRET:
        assert form not in output


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
        """A kubelet on every node; ``mode``: of ``fake_kubelet.py``, or ``missing``: no such program."""
        binary = "/usr/bin/python3"
        if mode == "missing":
            binary = "/usr/local/bin/kubelet"
            extra = _MISSING.format(bad=BAD, file=FILE, binary=binary) + f"\n{extra}"
        program = (Path(__file__).parent / "fake_kubelet.py").read_text()
        for node in self.nodes:
            node.write("/usr/local/bin/fake-kubelet", program)
            node.run(["mkdir", "-p", "-m", "0700", DIRECTORY], check=True)
            node.install_unit(
                UNIT,
                f"[Unit]\n{unit}\n[Service]\nType={kind}\nRestart=always\nRestartSec=10\nTimeoutStartSec=3\n"
                f"ExecStart={binary} /usr/local/bin/fake-kubelet {mode}\n{extra}\n",
            )
            node.run(["systemctl", "start", UNIT], check=True)

    def install_needing(self, flag: str) -> None:
        """A kubelet that needs another unit, which fails without the file ``flag``; the file is there."""
        for node in self.nodes:
            node.install_unit("needed.service", _NEEDED.format(flag=flag))
        self.everywhere("touch", flag)
        self.install(unit="Requires=needed.service\nAfter=needed.service")

    def everywhere(self, *command: str) -> None:
        """Run the command on each node; it has to succeed."""
        for node in self.nodes:
            node.run(command, check=True)

    def mount(self, size: str) -> None:
        """A small file system of its own for kubelet's directory."""
        self.everywhere("mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", DIRECTORY)

    @contextmanager
    def during_the_restart(self, *command: str) -> Iterator[None]:
        """Run the command on each node once its kubelet is in the middle of the restart that is within."""

        def work(node: Node, before: tuple[str, str]) -> None:
            def is_under_way() -> bool:
                now = self.kubelet(node)
                return now != before and now[0] == "activating"

            wait_until(is_under_way, f"the restart of kubelet on {node.name}", seconds=180, pause=0.02)
            node.run(command, check=True)

        with ThreadPoolExecutor() as pool:
            works = [pool.submit(work, node, self.kubelet(node)) for node in self.nodes]
            yield
            for each in works:
                each.result()

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
        told = (node or self.node).run(["ls", "-A", DIRECTORY], check=True).stdout
        return sorted(told.split())

    def ledger(self, node: Node | None = None) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((node or self.node).read(LEDGER))
        return found

    def kubelet(self, node: Node | None = None) -> tuple[str, str]:
        """What is running: ActiveState and InvocationID."""
        told = (node or self.node).show(UNIT, "ActiveState", "InvocationID")
        return told["ActiveState"], told["InvocationID"]
