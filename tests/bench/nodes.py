# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``python -m tests.bench.nodes``: the syncers on three real nodes (needs root and Go).

First, the time from a change of ``global-pull-secret`` in the API server to ``config.json`` on each node. It has
``restart: never``, because 200 changes with restarts would take too long. Then a roll-out with one restart slot:
its duration, and the maximum number of kubelets that were down or not yet known to be healthy at the same time.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conftest import ROOT  # which makes the collection importable
from tests.bench.figures import Goal, conclude, spread, stamp
from tests.bench.syncer import GOAL_RSS
from tests.lab.nodes.cluster import cluster_lab
from tests.lab.nodes.node import Node
from tests.lab.supervisor import wait_until
from tests.support.docker_configs import encoded
from tests.support.tenant import Tenant

GLOBAL = "/api/v1/namespaces/kube-system/secrets/global-pull-secret"
GOAL_P99 = 250.0
WINDOW = 12
LIMIT = 120.0
_TIMES = ("ActiveExitTimestampMonotonic", "ActiveEnterTimestampMonotonic")


def content(number: int) -> str:
    auth = encoded(f"robot:example-password-{number}")
    return encoded(json.dumps({"auths": {"registry.example.com": {"auth": auth}}}))


def change(tenant: Tenant, number: int) -> None:
    tenant.cluster.api.merge(GLOBAL, {"data": {".dockerconfigjson": content(number)}})


def latency(tenant: Tenant, number: int) -> list[float]:
    """Return the milliseconds from the beginning of the call until each node has the file."""
    paths = [node.root / "var/lib/kubelet/config.json" for node in tenant.cluster.nodes]
    before = [stamp(path) for path in paths]
    started = time.perf_counter()
    change(tenant, number)
    took: dict[int, float] = {}
    while len(took) < len(paths):
        for at, path in enumerate(paths):
            if at not in took and stamp(path) != before[at]:
                took[at] = (time.perf_counter() - started) * 1000
        if time.perf_counter() - started > LIMIT:
            raise RuntimeError("a node has not written the file")
        time.sleep(0.0005)
    return [took[at] for at in range(len(paths))]


def resident() -> list[int]:
    """Return the memory of each syncer on this machine in KiB."""
    found = []
    for directory in Path("/proc").iterdir():
        if not directory.name.isdecimal():
            continue
        try:
            if b"/opt/syncer/main" not in (directory / "cmdline").read_bytes():
                continue
            status = (directory / "status").read_text()
        except OSError:
            continue
        found.append(int(status.split("VmRSS:")[1].split()[0]))
    return sorted(found)


def times(node: Node) -> list[int]:
    """Return when kubelet was last stopped and started, in microseconds of the monotonic clock."""
    shown = node.run(["systemctl", "show", "kubelet", *(f"--property={name}" for name in _TIMES)], check=True)
    values = dict(line.split("=", 1) for line in shown.stdout.splitlines())
    return [int(values[name]) for name in _TIMES]


def most_down(intervals: list[list[int]]) -> int:
    """Return the maximum number of intervals (from, to) that overlap at the same time."""
    return max(sum(begin <= at < end for begin, end in intervals) for at, _end in intervals)


def roll_out(tenant: Tenant, number: int) -> dict[str, Any]:
    before = [times(node) for node in tenant.cluster.nodes]
    started = time.perf_counter()
    change(tenant, number)
    wait_until(lambda: in_sync(tenant), "all nodes report", LIMIT * 2)
    took = time.perf_counter() - started
    after = [times(node) for node in tenant.cluster.nodes]
    if any(one[0] <= other[0] for one, other in zip(after, before, strict=True)):
        raise RuntimeError("a kubelet was not restarted")
    return {
        "seconds": round(took, 1),
        # A syncer keeps its slot until its kubelet has been healthy for the window.
        "most_kubelets_down_at_once": most_down([[begin, end + WINDOW * 1_000_000] for begin, end in after]),
        "down_ms": [round((end - begin) / 1000) for begin, end in after],
    }


def in_sync(tenant: Tenant) -> bool:
    version = tenant.cluster.api.get(GLOBAL)["metadata"]["resourceVersion"]
    return tenant.reported(version)


def deploy(tenant: Tenant, **options: Any) -> None:
    tenant.run(**options)
    wait_until(lambda: _is_rolled_out(tenant), "the syncers run", LIMIT)
    wait_until(lambda: in_sync(tenant), "all nodes report", LIMIT)


def _is_rolled_out(tenant: Tenant) -> bool:
    path = "/apis/apps/v1/namespaces/kube-system/daemonsets/global-pull-secret-syncer"
    found = tenant.cluster.api.get(path)
    status: Mapping[str, Any] = found["status"]
    nodes = len(tenant.cluster.nodes)
    return (
        status.get("observedGeneration") == found["metadata"]["generation"]
        and status.get("updatedNumberScheduled") == status.get("numberReady") == nodes
    )


def measure(changes: int, directory: Path) -> dict[str, Any]:
    with cluster_lab(3) as cluster:
        tenant = Tenant(cluster, directory)
        tenant.additional("example-tenant")
        deploy(tenant, restart="never")
        taken = [latency(tenant, number) for number in range(1, changes + 1)]
        every = [value for one in taken for value in one]
        found: dict[str, Any] = {
            "nodes": len(cluster.nodes),
            "changes": changes,
            "restart": "never",
            "api_call_to_file_ms": spread(every),
            "all_nodes_ms": spread([max(one) for one in taken]),
        }
        deploy(tenant, restart="on_change", max_restarting="1", health_window=WINDOW)
        found["roll_out"] = roll_out(tenant, changes + 1)
        # After a restart, the syncer has loaded D-Bus.
        found["syncer_rss_kib"] = resident()
        return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.nodes", description=__doc__)
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--results", type=Path, default=ROOT / "bench-results")
    options = parser.parse_args()
    if os.geteuid():
        print("bench: real nodes need root", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="pull-secret-nodes-") as text:
        found = measure(options.changes, Path(text))
    goals = [
        Goal("API call to file, p99", found["api_call_to_file_ms"]["p99"], GOAL_P99, "ms"),
        Goal("memory of a syncer", max(found["syncer_rss_kib"]), GOAL_RSS, "KiB"),
        Goal("kubelets down at the same time", found["roll_out"]["most_kubelets_down_at_once"], 1),
    ]
    conclude(options.results, "nodes", found, goals)
    return 0


if __name__ == "__main__":
    sys.exit(main())
