# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``python -m tests.bench.hosted``: many hosted clusters in one run, and one hosted cluster with many nodes.

One API server is the management cluster and all hosted clusters, which are its namespaces. Like most clusters, an
``idle`` cluster has no additional secret; a ``merged`` cluster has one.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.bench.figures import Goal, conclude, spread
from tests.bench.hosted_fleet import THREADS, Client, HostedFleet
from tests.bench.lab import ROOT, BenchLab
from tests.bench.measure import CommandFailed
from tests.bench.report import table
from tests.bench.runs import Bench, Run
from tests.lab.supervisor import LabError
from tests.stand_ins.kubernetes.hypershift import serve_hosted_control_planes

_PLAYBOOK = "hyperfleet.pull_secret.hosted_cluster"
_SYNCERS = 16
_STATUS = "global-pull-secret-status"
_MERGE_PATCH = "application/merge-patch+json"
# Goals: calls for an unchanged cluster, MiB of all processes, and KiB of the status object (its limit is 1 MiB).
_CALLS = {"idle": 6.0, "no-op": 12.0}
_PEAK_MIB = 512.0
_STATUS_KIB = 512.0


class Hosted(Bench):
    """Runs for fleets of hosted clusters."""

    def run_playbook(self, fleet: HostedFleet, step: str, changed: int, *more: str) -> None:
        """Run the playbook.

        :raises RuntimeError: it changed more or fewer clusters than ``changed``, or a cluster failed.
        """
        self._lab.calls()
        program = Path(sys.executable).with_name("ansible-playbook")
        command: list[str | Path] = [program, _PLAYBOOK, "-e", f"@{fleet.variables}", *more]
        log = self._run("collection", fleet, step, command, self._lab.environment())
        plural = "" if fleet.size == 1 else "s"
        told = f"{fleet.size} cluster{plural}: {changed} changed, 0 failed"
        if told not in log.read_text():
            raise RuntimeError(f"{step}: not told {told}:\n{log.read_text()[-800:]}")


class Syncers:
    """Writes the reports of one hosted cluster's syncers while a run waits for them: two reports per syncer."""

    def __init__(self, client: Client, namespace: str, nodes: int) -> None:
        self._client = client
        self._at = f"/api/v1/namespaces/{namespace}"
        self._names = [f"node-{index:04d}.region-1.compute.internal.example.com" for index in range(nodes)]
        self.took: list[float] = []
        self.again = self.size = 0
        self.ended = 0.0

    def join(self) -> None:
        """Create the nodes."""
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(self._node, self._names))

    def follow(self) -> None:
        """Write the reports as soon as the secret exists, a few at a time, as an API server serves connections."""
        version = None
        while version is None or self._status() is None:
            time.sleep(0.02)
            status, secret = self._client.call("GET", f"{self._at}/secrets/global-pull-secret")
            version = secret["metadata"]["resourceVersion"] if status == 200 else None
        with ThreadPoolExecutor(_SYNCERS) as pool:
            waiting = "waits for a restart slot; others restart first " * 8
            list(pool.map(lambda name: self._say(name, version, "pending", waiting), self._names))
            self.size = len(json.dumps(self._status()))
            list(pool.map(lambda name: self._say(name, version, "in-sync", ""), self._names))
        self.ended = time.monotonic()

    def _node(self, name: str) -> None:
        self._client.make("/api/v1/nodes", {"metadata": {"name": name}})

    def _status(self) -> Any:
        status, found = self._client.call("GET", f"{self._at}/configmaps/{_STATUS}")
        return found if status == 200 else None

    def _say(self, name: str, version: str, state: str, message: str) -> None:
        entry = json.dumps({"resourceVersion": version, "state": state, "message": message})
        started = time.monotonic()
        while True:
            status, dummy = self._client.call(
                "PATCH", f"{self._at}/configmaps/{_STATUS}", {"data": {name: entry}}, _MERGE_PATCH
            )
            if status == 200:
                break
            if status not in (409, 429, 504):
                raise RuntimeError(f"a report: HTTP {status}")
            # If many clients write one object, the API server rejects some requests. Syncers try again.
            self.again += 1
            time.sleep(random.uniform(0.5, 2))
        self.took.append((time.monotonic() - started) * 1000)


def reports(lab: BenchLab, directory: Path, nodes: int) -> dict[str, Any]:
    """Measure a run that waits for many nodes."""
    client = _prepared(lab)
    fleet = HostedFleet(directory, client, 1, "wide", additional=True)
    fleet.write()
    syncers = Syncers(client, f"hosted-{fleet.identity(0)}", nodes)
    syncers.join()
    bench = Hosted(directory, lab, lambda dummy: None)
    thread = threading.Thread(target=syncers.follow)
    thread.start()
    waiting = ["-e", "wait=true", "-e", "rollout_timeout=250"]
    bench.run_playbook(fleet, "wait", 1, *waiting)
    over = time.monotonic()
    thread.join()
    usage = bench.runs[-1].usage
    return {
        "lab": bench.runs[-1].lab,
        "nodes": nodes,
        "status_bytes": syncers.size,
        "reports": len(syncers.took),
        "written_again": syncers.again,
        "report_ms": spread(syncers.took),
        "seconds_from_the_last_report_to_the_end": round(over - syncers.ended, 2),
        "run_seconds": round(usage.wall, 2),
        "run_cpu_seconds": round(usage.cpu, 2),
        "run_mib": usage.peak_tree >> 20,
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.hosted", description=__doc__)
    parser.add_argument("--merged", type=int, nargs="*", default=[1000], help="sizes of fleets with tenants")
    parser.add_argument("--idle", type=int, nargs="*", default=[1000, 10_000], help="sizes of idle fleets")
    parser.add_argument("--nodes", type=int, default=500, help="nodes of one cluster; 0 skips this part")
    parser.add_argument("--lab", choices=["stand-in", "real"], default="stand-in", help="which API server")
    parser.add_argument("--results", type=Path, default=ROOT / "bench-results")
    options = parser.parse_args()
    found: dict[str, Any] = {}
    runs: list[Run] = []
    real = options.lab == "real"
    try:
        for kind, sizes in (("merged", options.merged), ("idle", options.idle)):
            for size in sizes:
                with _lab(real) as (lab, directory):
                    runs += _measure(kind, size, lab, directory)
        if options.nodes:
            with _lab(real) as (lab, directory):
                found = {"reports": reports(lab, directory, options.nodes)}
    except (CommandFailed, LabError, RuntimeError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    if runs:
        print("", *table(runs), "", sep="\n")
    conclude(
        options.results, "hosted", {**found, "runs": [run.as_json() for run in runs]}, _goals(found, runs)
    )
    return 0


def _goals(found: dict[str, Any], runs: Sequence[Run]) -> list[Goal]:
    goals = []
    for run in runs:
        if run.step in _CALLS and run.calls:
            calls = round(sum(run.calls.values()) / run.clusters, 1)
            goals.append(Goal(f"calls a cluster, {run.step} of {run.clusters:,}", calls, _CALLS[run.step]))
        goals.append(
            Goal(f"memory, {run.step} of {run.clusters:,}", run.usage.peak_tree >> 20, _PEAK_MIB, "MiB")
        )
    if "reports" in found:
        size = found["reports"]["status_bytes"] / 1024
        goals.append(Goal("the reports of all nodes at their longest", round(size), _STATUS_KIB, "KiB"))
    return goals


@contextmanager
def _lab(real: bool) -> Iterator[tuple[BenchLab, Path]]:
    """Start a lab; yield it with a directory."""
    with (
        tempfile.TemporaryDirectory(prefix="pull-secret-bench-") as text,
        BenchLab(Path(text), real=real) as lab,
    ):
        yield lab, Path(text)


def _measure(kind: str, size: int, lab: BenchLab, directory: Path) -> list[Run]:
    client = _prepared(lab)
    bench = Hosted(directory, lab, lambda run: _progress(kind, run))
    fleet = HostedFleet(directory, client, size, kind, additional=kind == "merged")
    fleet.write()
    if kind == "idle":
        bench.run_playbook(fleet, "idle", 0)
    else:
        bench.run_playbook(fleet, "first", size)
        bench.run_playbook(fleet, "no-op", 0)
        bench.run_playbook(fleet, "1 % changed", fleet.change_originals(max(1, size // 100)))
    return bench.runs


def _prepared(lab: BenchLab) -> Client:
    client = Client(lab)
    serve_hosted_control_planes(client.call)
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
