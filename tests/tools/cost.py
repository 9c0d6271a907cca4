# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``python -m tests.tools.cost ARGS``: runs pytest with ARGS, then prints what each folder of tests costs.

``python -m tests.tools.cost --read FILE`` prints it from the JUnit report of an earlier run (build/cost.xml).
"""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tests.tools.cpu_seconds import PROPERTY
from tests.tools.env import ROOT

__all__ = ["Cost", "costs", "table"]

_REPORT = ROOT / "build" / "cost.xml"


@dataclass
class Cost:
    """The total cost of a folder's tests."""

    tests: int = 0
    cpu: float = 0.0
    wall: float = 0.0

    def add(self, other: Cost) -> None:
        self.tests += other.tests
        self.cpu += other.cpu
        self.wall += other.wall


def _folder(classname: str) -> str:
    """Return the folder of a test class or module: ``job/unit`` for ``tests.job.unit.test_ending``."""
    parts = classname.split(".")[1:]
    until = next(number for number, part in enumerate(parts) if part.startswith("test_"))
    return "/".join(parts[:until])


def costs(report: str) -> dict[str, Cost]:
    """Return the costs of a JUnit report, by folder."""
    found: dict[str, Cost] = defaultdict(Cost)
    for case in ElementTree.fromstring(report).iter("testcase"):
        used = [one.get("value", "0") for one in case.iter("property") if one.get("name") == PROPERTY]
        found[_folder(case.get("classname", ""))].add(
            Cost(1, sum(map(float, used)), float(case.get("time", "0")))
        )
    return dict(sorted(found.items()))


def table(found: dict[str, Cost]) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    total = Cost()
    yield "| folder | tests | CPU seconds | seconds |"
    yield "| --- | ---: | ---: | ---: |"
    for folder, cost in found.items():
        total.add(cost)
        yield f"| {folder} | {cost.tests} | {cost.cpu:.1f} | {cost.wall:.1f} |"
    yield f"| all | {total.tests} | {total.cpu:.1f} | {total.wall:.1f} |"


def main(arguments: list[str]) -> int:
    code, report = 0, _REPORT
    if arguments[:1] == ["--read"]:
        report = Path(arguments[1])
    else:
        report.parent.mkdir(exist_ok=True)
        plugin = ["-p", "tests.tools.cpu_seconds", f"--junitxml={report}"]
        code = subprocess.run([sys.executable, "-m", "pytest", *plugin, *arguments], check=False).returncode
    for line in table(costs(report.read_text(encoding="utf-8"))):
        print(line)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
