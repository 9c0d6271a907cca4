# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job's program as the image starts it, against stand-ins: watched, and where nothing can be written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.job.around import Pod

LIMIT = 60
# Runs before the program: notes each file that is opened to be written, and each program that is started.
_SPY = """
import atexit, os, sys
seen = []
def hook(event, arguments):
    if event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        seen.append(["open", str(arguments[0])])
    elif event in ("os.mkdir", "os.rename", "os.link", "os.symlink", "subprocess.Popen", "os.exec"):
        seen.append([event, str(arguments[0]) if arguments else ""])
def report(handle):
    loaded = sorted(sys.modules)
    import json
    with open("/proc/self/status") as stream:
        peak = next(line.split()[1] for line in stream if line.startswith("VmHWM"))
    os.write(handle, json.dumps([seen, loaded, int(peak) / 1024]).encode())
sys.addaudithook(hook)
atexit.register(report, int(sys.argv[1]))
"""
_RUN = """
import runpy
del sys.argv[:2]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
_BUG = """
def plant(where, name):
    import importlib
    holder = importlib.import_module(where)
    *path, last = name.split(".")
    for part in path:
        holder = getattr(holder, part)
    real = getattr(holder, last)
    def broken(*arguments, **options):
        if "hyperfleet" in sys._getframe(1).f_globals.get("__name__", ""):
            raise ValueError(f"bug in {name}: {arguments!r} {options!r}")
        return real(*arguments, **options)
    setattr(holder, last, broken)
"""
# The pod is ended while its program loads its parts.
EARLY = """
class Ending:
    def find_spec(self, name, path=None, target=None):
        if name.endswith(".module_utils.programs.job.program"):
            os.kill(os.getpid(), 15)
sys.meta_path.insert(0, Ending())
"""


def bug_in(function: str) -> str:
    """A bug that quotes its arguments, in a function (``module:name``) of Python's that the collection calls."""
    where, _colon, name = function.partition(":")
    return f"{_BUG}plant({where!r}, {name!r})\n"


@dataclass(frozen=True)
class Done:
    """A run that has ended; ``seen``: what was opened for writing; ``peak``: MiB of memory."""

    code: int
    log: list[dict[str, Any]]
    output: str
    told: dict[str, Any]
    seen: list[list[str]]
    modules: list[str]
    peak: float


class Program:
    """``directory`` holds what the kubelet would mount: the account and the termination message's file."""

    def __init__(self, directory: Path, store: SecretManagerLab, management: KubernetesLab) -> None:
        self.store, self.management = store, management
        self.message = directory / "termination-log"
        self.pod = Pod(directory, management)
        # Nothing can be written in there, not even by root.
        nowhere = "/proc/self/fd"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": nowhere,
            "TMPDIR": nowhere,
            "SECRET_MANAGER_EMULATOR_HOST": store.rest,
            "TERMINATION_MESSAGE_PATH": str(self.message),
            **self.pod.environment,
        }

    def start(self, environment: Mapping[str, str]) -> subprocess.Popen[str]:
        """Start it, unwatched."""
        return subprocess.Popen(self.pod.command, **self._options(environment))

    def run(self, environment: Mapping[str, str], *, first: str = "") -> Done:
        """Run it to its end, after the Python code ``first``."""
        code = _SPY + first + _RUN
        with tempfile.TemporaryFile() as report:
            handle = report.fileno()
            command = [sys.executable, "-I", "-S", "-B", "-c", code, str(handle), str(self.pod.start)]
            done = subprocess.run(
                command, **self._options(environment), pass_fds=[handle], timeout=LIMIT, check=False
            )
            report.seek(0)
            seen, modules, peak = json.loads(report.read() or b"[[], [], 0]")
        log = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        told = json.loads(self.message.read_bytes() or b"{}")
        return Done(done.returncode, log, done.stdout + done.stderr, told, seen, modules, peak)

    def _options(self, environment: Mapping[str, str]) -> dict[str, Any]:
        self.message.write_bytes(b"")
        return {
            "cwd": "/proc",
            "env": {**self.env, **environment},
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
        }
