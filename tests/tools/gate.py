# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``python -m tests.tools.gate run SECONDS``: the targets of .ci/run, one retry, a summary, a line in the record.

SECONDS is how long .ci/run has taken already. ``python -m tests.tools.gate all`` does the same with what the gate
leaves out, without a retry and a record; ``python -m tests.tools.gate record`` prints what the record says of HEAD.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.tools.env import CACHE, ROOT
from tests.tools.part import PARTS, file_name, interruptible, parse, run
from tests.tools.report import Report, read_report

__all__ = ["SUMMARY", "Gate", "Part"]

SUMMARY = ROOT / "build" / "gate.json"
UNSTABLE = ROOT / "build" / "unstable"
RECORD = CACHE / "gate.jsonl"

# More unstable tests than this fail the run.
_UNSTABLE_ALLOWED = 2
_RETRY_LIMIT_SECONDS = 600


@dataclass
class Part:
    """One part of a target: a check, or tests."""

    name: str
    verdict: str
    seconds: float = 0
    report: Report = field(default_factory=Report)
    unstable: set[str] = field(default_factory=set)

    @property
    def failures(self) -> list[str]:
        """The tests that failed; the part itself if it failed for another reason."""
        if self.verdict in ("ok", "left out"):
            return []
        tests = sorted(self.report.failed.keys() - self.unstable)
        # After failed tests, pytest ends with 1.
        if self.report.end != 1 or not self.report.failed:
            tests += [f"{test} (did not end)" for test in sorted(self.report.running)]
            tests.append(f"{self.name}: {self.verdict}")
        return tests

    @property
    def passed(self) -> int:
        return len(self.report.passed) + len(self.unstable)


@dataclass
class Gate:
    """A run of targets of the Makefile."""

    parts: list[Part] = field(default_factory=list)

    @property
    def unstable(self) -> list[str]:
        return sorted(test for part in self.parts for test in part.unstable)

    @property
    def failures(self) -> list[str]:
        failures = [failure for part in self.parts for failure in part.failures]
        if len(self.unstable) > _UNSTABLE_ALLOWED:
            failures.append(f"{len(self.unstable)} unstable tests (at most {_UNSTABLE_ALLOWED})")
        return failures

    def run(self, target: str) -> None:
        """Run a target; a part that fails does not end it, and one that did not run has failed."""
        print(f"=== make {target}", flush=True)
        began = time.monotonic()
        make = subprocess.Popen(["make", "-k", target], cwd=ROOT)
        try:
            code = make.wait()
        except KeyboardInterrupt:
            make.terminate()
            make.wait()
            raise
        parts = [_read_part(name) for name in _parts_of(target)]
        if code and not any(part.failures for part in parts):
            parts.append(Part(f"make {target}", f"FAILED (exit {code})"))
        print(f"=== make {target}: {time.monotonic() - began:.0f} s", flush=True)
        self.parts += parts

    def retry(self) -> None:
        """Run each failed test that starts a process or uses a real part once more, alone."""
        failed = [
            (part, test) for part in self.parts for test in part.report.failed if _has_retry(part, test)
        ]
        if len(failed) > _UNSTABLE_ALLOWED + 1:
            print(f"=== {len(failed)} tests failed: too many to try again", flush=True)
            return
        for part, test in failed:
            print(f"=== again, alone: {test}", flush=True)
            if _passes_alone(part.report, test):
                part.unstable.add(test)

    def lines(self, seconds: int) -> list[str]:
        """Return the summary; its last line counts tests that passed, and tests and checks that failed."""
        lines = ["=== parts"]
        for part in self.parts:
            outcome = f"{part.name}: {part.verdict}"
            lines.append(f"{part.seconds:6.0f} s  {outcome}")
            lines += [f"          {failure}" for failure in part.failures if failure != outcome]
        if self.unstable:
            lines.append(f"=== unstable: passed when tried again, alone ({UNSTABLE.relative_to(ROOT)}/)")
            lines += [f"          {test}" for test in self.unstable]
        lines.append(f"=== {'FAILED' if self.failures else 'passed'}, {seconds} s")
        lines.append(f"{sum(part.passed for part in self.parts)} passed, {len(self.failures)} failed")
        return lines


def _parts_of(target: str) -> list[str]:
    """Return the names of a target's parts, from the commands that make would run."""
    commands = subprocess.run(
        ["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    names = []
    for line in commands.splitlines():
        _head, module, arguments = line.partition(" tests.tools.part ")
        if module:
            names.append(str(parse(shlex.split(arguments)).name))
    return names


def _read_part(name: str) -> Part:
    file = PARTS / f"{file_name(name)}.json"
    try:
        outcome = json.loads(file.read_text())
    except (OSError, ValueError):
        return Part(name, "FAILED (did not run)")
    return Part(**outcome, report=read_report(file.with_suffix(".jsonl")))


def _has_retry(part: Part, test: str) -> bool:
    """Unit tests, and the contracts of stand-ins, do not depend on the machine."""
    path, _colons, name = test.partition("::")
    return bool(name) and "/unit/" not in path and ("/contract/" not in path or part.name.startswith("real"))


def _passes_alone(report: Report, test: str) -> bool:
    UNSTABLE.mkdir(parents=True, exist_ok=True)
    file = UNSTABLE / f"{file_name(test)[-150:]}-{hashlib.sha256(test.encode()).hexdigest()[:8]}.txt"
    with (
        tempfile.TemporaryDirectory() as directory,
        file.open("w", encoding="utf-8", errors="backslashreplace") as output,
    ):
        output.write(f"{test}\n\n=== the first time\n{report.failed[test]}\n\n=== again, alone\n")
        output.flush()
        again = Path(directory) / "report.jsonl"
        command = [report.python, "-m", "pytest", "-p", "tests.tools.report", f"--report={again}", test]
        code = run(command, _RETRY_LIMIT_SECONDS, path=report.path, output=output)
        passed = code == 0 and test in read_report(again).passed
    if not passed:
        file.unlink()
    return passed


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def _run(targets: list[str], began: float) -> tuple[Gate, dict[str, Any]]:
    """Run the targets, print the summary, and return what the record keeps."""
    # Read now: somebody may commit meanwhile.
    commit, clean = _git("rev-parse", "HEAD"), not _git("status", "--porcelain")
    for directory in (PARTS, UNSTABLE):
        shutil.rmtree(directory, ignore_errors=True)
    gate = Gate()
    for target in targets:
        gate.run(target)
    if os.environ.get("GATE_RETRY") != "no":
        gate.retry()
    seconds = round(time.monotonic() - began)
    entry = {
        "commit": commit,
        "clean": clean,
        "seconds": seconds,
        "unstable": gate.unstable,
        "failures": gate.failures,
        "ended": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    print("\n".join(gate.lines(seconds)), flush=True)
    SUMMARY.parent.mkdir(exist_ok=True)
    SUMMARY.write_text(json.dumps(entry))
    return gate, entry


def _print_record() -> int:
    head = _git("rev-parse", "HEAD")
    lines = RECORD.read_text().splitlines() if RECORD.exists() else []
    # A line that a full disk has cut says nothing.
    entries = [json.loads(line) for line in lines if line.endswith("}")]
    runs = [entry for entry in entries if entry["commit"] == head and entry["clean"]]
    if not runs:
        print(f"{head[:12]}: .ci/run has not run on this commit")
        return 1
    for entry in runs[-5:]:
        result = f"FAILED ({len(entry['failures'])} failures)" if entry["failures"] else "passed"
        unstable = ", ".join(entry["unstable"]) or "none"
        print(f"{head[:12]}: {result} at {entry['ended']} in {entry['seconds']} s; unstable: {unstable}")
    return 1 if runs[-1]["failures"] else 0


def main() -> int:
    if sys.argv[1] == "record":
        return _print_record()
    interruptible()
    if sys.argv[1] == "all":
        began = time.monotonic()
        os.environ["GATE_RETRY"] = "no"
        gate, entry = _run(["all-parts"], began)
    else:
        began = time.monotonic() - float(sys.argv[2])
        gate, entry = _run(["test", "test-real"], began)
        with RECORD.open("a", encoding="utf-8") as record:
            record.write(json.dumps(entry) + "\n")
    return 1 if gate.failures else 0


if __name__ == "__main__":
    sys.exit(main())
