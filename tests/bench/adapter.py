# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``python -m tests.bench.adapter``: from 1,000 events in RabbitMQ to 1,000 statuses in the API.

Each case has its own ansible-rulebook, which has no cluster to check again. The figures do not include its start
and its idle time, but they include the start of the playbooks. The table also has the figures of today's adapter,
a Go program, on a machine of the same size.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from conftest import ROOT  # which makes the collection importable
from tests.bench.adapter_lab import AdapterLab
from tests.bench.adapter_process import Adapter
from tests.bench.figures import Goal, conclude, percentile
from tests.bench.measure import machine_cpu
from tests.lab.supervisor import LabError, free_ports

_MIB = 1024 * 1024


@dataclass(frozen=True)
class Go:
    """Today's adapter: minimum and maximum of its runs with parallelism 10."""

    rate: tuple[float, float]
    cpu: tuple[float, float]
    memory: tuple[float, float] = (55, 63)


_UNMET = Go((128, 149), (4.6, 6.7))
_APPLIED = Go((100, 108), (6.4, 9.1))
_GO = {"unmet": _UNMET, "job": _APPLIED}
# The project's goals: minimum events per second, maximum milliseconds of CPU.
_ASKED = {"unmet": (150.0, 4.6), "job": (110.0, 6.4)}
_LATENCY = 3.0


_LEGEND = """
* worse than today's adapter in Go; ~ worse than its best run; - the Go adapter was not measured.
EVENTS/s: from the first published event to the last status. CPU: user and system time per event, of all
the adapter's processes: ansible-rulebook (with Java) and the playbooks. MiB: their maximum total memory
(PSS). OTHER CPU: the API server, the broker, the stand-ins and other programs. If BUSY is near 100 %,
these programs limit the events per second as much as the adapter does.""".splitlines()


@dataclass(frozen=True)
class Case:
    """One case's measurement.

    :param cpu: CPU seconds of all processes of the adapter.
    :param busy: share of the machine's CPU time in use; 1.0 means no idle time.
    :param other: CPU seconds of all other processes on the machine, including the labs.
    """

    name: str
    events: int
    wall: float
    cpu: float
    peak: int
    busy: float
    other: float
    shares: dict[str, float] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        return self.events / self.wall

    @property
    def each(self) -> float:
        """CPU milliseconds per event."""
        return self.cpu / self.events * 1000


class Measuring:
    """The measurements in one lab."""

    def __init__(self, lab: AdapterLab, directory: Path, cores: int) -> None:
        self._lab = lab
        self._directory = directory
        self._cores = cores
        self._runs = 0
        self.cases: list[Case] = []

    @contextmanager
    def _adapter(self, execution: str) -> Iterator[Adapter]:
        self._runs += 1
        directory = self._directory / f"adapter-{self._runs}"
        port = free_ports(1)[0]
        config = self._lab.config(
            self._directory / f"config-{self._runs}.json", port=port, execution=execution
        )
        with Adapter(directory, config, port, {}) as adapter:
            yield adapter

    def case(self, name: str, clusters: Sequence[str], expected: str, *, execution: str = "job") -> None:
        """Publish an event for each cluster, and wait for as many reports.

        :raises RuntimeError: the report of one of three clusters has another reason than ``expected``.
        """
        with self._adapter(execution) as adapter:
            self._lab.forget()
            cpu, shares, machine, began = adapter.cpu(), adapter.shares(), machine_cpu(), time.monotonic()
            asyncio.run(self._lab.publish(clusters))
            adapter.until(lambda: self._lab.reports() >= len(clusters), f"{name}: all are reported")
            wall = time.monotonic() - began
            adapter.until(adapter.idle, f"{name}: the run ends")
            taken, spent, passed = adapter.cpu() - cpu, machine_cpu() - machine, time.monotonic() - began
            after = adapter.shares()
        self._check(name, clusters, expected)
        found = Case(
            name,
            len(clusters),
            round(wall, 2),
            round(taken, 2),
            adapter.peak // _MIB,
            round(spent / passed / self._cores, 2),
            round(spent - taken, 2),
            {one: round(after[one] - shares[one], 2) for one in after},
        )
        self.cases.append(found)
        print(
            f"  {name}: {found.rate:.0f} events/s, {found.each:.1f} ms CPU an event, {found.peak} MiB",
            flush=True,
        )

    def latency(self, clusters: Sequence[str]) -> list[float]:
        """Return the seconds from each event to its status, without other work at the same time."""
        took = []
        with self._adapter("job") as adapter:
            for one in clusters:
                self._lab.forget()
                began = time.monotonic()
                asyncio.run(self._lab.publish([one]))
                adapter.until(lambda: self._lab.reports() >= 1, "one is reported")
                took.append(round(time.monotonic() - began, 2))
                adapter.until(adapter.idle, "the run ends")
        return took

    def _check(self, name: str, clusters: Sequence[str], expected: str) -> None:
        for one in (clusters[0], clusters[len(clusters) // 2], clusters[-1]):
            conditions = {found["type"]: found for found in self._lab.statuses(one)["conditions"]}
            reason = conditions["Available"]["reason"]
            if reason != expected:
                raise RuntimeError(f"{name}: {one} is {reason}, not {expected}")


def measure(
    lab: AdapterLab, directory: Path, count: int, singles: int, wanted: Sequence[str]
) -> dict[str, Any]:
    """Measure the wanted cases in order. Each case continues with the state of the previous one."""
    measuring = Measuring(lab, directory, _cores())
    found: dict[str, Any] = {}

    def on(*names: str) -> bool:
        return not wanted or any(name in wanted for name in names)

    if on("unmet"):
        measuring.case("unmet", lab.clusters("unmet", count, ready=False), "PreconditionsNotMet")
    if on("job", "complete", "again", "single"):
        jobs = lab.clusters("job", count)
        measuring.case("job", jobs, "JobCreated")
        if on("complete", "again", "single"):
            lab.finish()
            measuring.case("complete", jobs, "PullSecretStored")
        if on("again"):
            measuring.case("again", jobs, "PullSecretStored")
        if on("single"):
            found["single_event_seconds"] = measuring.latency(jobs[:singles])
    if on("inline"):
        inline = lab.clusters("inline", count)
        lab.namespaces(inline)
        for name in ("inline", "inline again"):
            measuring.case(name, inline, "PullSecretStored", execution="inline")
    found["cases"] = [asdict(case) for case in measuring.cases]
    print("", *_table(measuring.cases), "", sep="\n")
    return found


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _table(cases: Sequence[Case]) -> list[str]:
    lines = [
        (
            f"{'CASE':14}{'EVENTS/s':>9}{'Go':>9}   {'CPU ms':>6}{'Go':>9}   {'MiB':>5}{'Go':>7}   "
            f"{'WALL s':>6}{'BUSY':>6}{'OTHER CPU s':>13}"
        )
    ]
    for one in cases:
        go = _GO.get(one.name)
        cells = (
            f"{one.name:14}{one.rate:9.0f}{_beside(one.rate, go.rate if go else None, more=True)}",
            f"{one.each:6.1f}{_beside(one.each, go.cpu if go else None)}",
            f"{one.peak:5}{_beside(one.peak, go.memory if go else None, 7)}",
            f"{one.wall:6.1f}{one.busy:6.0%}{one.other:13.1f}",
        )
        lines.append(" ".join(cells))
    lines += _LEGEND
    return lines


def _beside(value: float, go: tuple[float, float] | None, width: int = 9, *, more: bool = False) -> str:
    """Return Go's figures, with ``*`` if ours is worse than all of them, and ``~`` if it is worse than some."""
    if go is None:
        return f"{'-':>{width}}  "
    behind = [value < figure if more else value > figure for figure in go]
    mark = "*" if all(behind) else "~" if any(behind) else " "
    return f"{f'{go[0]:g}-{go[1]:g}':>{width}}{mark} "


def _goals(found: dict[str, Any]) -> list[Goal]:
    goals = []
    for case in found["cases"]:
        asked = _ASKED.get(case["name"])
        if asked is not None:
            each = case["cpu"] / case["events"] * 1000
            goals.append(Goal(f"{case['name']}: CPU an event", round(each, 2), asked[1], "ms"))
            pace = case["wall"] / case["events"] * 1000
            goals.append(
                Goal(f"{case['name']}: time an event", round(pace, 2), round(1000 / asked[0], 2), "ms")
            )
    if "single_event_seconds" in found:
        goals.append(
            Goal(
                "one event to its status, p50", percentile(found["single_event_seconds"], 0.5), _LATENCY, "s"
            )
        )
    return goals


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.adapter", description=__doc__)
    parser.add_argument("--clusters", type=int, default=1000)
    parser.add_argument("--singles", type=int, default=9, help="number of single events")
    parser.add_argument(
        "--cases", nargs="*", default=[], help="unmet, job, complete, again, single, inline (all)"
    )
    parser.add_argument("--lab", choices=["stand-in", "real"], default="real", help="which API server")
    parser.add_argument("--results", type=Path, default=ROOT / "bench-results")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="pull-secret-adapter-") as text:
            directory = Path(text)
            with AdapterLab(directory, real=options.lab == "real") as lab:
                found = measure(lab, directory, options.clusters, options.singles, options.cases)
    except (LabError, RuntimeError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    conclude(options.results, "adapter", found, _goals(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
