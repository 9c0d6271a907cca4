# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The measured runs: the collection for a whole fleet, and the loop for a small one."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.bench.fleet import Fleet
from tests.bench.lab import ROOT, BenchLab
from tests.bench.measure import Usage, machine_cpu, measure, own_cpu

_PLAYBOOK = "hyperfleet.pull_secret.provision"
_LARGE = 1000
_LOOP = ROOT / "tests" / "bench" / "loop.yml"
_REDIRECT = ROOT / "tests" / "bench" / "redirect"
_LOOP_ENVIRONMENT = ROOT / ".venvs" / "bench"


@dataclass(frozen=True)
class Run:
    """One run of ``ansible-playbook`` and its cost.

    ``tool`` is ``collection`` or ``loop``. ``lab_cpu`` is the CPU time of the services in seconds, ``other_cpu``
    that of other programs. If the latter is high, other programs also affect the wall time.
    """

    tool: str
    lab: str
    clusters: int
    step: str
    usage: Usage
    calls: dict[str, int]
    lab_cpu: float
    other_cpu: float

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "calls_total": sum(self.calls.values())}


class Bench:
    """Runs in one lab, in one directory. ``report`` is called after each run."""

    def __init__(self, directory: Path, lab: BenchLab, report: Any) -> None:
        self._directory = directory
        self._lab = lab
        self._report = report
        self.runs: list[Run] = []

    def collection(self, fleet: Fleet, *, repeat: int) -> None:
        """Measure the first provisioning, ``repeat`` runs without a change, and one with 1 % changed clusters.

        For a large fleet, the first two steps are enough to see how the costs grow.
        """
        self._prepare(fleet)
        self._provision(fleet, "first", changed=fleet.size)
        for _time in range(repeat):
            self._provision(fleet, "no-op", changed=0)
        if fleet.size > _LARGE:
            return
        changed = max(1, fleet.size // 100)
        fleet.change(changed)
        self._provision(fleet, "1 % changed", changed=changed)

    def loop(self, fleet: Fleet) -> None:
        """Measure the first two steps with the modules of other collections and one task per cluster."""
        nothing = Fleet(fleet.directory.with_name("nothing"), 0)
        self._prepare(nothing)
        self._prepare(fleet)
        environment = {
            **self._lab.environment(),
            "PYTHONPATH": str(_REDIRECT),
            "BENCH_SECRET_MANAGER_REST": self._lab.rest,
        }
        program: list[str | Path] = [_LOOP_ENVIRONMENT / "bin" / "ansible-playbook", _LOOP, "-e"]
        for step, clusters in (("start only", nothing), ("first", fleet), ("no-op", fleet)):
            self._run("loop", clusters, step, [*program, f"@{clusters.variables}"], environment)

    def _prepare(self, fleet: Fleet) -> None:
        fleet.write()
        self._lab.create_namespaces(fleet.namespaces())
        self._lab.calls()

    def _provision(self, fleet: Fleet, step: str, *, changed: int) -> None:
        command: list[str | Path] = [
            Path(sys.executable).with_name("ansible-playbook"),
            _PLAYBOOK,
            "-e",
            f"@{fleet.variables}",
        ]
        log = self._run("collection", fleet, step, command, self._lab.environment())
        # A run with other changes is not a valid measurement.
        told = re.search(r"(\d+) clusters?: (\d+) changed, (\d+) failed", log.read_text())
        if told is None or tuple(map(int, told.groups())) != (fleet.size, changed, 0):
            raise RuntimeError(f"{step}: expected {changed} of {fleet.size} changed, got {told and told[0]}")

    def _run(
        self, tool: str, fleet: Fleet, step: str, command: Sequence[str | Path], environment: dict[str, str]
    ) -> Path:
        log = self._directory / f"run-{len(self.runs)}.log"
        machine, lab, own = machine_cpu(), self._lab.cpu(), own_cpu()
        usage = measure(command, log=log, env=environment, cwd=ROOT)
        lab_cpu = self._lab.cpu() - lab
        other_cpu = max(0.0, machine_cpu() - machine - usage.cpu - lab_cpu - (own_cpu() - own))
        kind = "real API server" if self._lab.real else "stand-ins"
        run = Run(
            tool, kind, fleet.size, step, usage, self._lab.calls(), round(lab_cpu, 2), round(other_cpu, 2)
        )
        self.runs.append(run)
        self._report(run)
        return log
