# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ansible on the lab's nodes: the connection plugin reaches the nodes and never the host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.lab.nodes import Node, ansible_environment, write_inventory
from tests.lab.nodes.inventory import inventory
from tests.lab.supervisor import LabError

pytestmark = pytest.mark.real("nodes")

ANSIBLE = str(Path(sys.executable).with_name("ansible"))


def ansible(inventory_file: Path, module: str, arguments: str = "") -> subprocess.CompletedProcess[str]:
    command = [ANSIBLE, "all", "-i", str(inventory_file), "-m", module, "-a", arguments]
    env = {**os.environ, **ansible_environment()}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def write(path: Path, document: dict[str, Any]) -> Path:
    path.write_text(json.dumps(document))
    return path


def test_a_task_runs_on_each_node(nodes: list[Node], tmp_path: Path) -> None:
    done = ansible(write_inventory(tmp_path / "hosts", nodes), "ansible.builtin.command", "hostname")
    assert done.returncode == 0, done.stdout + done.stderr
    for node in nodes:
        assert f"{node.name} | CHANGED | rc=0 >>\n{node.name}\n" in done.stdout


def test_files_go_there_and_back(node: Node, tmp_path: Path) -> None:
    sent = tmp_path / "sent"
    sent.write_text("text with 'quotes' and \"more\"\n")
    hosts = write_inventory(tmp_path / "hosts", [node])
    there = ansible(hosts, "ansible.builtin.copy", f"src={sent} dest=/root/file")
    assert there.returncode == 0, there.stdout + there.stderr
    assert node.read("/root/file") == sent.read_text()
    back = ansible(hosts, "ansible.builtin.fetch", f"src=/root/file dest={tmp_path}/back flat=true")
    assert back.returncode == 0, back.stdout + back.stderr
    assert (tmp_path / "back").read_text() == sent.read_text()


def test_a_module_leaves_no_file_behind_its_pipe(node: Node, tmp_path: Path) -> None:
    hosts = write_inventory(tmp_path / "hosts", [node])
    done = ansible(hosts, "ansible.builtin.command", "hostname")
    assert done.returncode == 0, done.stdout + done.stderr
    assert node.run(["ls", "/root/.ansible"]).returncode != 0


@pytest.mark.parametrize("leader", [None, 0, 1, os.getpid()], ids=["none", "0", "1", "ours"])
def test_the_host_itself_is_refused(node: Node, tmp_path: Path, leader: int | None) -> None:
    document = inventory([node])
    variables = document["nodes"]["hosts"][node.name]
    if leader is None:
        del variables["ansible_lab_node_leader"]
    else:
        variables["ansible_lab_node_leader"] = leader
    mark = tmp_path / "was-here"
    done = ansible(write(tmp_path / "hosts.yml", document), "ansible.builtin.command", f"touch {mark}")
    assert done.returncode != 0
    assert not mark.exists()
    expected = "not the first of a node" if leader is not None else "Required config"
    assert expected in done.stdout + done.stderr


def test_an_inventory_names_no_node_that_is_down(node: Node) -> None:
    node.stop()
    with pytest.raises(LabError, match="is not up"):
        inventory([node])
