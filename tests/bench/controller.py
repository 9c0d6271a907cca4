# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``python -m tests.bench.controller``: runs as the Ansible Operator starts them, for a fleet and for many objects.

The services are stand-ins. The operator itself, which needs some 60 MiB, is not there.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench.figures import Goal, conclude
from tests.bench.lab import BenchLab
from tests.lab.nodes.api import Api
from tests.lab.operator import Controller, proxy
from tests.support.docker_configs import KEY, TYPE, docker_config, encoded

_AT_ONCE = 4
_HOME, _PROJECT = "hyperfleet-system", "customer-prod-12345"
_SECONDS = {"fleet, first": 7.0, "fleet, no-op": 5.5, "single, first": 2.0, "single, no-op": 2.0}


class Step(NamedTuple):
    """A measured step; CPU seconds are those of one run, with all its processes."""

    name: str
    runs: int
    wall: float
    cpu: float
    mebibytes: float


class _Server(NamedTuple):
    """What a client of the lab needs of a control plane."""

    url: str
    token: str
    ca_file: str | None = None


def _cluster(name: str) -> dict[str, Any]:
    return {
        "clusterId": name,
        "gcpProjectId": _PROJECT,
        "managementNamespace": f"clusters-{name}",
        "source": {"kubernetes": {"namespace": _HOME, "name": "source"}},
    }


def _measured(name: str, runs: int, work: Callable[[], None]) -> Step:
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    work()
    wall, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    step = Step(name, runs, round(wall, 2), round(cpu / runs, 2), round(after.ru_maxrss / 1024))
    cost = f"{step.cpu:6.2f} CPU s a run, {step.mebibytes:.0f} MiB"
    print(f"{step.name:14} {step.runs:3} runs {step.wall:7.2f} s {cost}", flush=True)
    return step


def measure(clusters: int, singles: int, directory: Path) -> list[Step]:
    """Run both, twice."""
    names = {"fleet": [f"fleet-{number}" for number in range(clusters)]}
    names["single"] = [f"single-{number}" for number in range(singles)]
    with BenchLab(directory) as lab:
        server: Any = _Server(lab.cluster.url, lab.cluster.token)
        api = Api(server)
        lab.create_namespaces([_HOME, *(f"clusters-{name}" for part in names.values() for name in part)])
        document = json.dumps(docker_config(registry_example_com="example"))
        body: dict[str, Any] = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "source"}}
        body.update(type=TYPE, data={KEY: encoded(document)})
        api.create(f"/api/v1/namespaces/{_HOME}/secrets", body)
        with proxy(api, lab.cluster.token, "") as served:
            controller = Controller(api, served, directory, SECRET_MANAGER_EMULATOR_HOST=lab.grpc)

            def create(kind: str, name: str, spec: dict[str, Any]) -> None:
                item = {"apiVersion": "pullsecret.hyperfleet.io/v1alpha1", "kind": kind}
                api.create(controller.path(kind, _HOME), {**item, "metadata": {"name": name}, "spec": spec})

            def reconcile(kind: str, name: str) -> None:
                run = controller.reconcile(kind, _HOME, name)
                if not run.is_successful:
                    raise RuntimeError(f"{kind} {name}: {run.output[-2000:]}")

            def all_singles() -> None:
                with ThreadPoolExecutor(_AT_ONCE) as pool:
                    list(pool.map(lambda name: reconcile("PullSecret", name), names["single"]))

            for name in names["single"]:
                create("PullSecret", name, _cluster(name))
            # These first: the largest process of a step counts for all later ones.
            steps = [_measured(f"single, {step}", singles, all_singles) for step in ("first", "no-op")]
            create("PullSecretFleet", "fleet", {"clusters": [_cluster(name) for name in names["fleet"]]})
            return steps + [
                _measured(f"fleet, {step}", 1, lambda: reconcile("PullSecretFleet", "fleet"))
                for step in ("first", "no-op")
            ]


def main(arguments: list[str]) -> int:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clusters", type=int, default=1000)
    parser.add_argument("--singles", type=int, default=50)
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory:
        steps = measure(options.clusters, options.singles, Path(directory))
    goals = [Goal(f"{step.name}, CPU a run", step.cpu, _SECONDS[step.name], "s") for step in steps]
    conclude(options.results, "controller", {step.name: step._asdict() for step in steps}, goals)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
