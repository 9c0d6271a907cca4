# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``python -m tests.bench.guests``: guest clusters of Cluster API in one run, by both deliveries.

The host is a stand-in, and each guest another one, in this process. This program does Cluster API's part: it
applies what the ClusterResourceSets deliver, before the run that is measured.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.bench.figures import Goal, conclude, percentile
from tests.bench.fleet import Fleet, docker_config
from tests.bench.hosted_fleet import THREADS, Client
from tests.bench.lab import ROOT, BenchLab
from tests.bench.measure import CommandFailed
from tests.bench.report import table
from tests.bench.runs import Bench, Run
from tests.lab.supervisor import LabError
from tests.stand_ins.client import ask
from tests.stand_ins.kubeconfig import Cluster, kubeconfig_of
from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.kubernetes.resources import RESOURCES
from tests.support.rulebook import prepare

_PLAYBOOK = "hyperfleet.pull_secret.guest_cluster"
_NAME, _KEY = "crs-pull-secret", ".dockerconfigjson"
_SOURCE = "/api/v1/namespaces/kube-system/secrets"
# Goals: seconds of a run, for 200 guests on two cores.
_SECONDS = {"no-op": 4.0, "rotated": 8.0}
_WATCHED = 5.0


class GuestFleet(Fleet):
    """One namespace, Cluster and kubeconfig on the host for each guest."""

    def __init__(self, directory: Path, client: Client, delivery: str, guests: list[KubernetesLab]) -> None:
        super().__init__(directory, len(guests), prefix=delivery.replace("_", "-"))
        self._client = client
        self._delivery = delivery
        self._guests = guests

    @property
    def variables(self) -> Path:
        return self.directory / f"{self._delivery}.json"

    def write(self) -> None:
        """Create the guests on the host, and write the variables."""
        variables: dict[str, Any] = {
            "guest_cluster_source": {"kubernetes": {"namespace": "kube-system", "name": self._prefix}},
            "guest_cluster_namespace_selector": f"delivery={self._prefix}",
            "guest_cluster_delivery": self._delivery,
            "guest_cluster_set_name": f"{_NAME}-{self._prefix}",
        }
        if self._delivery != "direct":
            variables["guest_cluster_label_clusters"] = True
        self.variables.write_text(json.dumps(variables))
        data = {_KEY: _encoded(docker_config(0, "first"))}
        self._client.make(_SOURCE, {"metadata": {"name": self._prefix}, "data": data})
        self._each(self._make)

    def rotate(self, generation: str = "second") -> None:
        data = {_KEY: _encoded(docker_config(0, generation))}
        self._client.call(
            "PATCH", f"{_SOURCE}/{self._prefix}", {"data": data}, "application/merge-patch+json"
        )

    def holds(self, index: int) -> str:
        """Return what the host has for a guest: text that changes with the source."""
        path = f"/api/v1/namespaces/{self.namespace(index)}/secrets/{_NAME}-{self._prefix}"
        _status, secret = self._client.call("GET", path)
        return str(secret["data"]["manifests.yaml"])

    def apply(self) -> None:
        """Do what Cluster API does with new ClusterResourceSets."""
        if self._delivery != "direct":
            self._each(self._apply)

    def _each(self, act: Callable[[int], None]) -> None:
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(act, range(self.size)))

    def _make(self, index: int) -> None:
        guest, name = self._guests[index], self.identity(index)
        space = self.namespace(index)
        labels = {"delivery": self._prefix}
        self._client.make("/api/v1/namespaces", {"metadata": {"name": space, "labels": labels}})
        kubeconfig = json.dumps(kubeconfig_of(Cluster("guest", guest.url, guest.admin_token)))
        secret = {"metadata": {"name": f"{name}-kubeconfig"}, "data": {"value": _encoded(kubeconfig)}}
        self._client.make(f"/api/v1/namespaces/{space}/secrets", secret)
        self._client.make(_path("clusters", space), {"metadata": {"name": name}, "spec": {}})

    def _apply(self, index: int) -> None:
        guest, name = self._guests[index], self.identity(index)
        space = self.namespace(index)
        sets = f"{_NAME}-{self._prefix}"
        _status, secret = self._client.call("GET", f"/api/v1/namespaces/{space}/secrets/{sets}")
        manifests = base64.b64decode(secret["data"]["manifests.yaml"])
        manifest = json.loads(manifests.decode().removeprefix("---\n"))
        path = "/api/v1/namespaces/kube-system/secrets"
        status, answer = ask(guest.url, "POST", path, manifest, token=guest.admin_token)
        if status != 201:
            raise RuntimeError(f"{path}: HTTP {status} {answer}")
        digest = f"sha256:{hashlib.sha256(manifests).hexdigest()}"
        resource = {"kind": "Secret", "name": sets, "applied": True, "hash": digest}
        bindings = [{"clusterResourceSetName": sets, "resources": [resource]}]
        body = {"metadata": {"name": name}, "spec": {"clusterName": name, "bindings": bindings}}
        self._client.make(_path("clusterresourcesetbindings", space), body)


class Guests(Bench):
    """Runs for fleets of guests."""

    def measure(self, fleet: GuestFleet) -> None:
        """Measure the first delivery, a run without a change, and the rotation of all guests.

        :raises RuntimeError: a run changed more or fewer guests than it should, or a guest failed.
        """
        fleet.write()
        self._run_playbook(fleet, "first", fleet.size)
        fleet.apply()
        self._run_playbook(fleet, "no-op", 0)
        fleet.rotate()
        self._run_playbook(fleet, "rotated", fleet.size)

    def _run_playbook(self, fleet: GuestFleet, step: str, changed: int) -> None:
        self._lab.calls()
        program = Path(sys.executable).with_name("ansible-playbook")
        command: list[str | Path] = [program, _PLAYBOOK, "-e", f"@{fleet.variables}"]
        log = self._run(fleet.variables.stem, fleet, step, command, self._lab.environment())
        if f", {changed} changed, 0 failed" not in log.read_text():
            raise RuntimeError(f"{step}: not {changed} changed, 0 failed:\n{log.read_text()[-800:]}")


def watched(fleet: GuestFleet, lab: BenchLab, directory: Path, rotations: int) -> dict[str, Any]:
    """Measure the seconds from a change of the source to the last guest, with the rulebook.

    :raises RuntimeError: the guests do not have it after two minutes.
    """
    variables = json.loads(fleet.variables.read_text())
    variables |= {"guest_cluster_kubernetes": {"kubeconfig": lab.kubeconfig}, "watch_resync": 0}
    took = []
    directory.mkdir()
    with prepare(directory, "guest_cluster", **variables).running() as rulebook:
        # The run of the start.
        _wait(lambda: "changed, 0 failed" in rulebook.text)
        for number in range(rotations):
            before = [fleet.holds(index) for index in range(fleet.size)]
            begun = time.monotonic()
            fleet.rotate(f"rotation-{number}")
            for index, old in enumerate(before):
                _wait(lambda index=index, old=old: fleet.holds(index) != old)  # type: ignore[misc]
            took.append(time.monotonic() - begun)
            # Its run must have ended, or it would delay the next one.
            _wait(lambda number=number: rulebook.text.count("changed, 0 failed") >= number + 2)  # type: ignore[misc]
    return {"rotations": rotations, "seconds": [round(seconds, 2) for seconds in took]}


def _wait(is_true: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not is_true():
        if time.monotonic() > end:
            raise RuntimeError("the guests do not have it after 120 s")
        time.sleep(0.05)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.guests", description=__doc__)
    parser.add_argument("--guests", type=int, default=200, help="how many guests")
    parser.add_argument("--rotations", type=int, default=5, help="how many with the rulebook (Java); 0: none")
    parser.add_argument("--results", type=Path, default=ROOT / "bench-results")
    options = parser.parse_args()
    runs: list[Run] = []
    found: dict[str, Any] = {}
    try:
        with tempfile.TemporaryDirectory(prefix="pull-secret-bench-") as text, ExitStack() as stack:
            directory = Path(text)
            lab = stack.enter_context(BenchLab(directory))
            for delivery in ("cluster_resource_set", "direct"):
                guests = [stack.enter_context(KubernetesLab()) for _number in range(options.guests)]
                bench = Guests(directory, lab, lambda run: print(f"{run.tool}, {run.step}", flush=True))
                fleet = GuestFleet(directory, Client(lab), delivery, guests)
                bench.measure(fleet)
                runs += bench.runs
                if options.rotations and delivery != "direct":
                    found["watched"] = watched(fleet, lab, directory / "rulebook", options.rotations)
    except (CommandFailed, LabError, RuntimeError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print("", *table(runs), "", sep="\n")
    goals = [
        Goal(f"{run.tool}, {run.step}, {run.clusters} guests", round(run.usage.wall, 2), limit, "s")
        for run in runs
        if (limit := _SECONDS.get(run.step)) is not None
    ]
    if found:
        last = percentile(found["watched"]["seconds"], 0.99)
        goals.append(Goal(f"source to the last of {options.guests} guests, p99", last, _WATCHED, "s"))
    found["runs"] = [run.as_json() for run in runs]
    conclude(options.results, "guests", found, goals)
    return 0


def _path(kind: str, namespace: str) -> str:
    return f"/{RESOURCES[kind].base}/namespaces/{namespace}/{kind}"


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


if __name__ == "__main__":
    sys.exit(main())
