# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Background processes that outlive the command that started them, and that only their records can end.

Each process has a session of its own, a log and a record (``NAME.pid``: pid and start time). A pid is only
ever signalled while its start time is the recorded one: after a crash, or a reboot, another program may
have the number.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import glob
import json
import os
import random
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

T = TypeVar("T")


class LabError(Exception):
    """The lab cannot do what was asked; the text says why and where to look."""


def start_time(pid: int) -> str | None:
    """Return what identifies this incarnation of the pid; None when no such process runs."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)  # if it is a dead child of ours, let it go
    try:
        # The name (field 2) may hold spaces and brackets; the rest begins after its last bracket.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return None if fields[0] in "ZX" else f"{boot}:{fields[19]}"
    except OSError:
        if Path("/proc/self/stat").exists():
            return None
    # A system without /proc, such as macOS.
    told = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    state, _space, started = told.stdout.strip().partition(" ")
    return started.strip() if started and not state.startswith("Z") else None


def is_running(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    return start_time(pid) is not None


@functools.cache
def _port_locks() -> IO[bytes]:
    """The file with one lock (POSIX) per reserved port; a process loses its locks only when it ends."""
    return (Path(tempfile.gettempdir()) / f"hyperfleet-test-ports-{os.getuid()}").open("ab")


@functools.cache
def _ports() -> Iterator[int]:
    """Ports that the kernel gives to no connection and to no bind to port 0; each at most once a process."""
    try:
        low, high = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    except OSError:
        low, high = 49152, 65535
    ports = [port for port in range(20000, 30000) if not low <= port <= high] or list(range(20000, 30000))
    random.Random(os.urandom(8)).shuffle(ports)
    return iter(ports)


def free_ports(count: int) -> list[int]:
    """Return free ports of this machine; other processes that ask here do not get them until this one ends."""
    ports: list[int] = []
    while len(ports) < count:
        port = next(_ports())
        with contextlib.suppress(OSError), socket.socket() as probe:
            fcntl.lockf(_port_locks(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
            probe.bind(("", port))
            ports.append(port)
    return ports


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file, across processes; the holder may remove the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with path.open("a") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            try:
                still_there = os.path.samestat(os.fstat(stream.fileno()), path.stat())
            except FileNotFoundError:
                still_there = False
            if still_there:
                yield
                return
        # The holder before removed the file: others wait for another one by now.


def listing(directory: Path, pattern: str) -> list[Path]:
    """Return the paths below a directory that match, sorted. Other processes may remove some at any time.

    ``Path.glob`` raises an error if a directory vanishes while it is listed.
    """
    return sorted(directory / name for name in glob.glob(pattern, root_dir=directory))


def write_private(path: Path, text: str | bytes) -> Path:
    """Write a file that only this user can read."""
    data = text.encode() if isinstance(text, str) else text
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
        os.fchmod(stream.fileno(), 0o600)  # it may have been there with another mode
        stream.write(data)
    return path


def run(*command: str, **options: Any) -> str:
    """Run a command and return its output. LabError with the end of what it wrote if it fails."""
    done: subprocess.CompletedProcess[str] = subprocess.run(
        command, capture_output=True, text=True, check=False, **options
    )
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise LabError(f"{shlex.join(command)} failed:\n{last}")
    return done.stdout


def wait_until(probe: Callable[[], T | None], what: str, seconds: float = 180, pause: float = 0.1) -> T:
    """Return the probe's first true answer; LabError, with its last one, when the time is over."""
    deadline = time.monotonic() + seconds
    while not (answer := probe()):
        if time.monotonic() > deadline:
            raise LabError(f"waited {seconds:.0f} s in vain: {what} (last: {answer!r})")
        time.sleep(pause)
    return answer


def wait_for_file(path: Path, supervisor: Supervisor, name: str, seconds: float = 180) -> str:
    """Return the text of a ready file; LabError when its process ends or the time is over."""
    supervisor.wait(path.exists, name, seconds=seconds)
    return path.read_text()


class Supervisor:
    """The processes of one directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def log(self, name: str) -> Path:
        return self.directory / f"{name}.log"

    def log_tail(self, name: str, lines: int = 15) -> str:
        try:
            return "\n".join(self.log(name).read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return "(no log)"

    def start(
        self,
        name: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> int:
        """Start a detached process that writes to ``NAME.log``; return its pid."""
        self.directory.mkdir(parents=True, exist_ok=True)
        with self.log(name).open("ab") as log:
            process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd=cwd,
                env=None if env is None else {**os.environ, **env},
            )
        record = {"pid": process.pid, "started": start_time(process.pid), "command": Path(command[0]).name}
        self._record(name).write_text(json.dumps(record))
        process.returncode = 0  # it is meant to live on: no warning when this object goes
        return process.pid

    def names(self) -> list[str]:
        """Return the names of all recorded processes, running or not."""
        return [path.stem for path in listing(self.directory, "*.pid")]

    def running(self, name: str) -> bool:
        return self._pid(name) is not None

    def wait(self, probe: Callable[[], T], *names: str, until: str = "be ready", seconds: float = 180) -> T:
        """Return the probe's first true answer; LabError when one of the processes ends or the time is over."""

        def checked() -> T:
            found = probe()
            ended = [name for name in names if not found and not self.running(name)]
            if ended:
                raise LabError(f"{ended[0]} ended:\n{self.log_tail(ended[0])}")
            return found

        return wait_until(checked, f"{names[-1]} must {until}, see {self.log(names[-1])}", seconds, 0.02)

    def stop(self, name: str, seconds: float = 10) -> bool:
        """End the process (SIGTERM, later SIGKILL), forget its record; return whether it ran."""
        pid = self._pid(name)
        if pid is not None:
            deadline = time.monotonic() + seconds
            self._signal(pid, signal.SIGTERM)
            while self._pid(name) is not None:
                if time.monotonic() > deadline:
                    self._signal(pid, signal.SIGKILL)
                time.sleep(0.02)
        self._record(name).unlink(missing_ok=True)
        return pid is not None

    def clear(self) -> None:
        """Remove the directory with all logs and data."""
        shutil.rmtree(self.directory, ignore_errors=True)

    def _record(self, name: str) -> Path:
        return self.directory / f"{name}.pid"

    def _pid(self, name: str) -> int | None:
        try:
            record = json.loads(self._record(name).read_text())
        except (OSError, ValueError):
            return None
        pid = int(record["pid"])
        return pid if record["started"] and start_time(pid) == record["started"] else None

    @staticmethod
    def _signal(pid: int, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
