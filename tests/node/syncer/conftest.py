# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A stand-in API server and its nodes for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.node.syncer.unit.fleet import Fleet
from tests.node.syncer.world import Cluster, NodeUnderTest
from tests.stand_ins.kubernetes.lab import KubernetesLab

NewNode = Callable[..., NodeUnderTest]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with KubernetesLab() as lab:
        yield Cluster(lab)


@pytest.fixture
def fleet(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fleet:
    """Syncers in a time that jumps."""
    return Fleet(cluster, tmp_path, monkeypatch)


@pytest.fixture
def new_node(cluster: Cluster, tmp_path: Path) -> Iterator[NewNode]:
    """Makes a node with a syncer that has not been started."""
    made: list[NodeUnderTest] = []

    def make(name: str = "node-1", **environ: Any) -> NodeUnderTest:
        made.append(NodeUnderTest(cluster, tmp_path, name, **environ))
        return made[-1]

    yield make
    for node in made:
        node.stop()
        # Pytest shows it with a test that failed.
        print(node.name, *node.log, sep="\n")
