# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``python -m tests.tools.soak RUNS``: the gate from fresh clones of HEAD, beside one busy process, without retry.

It prints each run's result and every test that failed at least once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.tools.env import ROOT
from tests.tools.gate import SUMMARY
from tests.tools.part import interruptible, run

# As long as CI may take.
_LIMIT_SECONDS = 5400
_LOGS = ROOT / "build" / "soak"


def run_gate(number: int, directory: Path) -> tuple[str, list[str]]:
    """Return a line on one run, and its failures."""
    clone = directory / f"run-{number}"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    began = time.monotonic()
    with (_LOGS / f"run-{number}.log").open("w") as log:
        code = run(["bash", ".ci/run"], _LIMIT_SECONDS, path=os.environ["PATH"], output=log, cwd=clone)
    seconds = round(time.monotonic() - began)
    summary = clone / SUMMARY.relative_to(ROOT)
    failures = json.loads(summary.read_text())["failures"] if summary.exists() else []
    if code != 0 and not failures:
        failures = [f".ci/run ended with {code}"]
    return f"| {number} | {'passed' if code == 0 else 'FAILED'} | {seconds} | {len(failures)} |", failures


def main() -> int:
    runs = int(sys.argv[1])
    if runs < 1:
        sys.exit("error: N must be 1 or greater")
    interruptible()
    os.environ["GATE_RETRY"] = "no"
    _LOGS.mkdir(parents=True, exist_ok=True)
    failures: Counter[str] = Counter()
    print("| run | result | seconds | failures |\n| --- | --- | ---: | ---: |", flush=True)
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        with tempfile.TemporaryDirectory(prefix="pull-secret-soak-") as directory:
            for number in range(1, runs + 1):
                line, failed = run_gate(number, Path(directory))
                print(line, flush=True)
                failures.update(failed)
    finally:
        busy.kill()
        busy.wait()
    for test, count in failures.most_common():
        print(f"{count} of {runs}: {test}")
    print(f"failures: {sum(failures.values())}; outputs: {_LOGS.relative_to(ROOT)}/")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
