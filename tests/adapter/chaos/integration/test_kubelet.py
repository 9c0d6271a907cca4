# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The stand-ins for kubelet and controllers in the chaos tests: a defect in them would look like the adapter's."""

from __future__ import annotations

import time
from pathlib import Path

from tests.adapter.chaos.kubelet import Kubelet
from tests.adapter.chaos.world import ChaosWorld
from tests.adapter.world import NAMESPACE
from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.secret_manager import SecretManagerLab


def test_a_pod_that_is_created_during_its_jobs_deletion_does_not_block_it(
    hyperfleet: HyperFleetLab, kubernetes: KubernetesLab, secret_manager: SecretManagerLab, tmp_path: Path
) -> None:
    """Otherwise the cluster would be reported as EarlierJobEnding for ever."""
    world = ChaosWorld(hyperfleet, kubernetes, secret_manager, tmp_path)
    cluster = world.cluster()
    world.one(cluster)
    name = f"pullsecret-{cluster}-gen1"
    world.playing.run(name, node="node-1")
    path = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/{name}"
    world.request("DELETE", path, {"propagationPolicy": "Foreground"}, "application/json")
    world.playing._make_pod(name)
    with Kubelet(world, tmp_path):
        deadline = time.monotonic() + 20
        while world.admin.items(NAMESPACE, "jobs") or world.admin.items(NAMESPACE, "pods"):
            assert time.monotonic() < deadline, "the Job and its pods must be deleted"
            time.sleep(0.05)
