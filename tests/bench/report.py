# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Prints the result as a table, and writes it as JSON."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.bench.runs import Run

_MIB = 1024 * 1024
_HEADERS = (
    "WHAT",
    "CLUSTERS",
    "STEP",
    "WALL s",
    "ms/CLUSTER",
    "CPU s",
    "TREE MiB",
    "PROCESS MiB",
    "CALLS",
    "LAB CPU s",
    "OTHER CPU s",
)
_LEFT = {0, 2}
_TOOLS = {"collection": "hyperfleet.pull_secret", "loop": "loop of two modules"}

# The project's goals on two cores: wall seconds for 1,000 clusters, MiB for 10,000.
_NO_OP_SECONDS = 5.0
_FIRST_SECONDS = {"stand-ins": 15.0, "real API server": 20.0}
_TIMES_THE_LOOP = 200.0
_PEAK_MIB = 512.0
# The cost must grow linearly: maximum ratio of the cost per cluster with 10,000 and with 1,000 clusters.
_LINEAR = 1.15


def row(run: Run) -> tuple[str, ...]:
    usage = run.usage
    return (
        _TOOLS.get(run.tool, run.tool),
        f"{run.clusters:,}",
        run.step,
        f"{usage.wall:.2f}",
        f"{usage.wall / run.clusters * 1000:.1f}" if run.clusters else "-",
        f"{usage.cpu:.2f}",
        f"{usage.peak_tree / _MIB:.0f}",
        f"{usage.peak_process / _MIB:.0f}",
        f"{sum(run.calls.values()):,}",
        f"{run.lab_cpu:.2f}",
        f"{run.other_cpu:.2f}",
    )


def table(runs: Sequence[Run]) -> list[str]:
    """Return the lines of the table: the runs in order, then their calls."""
    cells = [_HEADERS, *map(row, runs)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEADERS))]
    lines = [
        "  ".join(
            cell.ljust(width) if column in _LEFT else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]
    lines += [
        "",
        "WALL and CPU are those of ansible-playbook and all its processes, including their start.",
        "TREE is their maximum total memory (PSS, sampled), PROCESS the maximum of a single process (RSS).",
        "LAB CPU is the CPU time of the services, OTHER CPU that of other programs on the machine.",
        "If OTHER CPU is high, the machine was busy, and the wall time is less reliable.",
    ]
    return lines


def verdicts(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return the goals with the measured values; the best run of a step counts."""
    found: list[dict[str, Any]] = []

    def add(what: str, value: float | None, limit: float, unit: str, *, at_least: bool = False) -> None:
        if value is not None:
            reached = value >= limit if at_least else value <= limit
            found.append(
                {"what": what, "value": round(value, 2), "limit": limit, "unit": unit, "reached": reached}
            )

    for lab, limit in _FIRST_SECONDS.items():
        add(f"first provisioning of 1,000, {lab}", _wall(runs, "collection", 1000, "first", lab), limit, "s")
        add(f"no-op of 1,000, {lab}", _wall(runs, "collection", 1000, "no-op", lab), _NO_OP_SECONDS, "s")
    for step, limit in (("no-op", _TIMES_THE_LOOP), ("first", 0.0)):
        ours, loop = _wall(runs, "collection", 1000, step), _loop_per_cluster(runs, step)
        if ours and loop:
            add(f"{step}: times the loop, per cluster", loop / (ours / 1000), limit, "x", at_least=True)
        ours_cpu = min(
            (r.usage.cpu for r in runs if (r.tool, r.clusters, r.step) == ("collection", 1000, step)),
            default=0.0,
        )
        loop_cpu = _loop_per_cluster(runs, step, lambda run: run.usage.cpu)
        if ours_cpu and loop_cpu:
            add(
                f"{step}: times the loop, per cluster, CPU",
                loop_cpu / (ours_cpu / 1000),
                0.0,
                "x",
                at_least=True,
            )
    for step in ("first", "no-op"):
        small, large = _wall(runs, "collection", 1000, step), _wall(runs, "collection", 10_000, step)
        if small and large:
            add(f"{step}: a cluster of 10,000 to one of 1,000", large / small / 10, _LINEAR, "x")
    peaks = [run.usage.peak_tree / _MIB for run in runs if run.clusters == 10_000]
    add("peak memory with 10,000, all processes", max(peaks, default=None), _PEAK_MIB, "MiB")
    return found


def _wall(runs: Sequence[Run], tool: str, clusters: int, step: str, lab: str | None = None) -> float | None:
    times = [
        run.usage.wall
        for run in runs
        if (run.tool, run.clusters, run.step) == (tool, clusters, step) and lab in (None, run.lab)
    ]
    return min(times, default=None)


def _loop_per_cluster(
    runs: Sequence[Run], step: str, cost: Callable[[Run], float] = lambda run: run.usage.wall
) -> float | None:
    """Return the loop's cost per cluster, without the start of ansible-playbook, which favours the loop."""
    start = min((cost(run) for run in runs if (run.tool, run.clusters) == ("loop", 0)), default=0.0)
    times = [
        (cost(run) - start) / run.clusters
        for run in runs
        if run.clusters and (run.tool, run.step) == ("loop", step)
    ]
    return min(times, default=None)


def sentences(found: Sequence[dict[str, Any]]) -> list[str]:
    width = max((len(one["what"]) for one in found), default=0)
    lines = []
    for one in found:
        bound = "at least" if one["unit"] == "x" and one["limit"] > _LINEAR else "at most"
        asked = f"asked: {bound} {one['limit']:g} {one['unit']}" if one["limit"] else "nothing asked"
        mark = "" if one["reached"] else "  NOT REACHED"
        lines.append(f"{one['what'].ljust(width)}  {one['value']:8.2f} {one['unit']:4}{asked}{mark}")
    return lines


def machine() -> dict[str, Any]:
    """Describe the machine, without which figures mean nothing."""
    version = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    )
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": version.stdout.strip(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load_before": round(os.getloadavg()[0], 2),
    }


def write(directory: Path, about: dict[str, Any], runs: Sequence[Run]) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{about['time'].replace(':', '')}.json"
    content = {"about": about, "targets": verdicts(runs), "runs": [run.as_json() for run in runs]}
    path.write_text(json.dumps(content, indent=2) + "\n")
    return path
