# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``python -m tests.bench``: measure, print a table, write ``bench-results/TIME.json``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.bench import report
from tests.bench.fleet import Fleet
from tests.bench.lab import ROOT, BenchLab
from tests.bench.measure import CommandFailed
from tests.bench.runs import Bench, Run
from tests.lab.supervisor import LabError


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--clusters", type=int, nargs="*", default=[1000, 10_000], help="sizes of fleets")
    parser.add_argument(
        "--loop", type=int, default=20, help="clusters of the loop to compare with; 0 skips it"
    )
    parser.add_argument("--repeat", type=int, default=3, help="number of no-op runs; the best one counts")
    parser.add_argument("--lab", choices=["stand-in", "real"], default="stand-in", help="which API server")
    parser.add_argument("--results", type=Path, default=ROOT / "bench-results")
    options = parser.parse_args()

    about = report.machine()
    runs: list[Run] = []
    try:
        for size in options.clusters:
            runs += _measure(size, options, loop=options.loop if size == options.clusters[0] else 0)
    except (CommandFailed, LabError, RuntimeError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print("", *report.table(runs), "", *report.sentences(report.verdicts(runs)), sep="\n")
    print(f"\n{report.write(options.results, about, runs)}")
    return 0


def _measure(size: int, options: argparse.Namespace, *, loop: int) -> list[Run]:
    """Measure one fleet in its own lab, and the loop in the same lab."""
    with tempfile.TemporaryDirectory(prefix="pull-secret-bench-") as text:
        directory = Path(text)
        with BenchLab(directory, real=options.lab == "real") as lab:
            bench = Bench(directory, lab, _progress)
            # A single no-op of a large fleet takes long enough for a stable result.
            bench.collection(Fleet(directory / "fleet", size), repeat=options.repeat if size <= 1000 else 1)
            if loop:
                bench.loop(Fleet(directory / "loop", loop, prefix="loop"))
            return bench.runs


def _progress(run: Run) -> None:
    print(f"  {run.tool}, {run.clusters:,} clusters, {run.step}: {run.usage.wall:.1f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
