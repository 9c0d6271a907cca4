# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fixtures for all tests of nodes (a plugin of the root conftest.py): one lab, nodes as they were first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # every pytest process reads this file, few of them have nodes
    from tests.lab.nodes.cluster import ClusterLab
    from tests.lab.nodes.lab import NodeLab
    from tests.lab.nodes.node import Node


class Reused:
    """Booted nodes that are given as new: those that a test had are booted again before the next has them."""

    def __init__(self, lab: NodeLab) -> None:
        self._lab = lab
        self._used: set[Node] = set()

    def give(self, count: int) -> list[Node]:
        nodes = self._lab.nodes[:count]
        self._lab.reset([node for node in nodes if node in self._used or not node.is_up()])
        self._used.update(nodes)
        return nodes


@pytest.fixture(scope="session")
def plain_nodes() -> Iterator[Reused]:
    """Three plain nodes for the time of the session."""
    from tests.lab.nodes.lab import node_lab

    with node_lab(3) as lab:
        yield Reused(lab)


@pytest.fixture
def nodes(plain_nodes: Reused) -> list[Node]:
    """Three nodes with systemd, D-Bus and Python, as they were first booted."""
    return plain_nodes.give(3)


@pytest.fixture
def node(plain_nodes: Reused) -> Node:
    """One such node."""
    return plain_nodes.give(1)[0]


@pytest.fixture(scope="session")
def cluster_nodes() -> Iterator[ClusterLab]:
    """A hosted cluster of three real nodes, its management cluster and a registry, for the session."""
    from tests.lab.nodes.cluster import cluster_lab

    with cluster_lab(3) as world:
        yield world


@pytest.fixture
def cluster(cluster_nodes: ClusterLab) -> Iterator[ClusterLab]:
    """The same, without what the test before it did."""
    yield cluster_nodes
    cluster_nodes.tidy()
