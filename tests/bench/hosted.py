# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``python -m tests.bench.hosted``: many hosted clusters in one run, and one whose many nodes report.

One API server is the management cluster and all hosted clusters, which are namespaces of it. An ``idle``
cluster has no additional secret, as most have none; a ``merged`` one has.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.bench.hosted_fleet import THREADS, Client, HostedFleet
from tests.bench.lab import ROOT, BenchLab
from tests.bench.measure import CommandFailed, machine_cpu, own_cpu
from tests.bench.report import machine, table
from tests.bench.runs import Bench, Run
from tests.lab.kubernetes.hypershift import serve_hosted_control_planes
from tests.lab.supervisor import LabError

_PLAYBOOK = "hyperfleet.pull_secret.hosted_cluster"
_SYNCERS = 16
_STATUS = "global-pull-secret-status"


class Hosted(Bench):
    """The runs over fleets of hosted clusters."""

    def fleet(self, fleet: HostedFleet, steps: Sequence[tuple[str, int]], *, change: int = 0) -> None:
        """Run the playbook once a step; a step is its name and how many clusters it has to change."""
        fleet.write()
        self._lab.calls()
        for step, changed in steps:
            if step.endswith("changed"):
                fleet.change(change)
                self._lab.calls()
            program = Path(sys.executable).with_name("ansible-playbook")
            command: list[str | Path] = [program, _PLAYBOOK, "-e", f"@{fleet.variables}"]
            log = self._run("collection", fleet, step, command, self._lab.environment())
            told = f"{fleet.size} clusters: {changed} changed, 0 failed"
            if told not in log.read_text():
                raise RuntimeError(f"{step}: not told {told}:\n{log.read_text()[-800:]}")


def reports(
    lab: BenchLab, client: Client, directory: Path, nodes: int, progress: Callable[[str], None]
) -> Any:
    """A run that waits for many nodes, each of whose syncers reports twice (pending, then in-sync)."""
    fleet = HostedFleet(directory, client, 1, "wide", additional=True)
    fleet.write()
    names = [f"node-{index:04d}.region-1.compute.internal.example.com" for index in range(nodes)]
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda name: client.make("/api/v1/nodes", {"metadata": {"name": name}}), names))
    bench = Hosted(directory, lab, lambda dummy: None)
    at = "/api/v1/namespaces/hosted-wide-00000"
    took: list[float] = []
    sizes: list[int] = []

    def say(name: str, version: str, state: str, message: str) -> None:
        entry = json.dumps({"resourceVersion": version, "state": state, "message": message})
        started = time.monotonic()
        status, dummy = client.call(
            "PATCH", f"{at}/configmaps/{_STATUS}", {"data": {name: entry}}, "application/merge-patch+json"
        )
        if status != 200:
            raise RuntimeError(f"a report: HTTP {status}")
        took.append(time.monotonic() - started)

    def follow() -> None:
        """All syncers, a few at a time as their connections are served."""
        version = None
        while version is None:
            status, secret = client.call("GET", f"{at}/secrets/global-pull-secret")
            version = secret["metadata"]["resourceVersion"] if status == 200 else None
            time.sleep(0.02)
        while client.call("GET", f"{at}/configmaps/{_STATUS}")[0] != 200:
            time.sleep(0.02)
        with ThreadPoolExecutor(_SYNCERS) as pool:
            waiting = "waits for a restart slot; others restart first " * 8
            list(pool.map(lambda name: say(name, version, "pending", waiting), names))
            sizes.append(len(json.dumps(client.call("GET", f"{at}/configmaps/{_STATUS}")[1])))
            list(pool.map(lambda name: say(name, version, "in-sync", ""), names))
        ended.append(time.monotonic())

    ended: list[float] = []
    thread = threading.Thread(target=follow)
    thread.start()
    lab.calls()
    before = machine_cpu(), own_cpu()
    extra = ["-e", "wait=true", "-e", "rollout_timeout=250"]
    program = Path(sys.executable).with_name("ansible-playbook")
    bench._run(
        "collection",
        fleet,
        "wait",
        [program, _PLAYBOOK, "-e", f"@{fleet.variables}", *extra],
        lab.environment(),
    )
    over = time.monotonic()
    thread.join()
    run = bench.runs[-1]
    took.sort()
    found = {
        "nodes": nodes,
        "status_bytes": sizes[0],
        "report_ms_p50": round(took[len(took) // 2] * 1000, 1),
        "report_ms_p99": round(took[int(len(took) * 0.99)] * 1000, 1),
        "reports": len(took),
        "seconds_from_the_last_report_to_the_end": round(over - ended[0], 2),
        "run_seconds": round(run.usage.wall, 2),
        "run_cpu_seconds": round(run.usage.cpu, 2),
        "run_mib": round(run.usage.peak_tree / 2**20),
        "machine_cpu_seconds": round(machine_cpu() - before[0], 2),
    }
    progress(json.dumps(found))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.hosted", description=__doc__)
    parser.add_argument(
        "--merged", type=int, nargs="*", default=[1000], help="sizes of fleets with tenants' secrets"
    )
    parser.add_argument("--idle", type=int, nargs="*", default=[1000, 10_000], help="and of fleets without")
    parser.add_argument("--nodes", type=int, default=500, help="of one cluster; 0 leaves it out")
    parser.add_argument("--lab", choices=["stand-in", "real"], default="stand-in", help="which API server")
    parser.add_argument("--results", type=Path, default=ROOT / "bench-results")
    options = parser.parse_args()
    about, runs, wide = machine(), [], None
    try:
        for kind, sizes in (("merged", options.merged), ("idle", options.idle)):
            for size in sizes:
                runs += _measure(kind, size, real=options.lab == "real")
        if options.nodes:
            with tempfile.TemporaryDirectory(prefix="pull-secret-bench-") as text:
                directory = Path(text)
                with BenchLab(directory, real=options.lab == "real") as lab:
                    client = _prepared(lab)
                    wide = reports(lab, client, directory, options.nodes, print)
    except (CommandFailed, LabError, RuntimeError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    if runs:
        print("", *table(runs), sep="\n")
    options.results.mkdir(parents=True, exist_ok=True)
    path = options.results / f"hosted-{about['time'].replace(':', '')}.json"
    content = {"about": about, "runs": [run.as_json() for run in runs], "reports": wide}
    path.write_text(json.dumps(content, indent=2) + "\n")
    print(f"\n{path}")
    return 0


def _measure(kind: str, size: int, *, real: bool) -> list[Run]:
    """One fleet in a lab of its own."""
    with tempfile.TemporaryDirectory(prefix="pull-secret-bench-") as text:
        directory = Path(text)
        with BenchLab(directory, real=real) as lab:
            client = _prepared(lab)
            bench = Hosted(directory, lab, lambda run: _progress(kind, run))
            fleet = HostedFleet(directory, client, size, kind, additional=kind == "merged")
            if kind == "idle":
                bench.fleet(fleet, [("idle", 0)])
            else:
                some = max(1, size // 100)
                steps = [("first", size), ("no-op", 0), ("1 % changed", len(range(0, size, size // some)))]
                bench.fleet(fleet, steps, change=some)
            return bench.runs


def _prepared(lab: BenchLab) -> Client:
    client = Client(lab)
    serve_hosted_control_planes(lambda method, at, body: int(client.call(method, at, body)[0]))
    return client


def _progress(kind: str, run: Run) -> None:
    calls = sum(run.calls.values()) / run.clusters
    print(
        f"  {kind}, {run.clusters:,} clusters, {run.step}: {run.usage.wall:.1f} s,"
        f" {calls:.1f} calls a cluster, {run.usage.peak_tree >> 20} MiB, other CPU {run.other_cpu:.1f} s",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
