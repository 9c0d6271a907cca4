# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``python -m tests.bench.awx``: the inventory's update and the jobs of its slices, as AWX starts them.

The services are stand-ins. One cluster has no namespace, so that its job fails and is relaunched on its host.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from tests.bench.figures import conclude
from tests.bench.lab import BenchLab, start_stand_in
from tests.bench.measure import CommandFailed, Usage, measure
from tests.lab.awx import jobs
from tests.lab.supervisor import Supervisor
from tests.stand_ins.client import ask
from tests.support.docker_configs import docker_config
from tests.tools import env

_PROJECT = "customer-prod-12345"
_MIB = 1 << 20


class Awx:
    """Runs an inventory's update and jobs, each as a process of its own."""

    def __init__(self, directory: Path, environment: dict[str, str]) -> None:
        self._directory = directory
        self._binaries = env.ROOT / env.make("rulebook", sys.executable) / "bin"
        path = f"{self._binaries}{os.pathsep}{environment['PATH']}"
        self._environment = {**environment, "PATH": path, "ANSIBLE_COLLECTIONS_PATH": str(env.COLLECTIONS)}

    def update(self) -> tuple[dict[str, Any], Usage]:
        """Return the inventory as AWX stores it."""
        listed, source = (self._directory / name for name in ("listed.json", "hyperfleet_clusters.yml"))
        configuration = yaml.safe_load((jobs.PROJECT / "inventory" / source.name).read_text())
        # No adapter has placed them.
        source.write_text(json.dumps({**configuration, "namespace": "clusters-{id}"}))
        flags = ("--list", "--export", "--output", listed)
        usage = self._measured("update", self._binaries / "ansible-inventory", "-i", source, *flags)
        return jobs.stored(json.loads(listed.read_text())), usage

    def job(
        self, name: str, inventory: dict[str, Any], limit: tuple[str, ...] = (), *, fails: bool = False
    ) -> tuple[list[dict[str, Any]], Usage | None]:
        """Return the events of a job, and what it cost; None if it failed, as it should.

        :raises CommandFailed: it should not fail.
        """
        directory = self._directory / name
        flags = jobs.job_flags(directory, inventory, limit)
        (directory / "env" / "cmdline").write_text(" ".join(flags[: flags.index("-i")]))
        (directory / "project").symlink_to(jobs.PROJECT)
        playbook = "playbooks/provision_clusters.yml"
        usage: Usage | None = None
        with contextlib.suppress(*[CommandFailed] if fails else []):
            runner = self._binaries / "ansible-runner"
            usage = self._measured(name, runner, "run", directory, "-p", playbook, "-i", "job")
        files = (directory / "artifacts" / "job" / "job_events").glob("*.json")
        return [json.loads(file.read_text()) for file in files], usage

    def _measured(self, name: str, *command: str | Path) -> Usage:
        log = self._directory / f"{name}.log"
        return measure(command, log=log, env=self._environment, cwd=self._directory)


def bench(clusters: int, count: int, directory: Path) -> dict[str, Any]:
    """Measure; check that the slices' results are disjoint and complete."""
    names = [f"cls-{number:05}" for number in range(clusters)]
    broken = names[-1]
    supervisor = Supervisor(directory / "hyperfleet")
    with BenchLab(directory / "lab") as lab:
        try:
            url = start_stand_in(supervisor, "hyperfleet")["url"]
            config = json.dumps(docker_config(registry_example_com="example"))
            spec = {"gcp": {"projectId": _PROJECT}, "pullSecret": {"data": config}}
            ask(url, "POST", "/_lab/seed", [{"id": name, "spec": spec} for name in names])
            lab.create_namespaces(f"clusters-{name}" for name in names if name != broken)
            awx = Awx(directory, {**lab.environment(), "HYPERFLEET_API_URL": url})
            return _measure(awx, lab, count, broken)
        finally:
            supervisor.stop("hyperfleet")


def _measure(awx: Awx, lab: BenchLab, count: int, broken: str) -> dict[str, Any]:
    inventory, usage = awx.update()
    figures: dict[str, Any] = {"inventory update": _figures(usage)}
    clusters: list[str] = []
    for number, cut in enumerate(jobs.slices(inventory, count)):
        events, usage_of_job = awx.job(f"slice-{number}", cut, fails=broken in cut["_meta"]["hostvars"])
        clusters += _clusters(events)
        if usage_of_job is not None and number == 0:
            figures["a slice, first"] = _figures(usage_of_job, events)
        if _failed(events):
            figures["the slice with a failed cluster"] = {"failed": _failed(events), "events": len(events)}
    assert sorted(clusters) == sorted(inventory["_meta"]["hostvars"]), "the slices are disjoint and complete"
    events, usage_of_job = awx.job("no-op", jobs.slices(inventory, count)[0])
    if usage_of_job is not None:
        figures["a slice, no-op"] = _figures(usage_of_job, events)
    lab.create_namespaces([f"clusters-{broken}"])
    events, _usage = awx.job("relaunch", inventory, (broken,))
    assert (_clusters(events), _failed(events)) == ([broken], []), "the relaunch handles the failed cluster"
    figures["relaunch on the failed host"] = {"clusters": 1, "events": len(events)}
    return figures


def _figures(usage: Usage, events: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    figures = {"seconds": round(usage.wall, 1), "CPU seconds": round(usage.cpu, 1)}
    figures["MiB"] = round(usage.peak_tree / _MIB)
    return {**figures, "events": len(events)} if events is not None else figures


def _clusters(events: list[dict[str, Any]]) -> list[str]:
    """The clusters of the report of a job."""
    return [row["cluster"] for row in _result(events, "pull_secret_report").get("clusters", ())]


def _failed(events: list[dict[str, Any]]) -> list[str]:
    """The hosts on which the last task failed."""
    return [
        event["event_data"]["host"]
        for event in events
        if event["event"] == "runner_on_failed" and not event["event_data"].get("ignore_errors")
    ]


def _result(events: list[dict[str, Any]], action: str) -> dict[str, Any]:
    results = [
        event["event_data"]["res"]
        for event in events
        if event["event"] == "runner_on_ok" and event["event_data"]["task_action"].endswith(action)
    ]
    return results[-1] if results else {}


def main(arguments: list[str]) -> int:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clusters", type=int, default=10000)
    parser.add_argument("--slices", type=int, default=10)
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory:
        figures = bench(options.clusters, options.slices, Path(directory))
    conclude(options.results, "awx", figures, [])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
