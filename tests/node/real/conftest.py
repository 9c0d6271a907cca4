# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One or three real nodes for the module."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.nodes import Node
from tests.node.world import World
from tests.support.processes import Ansible


@pytest.fixture
def world(node: Node, ansible: Ansible, tmp_path: Path) -> World:
    return World([node], ansible, tmp_path)


@pytest.fixture
def pair(nodes: list[Node], ansible: Ansible, tmp_path: Path) -> World:
    """Two nodes: the module asks the first one's systemd over D-Bus and the second one's with systemctl."""
    world = World(nodes[:2], ansible, tmp_path)
    world.give_jeepney()
    return world


@pytest.fixture
def fleet(nodes: list[Node], ansible: Ansible, tmp_path: Path) -> World:
    return World(nodes, ansible, tmp_path)
