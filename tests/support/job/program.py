# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job's program as the image starts it, against stand-ins: watched, and where nothing can be written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.job.around import Pod

LIMIT = 60
# Loaded before the program: tells of each file that is opened to be written, and of each program started.
_SPY = """
import os, sys
def hook(event, arguments):
    if event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        seen.append(["open", str(arguments[0])])
    elif event in ("os.mkdir", "os.rename", "os.link", "os.symlink", "subprocess.Popen", "os.exec"):
        seen.append([event, str(arguments[0]) if arguments else ""])
seen = []
sys.addaudithook(hook)
def tell():
    loaded = sorted(sys.modules)
    import json
    with open("/proc/self/status") as stream:
        peak = next(line.split()[1] for line in stream if line.startswith("VmHWM"))
    os.write(SPY_HANDLE, json.dumps([seen, loaded, int(peak) / 1024]).encode())
import atexit
atexit.register(tell)
"""

# A bug that quotes what it met, in a function of Python's that the collection calls.
_BUG = """
def plant(where, name):
    import importlib
    holder = importlib.import_module(where)
    for part in name.split(".")[:-1]:
        holder = getattr(holder, part)
    real = getattr(holder, name.split(".")[-1])
    def broken(*arguments, **options):
        if "hyperfleet" in sys._getframe(1).f_globals.get("__name__", ""):
            raise ValueError(f"bug in {name}: {arguments!r} {options!r}")
        return real(*arguments, **options)
    setattr(holder, name.split(".")[-1], broken)
plant(WHERE, NAME)
"""

# The pod is ended while its program loads its parts.
_EARLY = """
class Ending:
    def find_spec(self, name, path=None, target=None):
        if name.endswith(".module_utils.programs.job.program"):
            os.kill(os.getpid(), 15)
sys.meta_path.insert(0, Ending())
"""


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
        self.message.write_bytes(b"")
        return subprocess.Popen(
            self.pod.command,
            cwd="/proc",
            env={**self.env, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(
        self, environment: Mapping[str, str], *, message: bool = True, bug: str = "", early: bool = False
    ) -> Done:
        """Run it to its end, with a ``bug`` in ``module:function``, or told to end ``early``."""
        if message:
            self.message.write_bytes(b"")
        else:
            self.message.unlink(missing_ok=True)
        reading, writing = os.pipe()
        where, dummy, name = bug.partition(":")
        planted = _BUG.replace("WHERE", repr(where)).replace("NAME", repr(name)) if bug else ""
        spied = _SPY.replace("SPY_HANDLE", str(writing)) + planted
        spied += _EARLY if early else ""
        spied += (
            f"import runpy\nsys.argv = [{str(self.pod.start)!r}]\n"
            f"runpy.run_path({str(self.pod.start)!r}, run_name='__main__')\n"
        )
        with os.fdopen(reading, "rb") as pipe:
            try:
                done = subprocess.run(
                    [sys.executable, "-I", "-S", "-B", "-c", spied],
                    cwd="/proc",
                    env={**self.env, **environment},
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    check=False,
                    timeout=LIMIT,
                    pass_fds=[writing],
                )
            finally:
                os.close(writing)
            seen, modules, peak = json.loads(pipe.read() or b"[[], [], 0]")
        told = self.message.read_bytes() if self.message.exists() else b""
        return Done(
            done.returncode,
            [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")],
            done.stdout + done.stderr,
            json.loads(told) if told else {},
            seen,
            modules,
            peak,
        )
