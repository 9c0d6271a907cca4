# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measures wall time, CPU and memory of a command and of all processes that it starts."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# Reading the memory of a process locks that memory for a moment, so do it rarely.
_EVERY = 0.1
_KIB = 1024


@dataclass(frozen=True)
class Usage:
    """The cost of one run, in seconds and bytes.

    ``peak_tree`` is the maximum total memory of all its processes, from samples (PSS counts shared pages once).
    ``peak_process`` is the maximum memory of a single process (RSS), from the kernel.
    """

    wall: float
    cpu: float
    peak_tree: int
    peak_process: int


def machine_cpu() -> float:
    """Return the CPU seconds of all processes on this machine since its start."""
    user, nice, system, _idle, _iowait, irq, softirq = (
        int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:8]
    )
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def own_cpu() -> float:
    """Return the CPU seconds of the calling process, without its children."""
    spent = os.times()
    return spent.user + spent.system


class CommandFailed(Exception):
    """The command ended with an error. The message has the end of its output."""


def measure(
    command: Sequence[str | Path], *, log: Path, env: Mapping[str, str], cwd: Path, timeout: float = 900
) -> Usage:
    """Run the command with its output in ``log``.

    :raises CommandFailed: it did not end with 0.
    """
    with log.open("wb") as output:
        started = time.monotonic()
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
        )
        sampler = _Sampler(process.pid)
        killer = threading.Timer(timeout, os.killpg, (process.pid, signal.SIGKILL))
        killer.start()
        # The kernel returns CPU and the largest process for the child and its descendants that were waited for.
        _pid, status, spent = os.wait4(process.pid, 0)
        wall = time.monotonic() - started
        killer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    peak_tree = sampler.stop()
    if process.returncode != 0:
        tail = log.read_text(errors="replace")[-1500:]
        raise CommandFailed(f"{Path(command[0]).name} ended with {process.returncode}:\n{tail}")
    return Usage(wall, spent.ru_utime + spent.ru_stime, peak_tree, spent.ru_maxrss * _KIB)


class _Sampler(threading.Thread):
    """Samples the total memory of a process and its descendants."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self._root = root
        self._ended = threading.Event()
        self._peak = 0
        self.start()

    def run(self) -> None:
        while not self._ended.wait(_EVERY):
            self._peak = max(self._peak, sum(held(pid) for pid in family(self._root)))

    def stop(self) -> int:
        self._ended.set()
        self.join()
        return self._peak


def family(pid: int) -> list[int]:
    """Return the ids of a process and its living descendants."""
    found = [pid]
    for parent in found:
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{parent}/task"):
                with contextlib.suppress(OSError):
                    found += map(int, Path(f"/proc/{parent}/task/{task}/children").read_text().split())
    return found


def held(pid: int) -> int:
    """Return the memory of a process in bytes (PSS); 0 if it has ended."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * _KIB
    return 0
