# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lets Ansible reach nodes: an inventory that names each node's leader, and the way to the plugin."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.lab.nodes.node import Node, is_leader
from tests.lab.supervisor import LabError

ROOT = Path(__file__).resolve().parents[3]
CONNECTION_PLUGINS = Path(__file__).parent / "ansible" / "connection"


def host_vars(node: Node) -> dict[str, Any]:
    """The variables of one node; LabError for a node that is not up, which would name no process."""
    if not is_leader(node.leader):
        raise LabError(f"{node.name} is not up: an inventory cannot name it")
    return {
        "ansible_connection": "lab_node",
        "ansible_lab_node_leader": node.leader,
        "ansible_python_interpreter": node.python,
    }


def inventory(nodes: Iterable[Node], group: str = "nodes") -> dict[str, Any]:
    """The inventory in the form of YAML inventories: one group. A node that was reset needs a new one."""
    return {group: {"hosts": {node.name: host_vars(node) for node in nodes}}}


def write_inventory(path: Path, nodes: Iterable[Node], group: str = "nodes") -> Path:
    """Write the inventory (JSON, which is YAML, under a name that ends in .yml) and return its path."""
    target = path.with_suffix(".yml")
    target.write_text(json.dumps(inventory(nodes, group), indent=2) + "\n")
    return target


def ansible_environment() -> dict[str, str]:
    """What an ``ansible-playbook`` that uses the inventory needs in its environment."""
    return {
        "ANSIBLE_CONNECTION_PLUGINS": str(CONNECTION_PLUGINS),
        "ANSIBLE_PIPELINING": "true",
        "PYTHONPATH": str(ROOT),  # the plugin is made of this package
    }
