# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``python -m tests.tools.part NAME COMMAND...``: runs one part of the tests or checks.

It says how the part ended and how long it took, and writes the same to build/parts/NAME.json. ``--limit SECONDS``
ends a part that hangs. ``--tests`` takes the arguments of pytest instead of a command, and writes its report to
build/parts/NAME.jsonl; ``--core 2.21`` runs it with that ansible-core.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from tests.tools import env
from tests.tools.report import Report, read_report

__all__ = ["PARTS", "file_name", "interruptible", "parse", "run"]

PARTS = env.ROOT / "build" / "parts"
_LIMIT_SECONDS = 900
# For the command to say where it hangs, and to stop what it started.
_STOP_SECONDS = 60


def file_name(part: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", part.lower()).strip("-")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=_LIMIT_SECONDS, help="seconds")
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--core", choices=sorted(env.CORES))
    parser.add_argument("name")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args(arguments)


def interruptible() -> None:
    """Raise KeyboardInterrupt for each signal that asks this process to stop."""
    # Where SIGINT is ignored, as behind nohup, the commands of this process would ignore it, too.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)


def run(
    command: list[str], limit: float, *, path: str, output: TextIO | None = None, cwd: Path = env.ROOT
) -> int | None:
    """Run a command; return its exit code, None if it did not end within ``limit`` seconds.

    Nothing of its process group stays. In a terminal, where a debugger may read, it has no group of its own.
    """
    group = not sys.stdin.isatty()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=os.environ | {"PATH": path},
        stdout=output,
        stderr=output and subprocess.STDOUT,
        process_group=0 if group else None,
    )
    try:
        return process.wait(limit)
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as error:
        with suppress(subprocess.TimeoutExpired, ProcessLookupError):
            process.send_signal(signal.SIGINT)
            process.wait(_STOP_SECONDS)
        if isinstance(error, KeyboardInterrupt):
            raise
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL) if group else process.kill()
        process.wait()


def _pytest(options: argparse.Namespace, report: Path) -> tuple[list[str], str] | None:
    """Return the command of pytest and its PATH; None if no Python here can run this ansible-core."""
    python, path = Path(sys.executable), os.environ["PATH"]
    if options.core:
        venv = env.core(options.core, ["libraries", "test"], "core")
        if venv is None:
            return None
        python = env.ROOT / venv / "bin" / "python"
        path = f"{python.parent}{os.pathsep}{path}"
        print(f"ansible-core {env.CORES[options.core][0]} on Python {env.python_version(python)}", flush=True)
    plugin = ["-p", "tests.tools.report", f"--report={report}"]
    return [str(python), "-m", "pytest", *plugin, *options.command], path


def _is_whole(report: Report) -> bool:
    """Whether a run that ended with 0 had tests and ended them; outside of CI all may be skipped."""
    ran = report.passed or os.environ.get("CI") != "true"
    return bool(report.end == 0 and ran and not report.running and not report.failed)


def _run_part(options: argparse.Namespace) -> tuple[int, str]:
    """Return an exit code and a verdict."""
    command, path = options.command, os.environ["PATH"]
    report = PARTS / f"{file_name(options.name)}.jsonl"
    if options.tests:
        report.unlink(missing_ok=True)
        pytest = _pytest(options, report)
        if pytest is None:
            print(f"left out: no Python here runs ansible-core {options.core}", flush=True)
            return (1, "FAILED (left out)") if os.environ.get("CI") == "true" else (0, "left out")
        command, path = pytest
    code = run(command, options.limit, path=path)
    if code is None:
        return 1, f"FAILED (not ended after {options.limit:.0f} s)"
    if options.tests and code == 0 and not _is_whole(read_report(report)):
        return 1, "FAILED (pytest did not run its tests to the end)"
    return code, "ok" if code == 0 else f"FAILED (exit {code})"


def main() -> int:
    options = parse(sys.argv[1:])
    interruptible()
    PARTS.mkdir(parents=True, exist_ok=True)
    outcome = {"name": options.name, "verdict": "FAILED (did not end)", "seconds": 0}
    file = PARTS / f"{file_name(options.name)}.json"
    file.write_text(json.dumps(outcome))
    print(f"--- {options.name}", flush=True)
    began = time.monotonic()
    code, verdict = _run_part(options)
    outcome |= {"verdict": verdict, "seconds": round(time.monotonic() - began)}
    file.write_text(json.dumps(outcome))
    print(f"--- {options.name}: {verdict}, {outcome['seconds']} s", flush=True)
    return 1 if code else 0


if __name__ == "__main__":
    sys.exit(main())
