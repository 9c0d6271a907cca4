# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The stand-ins for kubelet and controllers in the chaos tests: a defect in them would look like the adapter's."""

from __future__ import annotations

from pathlib import Path

from tests.adapter.chaos.kubelet import Kubelet
from tests.adapter.chaos.world import ChaosWorld
from tests.adapter.world import NAMESPACE
from tests.lab.supervisor import wait_until


def test_a_pod_that_is_created_during_its_jobs_deletion_does_not_block_it(
    world: ChaosWorld, tmp_path: Path
) -> None:
    """Otherwise the cluster would be reported as EarlierJobEnding for ever."""
    cluster = world.cluster()
    world.one(cluster)
    name = f"pullsecret-{cluster}-gen1"
    world.playing.run(name, node="node-1")
    path = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/{name}"
    world.request("DELETE", path, {"propagationPolicy": "Foreground"}, "application/json")
    world.playing._make_pod(name)
    with Kubelet(world, tmp_path):
        wait_until(
            lambda: not world.admin.items(NAMESPACE, "jobs") + world.admin.items(NAMESPACE, "pods"),
            "the Job and its pods are deleted",
            20,
        )
