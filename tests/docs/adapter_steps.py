# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of the adapter's examples."""

from __future__ import annotations

import json
from typing import Any

from tests.docs.world import World, auths, config
from tests.stand_ins.hyperfleet.api import Request
from tests.support.processes import Finished

CLUSTERS = [f"0198c0de-0000-7000-8000-00000000000{number}" for number in (1, 2)]
PROJECT = "customer-prod-12345"
CONFIG = """
apiVersion: hyperfleet.redhat.com/v1alpha1
kind: AdapterConfig
metadata: {name: pullsecret-adapter, namespace: hyperfleet-system}
spec:
  jobTemplate: {image: registry.example.com/pullsecret-job:1}
"""


def two_that_are_ready(world: World) -> None:
    """Placed, and with a pull secret each."""
    world.write("/etc/pullsecret-adapter/config.yaml", CONFIG)
    world.namespace("hyperfleet-system")
    data = config(quay_io="hyperfleet")
    spec = {"provider": "gcp", "gcp": {"projectId": PROJECT}, "pullSecret": {"data": data}}
    world.hyperfleet.store.seed([{"id": cluster, "name": "c", "spec": spec} for cluster in CLUSTERS])
    conditions = [
        {"type": kind, "status": "True", "reason": "Done"} for kind in ("Available", "Applied", "Health")
    ]
    for cluster in CLUSTERS:
        world.namespace(f"clusters-{cluster}")
        for adapter in ("validation", "dns", "placement"):
            report: dict[str, Any] = {"adapter": adapter, "observed_generation": 1, "conditions": conditions}
            report["data"] = {"namespace": f"clusters-{cluster}"}
            path = f"/api/hyperfleet/v1/clusters/{cluster}/statuses"
            body = json.dumps(report).encode()
            assert world.hyperfleet.answer(Request("PUT", path, "", {}, body))[0] == 201


def jobs_made(world: World, done: Finished) -> None:
    assert done.result["changed"]
    for cluster in CLUSTERS:
        assert world.management["mgmt-1"].store.find(
            "jobs", "hyperfleet-system", f"pullsecret-{cluster}-gen1"
        )
        assert _said(world, cluster)["Available"] == "False"


def stored_without_jobs(world: World, done: Finished) -> None:
    assert done.result["changed"]
    for cluster in CLUSTERS:
        assert world.versions(PROJECT, cluster) == [auths(quay_io="hyperfleet")]
        placed = world.placed(f"clusters-{cluster}", f"{cluster}-pull-secret")
        assert placed == auths(quay_io="hyperfleet")
        assert _said(world, cluster)["Available"] == "True"


def _said(world: World, cluster: str) -> dict[str, str]:
    """Our conditions of a cluster."""
    held = {report.adapter: report for report in world.hyperfleet.store.statuses(cluster)}
    return {one["type"]: one["status"] for one in held["pullsecret"].conditions}
