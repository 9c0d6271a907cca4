# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``python -m tests.bench.adapter_run``: one run of the playbook for many clusters, without a broker.

The Go programs take 6.4-9.1 ms of CPU per event if they apply one Secret, 4.6-6.7 ms if preconditions are not met,
and 19.5 ms for each run of the job, whose work ``inline`` includes.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.bench.figures import Goal, conclude
from tests.bench.lab import ROOT, BenchLab, start_stand_in
from tests.bench.measure import CommandFailed, measure
from tests.lab.supervisor import LabError

_PLAYBOOK = "hyperfleet.pull_secret.adapter"
_NAMESPACE, _PLACED, _PROJECT = "hyperfleet-system", "clusters", "customer-prod-12345"
_ADAPTERS = ("validation", "dns", "placement")
_AUTHS = '{"auths": {"quay.io": {"auth": "dXNlcjpleGFtcGxlLXBhc3N3b3Jk"}}}'
_THREADS = 8
# Goals: ms of CPU per cluster, including the start of Ansible.
_CPU = {"unmet": 4.6, "job": 6.0, "job, again": 4.6, "inline": 19.5, "inline, again": 19.5}


class AdapterLab(BenchLab):
    """The lab with the HyperFleet API."""

    api = ""

    def __enter__(self) -> AdapterLab:
        super().__enter__()
        try:
            self.api = start_stand_in(self._supervisor, "hyperfleet")["url"]
        except BaseException:
            self.__exit__()
            raise
        return self


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.adapter_run", description=__doc__)
    parser.add_argument("--clusters", type=int, default=1000)
    parser.add_argument("--results", type=Path, default=ROOT / "bench-results")
    options = parser.parse_args()
    try:
        found = _measured(options.clusters)
    except (CommandFailed, LabError, RuntimeError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    goals = [
        Goal(f"CPU, {step}", found[step]["cpu_ms"], limit, "ms a cluster") for step, limit in _CPU.items()
    ]
    conclude(options.results, "adapter_run", found, goals)
    return 0


def _measured(size: int) -> dict[str, Any]:
    found: dict[str, Any] = {"clusters": size}
    for execution in ("job", "inline"):
        with tempfile.TemporaryDirectory(prefix="pull-secret-bench-") as text:
            directory = Path(text)
            with AdapterLab(directory) as lab:
                lab.create_namespaces([_NAMESPACE, _PLACED])
                ids = [f"cls-{number}" for number in range(size)]
                _seed(lab.api, ids)
                run = _Run(lab, directory, ids, execution)
                if execution == "job":
                    found["unmet"] = run("unmet", "unmet")
                _depend(lab.api, ids)
                state = "created" if execution == "job" else "succeeded"
                found[execution] = run(execution, state)
                found[f"{execution}, again"] = run(
                    f"{execution}-again", "pending" if execution == "job" else "succeeded"
                )
    return found


class _Run:
    """Runs for all clusters, after which all must have the same state."""

    def __init__(self, lab: AdapterLab, directory: Path, ids: Sequence[str], execution: str) -> None:
        self._lab = lab
        self._directory = directory
        self._ids = ids
        self._config = directory / "adapter.json"
        self._config.write_text(
            json.dumps(
                {
                    "apiVersion": "hyperfleet.redhat.com/v1alpha1",
                    "kind": "AdapterConfig",
                    "metadata": {"name": "pullsecret-adapter", "namespace": _NAMESPACE},
                    "spec": {
                        "hyperfleetAPI": {"url": lab.api},
                        "jobTemplate": {"image": "registry.example.com/pullsecret-job:1"},
                        "execution": execution,
                        "kubernetes": {"kubeconfig": lab.kubeconfig},
                        "gcp": {"endpoint": f"http://{lab.grpc}"},
                    },
                }
            )
        )

    def __call__(self, step: str, state: str) -> dict[str, float]:
        run = self._directory / f"run-{step}"
        run.mkdir()
        (run / "lock").touch()
        variables = self._directory / f"{step}.json"
        given = {"adapter_config": str(self._config), "cluster_ids": self._ids, "adapter_run": str(run)}
        variables.write_text(json.dumps(given))
        program = Path(sys.executable).with_name("ansible-playbook")
        before = self._lab.cpu()
        usage = measure(
            [sys.executable, program, _PLAYBOOK, "-e", f"@{variables}"],
            log=self._directory / f"{step}.log",
            env=self._lab.environment(),
            # The directory of ansible.cfg, which has the path of the collection.
            cwd=ROOT,
        )
        states = {entry["state"] for entry in json.loads((run / "result.json").read_text())["clusters"]}
        if states != {state}:
            raise RuntimeError(f"{step}: the clusters are {states}, not {state}")
        size = len(self._ids)
        print(f"  {step}: {usage.wall:.1f} s", flush=True)
        return {
            "wall_s": round(usage.wall, 1),
            "clusters_a_second": round(size / usage.wall, 1),
            "cpu_ms": round(usage.cpu / size * 1000, 2),
            "places_cpu_ms": round((self._lab.cpu() - before) / size * 1000, 2),
            "peak_mib": round(usage.peak_tree / 2**20),
        }


def _seed(api: str, ids: Sequence[str]) -> None:
    spec = {"provider": "gcp", "gcp": {"projectId": _PROJECT}, "pullSecret": {"data": _AUTHS}}
    clusters = [{"id": cluster_id, "name": f"name-of-{cluster_id}", "spec": spec} for cluster_id in ids]
    _ask(http.client.HTTPConnection(urlsplit(api).netloc), "POST", "/_lab/seed", clusters)


def _depend(api: str, ids: Sequence[str]) -> None:
    """Report that the other adapters have finished with each cluster."""

    def done(part: Sequence[str]) -> None:
        connection = http.client.HTTPConnection(urlsplit(api).netloc)
        for cluster_id in part:
            for adapter in _ADAPTERS:
                kinds = ("Available", "Applied", "Health")
                body = {
                    "adapter": adapter,
                    "observed_generation": 1,
                    "conditions": [
                        {"type": kind, "status": "True", "reason": "R", "message": "m"} for kind in kinds
                    ],
                    "data": {"namespace": _PLACED} if adapter == "placement" else {},
                }
                _ask(connection, "PUT", f"/api/hyperfleet/v1/clusters/{cluster_id}/statuses", body)

    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(done, [ids[start::_THREADS] for start in range(_THREADS)]))


def _ask(connection: http.client.HTTPConnection, method: str, path: str, body: Any) -> None:
    connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    if answer.status not in (200, 201):
        raise RuntimeError(f"{method} {path}: HTTP {answer.status}")


if __name__ == "__main__":
    sys.exit(main())
