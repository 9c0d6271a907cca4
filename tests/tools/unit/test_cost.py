# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``make cost`` sums the tests' costs by folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.tools.cost import Cost, costs, table
from tests.tools.env import ROOT

REPORT = """<testsuites><testsuite name="pytest">
<testcase classname="tests.job.unit.test_ending" name="one" time="1.5">
  <properties><property name="cpu_seconds" value="0.25"/></properties></testcase>
<testcase classname="tests.job.unit.test_settings" name="two" time="0.5">
  <properties><property name="cpu_seconds" value="0.5"/></properties></testcase>
<testcase classname="tests.fuzz.test_fuzz" name="three" time="2"></testcase>
</testsuite></testsuites>"""


def test_costs_are_summed_by_folder() -> None:
    found = costs(REPORT)
    assert found == {"fuzz": Cost(1, 0.0, 2.0), "job/unit": Cost(2, 0.75, 2.0)}
    assert list(table(found))[2:] == [
        "| fuzz | 1 | 0.0 | 2.0 |",
        "| job/unit | 2 | 0.8 | 2.0 |",
        "| all | 3 | 0.8 | 4.0 |",
    ]


def test_the_plugin_counts_what_the_children_of_a_test_use(tmp_path: Path) -> None:
    (tmp_path / "test_busy.py").write_text(
        "import subprocess, sys\n"
        "BUSY = 'import time\\nwhile time.process_time() < 0.3: pass'\n"
        "def test_child(): subprocess.run([sys.executable, '-c', BUSY], check=True)\n"
    )
    report = tmp_path / "report.xml"
    plugin = ["-p", "tests.tools.cpu_seconds", f"--junitxml={report}", f"--rootdir={tmp_path}"]
    command = [sys.executable, "-m", "pytest", "-q", *plugin, str(tmp_path / "test_busy.py")]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (cost,) = costs(report.read_text().replace('classname="', 'classname="tests.')).values()
    assert cost.tests == 1
    # The kernel's unit is a hundredth of a second.
    assert cost.cpu >= 0.25
