# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Real nodes, one or three, that the module is run against."""

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
    """Two nodes for the two ways of asking systemd: the first over D-Bus, the second by systemctl."""
    world = World(nodes[:2], ansible, tmp_path)
    world.give_jeepney()
    return world


@pytest.fixture
def fleet(nodes: list[Node], ansible: Ansible, tmp_path: Path) -> World:
    return World(nodes, ansible, tmp_path)
