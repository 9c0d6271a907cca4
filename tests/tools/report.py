# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pytest plugin (``-p tests.tools.report --report FILE``) that writes each test's end as a line of JSON.

The first line says how to run one of these tests again, the last one how pytest ended. The lines are written at
once, so a run that is killed has its failures and the tests that were running.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import pytest

__all__ = ["Report", "read_report"]


@dataclass
class Report:
    """One pytest run: how to repeat a test of it, how its tests ended, and pytest's exit code if it ended."""

    python: str = ""
    path: str = ""
    passed: set[str] = field(default_factory=set)
    # The text of the failure, by the test's node id.
    failed: dict[str, str] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)
    end: int | None = None


def read_report(file: Path) -> Report:
    """Return what a run has written; a last line that a kill has cut is left out."""
    report = Report()
    for line in file.read_text(encoding="utf-8").split("\n") if file.exists() else []:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if "python" in entry:
            report.python, report.path = entry["python"], entry["path"]
        elif "start" in entry:
            report.running.add(entry["start"])
        elif "end" in entry:
            report.end = entry["end"]
        elif "finish" in entry:
            pass
        elif entry["failure"] is None:
            report.passed.add(entry["test"])
        else:
            # Both the test and its teardown may fail.
            earlier = report.failed.get(entry["test"], "")
            report.failed[entry["test"]] = earlier + entry["failure"] + "\n\n"
        report.running.discard(entry.get("test") or entry.get("finish", ""))
    report.passed -= report.failed.keys()
    return report


class _Writer:
    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._write(python=sys.executable, path=os.environ["PATH"])

    def _write(self, **entry: str | int | None) -> None:
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._write(start=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            text = "\n\n".join(
                [report.longreprtext, *(f"--- {name}\n{text}" for name, text in report.sections)]
            )
            self._write(test=report.nodeid, failure=text)
        elif report.when == "call" and report.passed:
            self._write(test=report.nodeid, failure=None)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._write(finish=nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._write(test=report.nodeid, failure=report.longreprtext)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self._write(end=int(exitstatus))


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Escape what pytest-xdist cannot send from process to process: it would end the whole run."""
    report = yield
    report.sections = [(name, _encodable(text)) for name, text in report.sections]
    if report.failed and _encodable(report.longreprtext) != report.longreprtext:
        report.longrepr = _encodable(report.longreprtext)
    return report


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--report", type=Path, help="the file that gets a line for each test")


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("--report")
    # The processes of pytest-xdist report to the first one.
    if file is not None and not hasattr(config, "workerinput"):
        file.parent.mkdir(parents=True, exist_ok=True)
        handle = file.open("w", encoding="utf-8")
        config.add_cleanup(handle.close)
        config.pluginmanager.register(_Writer(handle))
