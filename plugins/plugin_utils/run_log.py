# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Prints the log of an adapter's run, which is a worker process of ansible-playbook.

ansible-playbook, or the process that started it, may be killed, or the reader of its output may end.
ansible-core's workers notice none of this. A run finishes its clusters in each case.

Workers pass their output to one thread of ansible-playbook, through a pipe. That thread ends at the first
line that it cannot write, and ansible-playbook then waits forever for the result. ansible-playbook ends when its
worker process ends with an error, if the pipe is not full. So a run prints only while its output can be
written, and only a few entries at a time.
"""

from __future__ import annotations

import enum
import errno
import os
import select
import stat
import threading
import time
from collections.abc import Mapping
from typing import Any

from ansible.utils.display import Display

from ..module_utils.programs.job.log import render
from .playbook_process import playbook_pid

__all__ = ["Caller", "Output", "RunLog"]

_display = Display()

# Each call of display is a message to another process. So print after this number of entries, or seconds.
_TOGETHER = 100
_SOON_SECONDS = 1.0
# Maximum characters of a message: two messages fit into a pipe of 64 KiB.
_MESSAGE_CHARACTERS = 16 * 1024
# Seconds between two checks of a full output.
_FULL_SECONDS = 0.05
# Seconds to print the last entries if there may be no reader.
_LAST_SECONDS = 1.0


class Output(enum.Enum):
    """The state of ansible-playbook's output: ready for a line, full, or without a reader (``head``)."""

    READY = enum.auto()
    FULL = enum.auto()
    CLOSED = enum.auto()


class Caller:
    """ansible-playbook, and the process that started it for an event source.

    :param run_directory: where the event source reads the result. None: no event source started the run, and
        it may continue when the process that started ansible-playbook has ended.
    """

    def __init__(self, run_directory: Any) -> None:
        self._playbook = playbook_pid()
        self._starter = _parent(self._playbook) if run_directory else None

    def is_there(self) -> bool:
        """Return whether the process that started the run still reads its output and result."""
        if os.getppid() != self._playbook:
            return False
        starter = _parent(self._playbook) if self._starter is not None else None
        # The answer is unknown if the limit of open files has been reached.
        return starter is None or starter == self._starter

    def output(self) -> Output:
        """Return whether ansible-playbook can print; READY if the system does not know."""
        path = f"/proc/{self._playbook}/fd/1"
        try:
            mode = os.stat(path).st_mode
            if not (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)):
                return Output.READY
            handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError as error:
            # A named pipe without a reader, or a closed terminal.
            return Output.CLOSED if error.errno in (errno.ENXIO, errno.EIO) else Output.READY
        try:
            poll = select.poll()
            poll.register(handle, select.POLLOUT)
            found = poll.poll(0)
        finally:
            os.close(handle)
        if not found:
            return Output.FULL
        return Output.READY if found[0][1] == select.POLLOUT else Output.CLOSED


def _parent(pid: int) -> int | None:
    """Return the parent of a process; None if the system does not know."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:
            return int(stream.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


class RunLog:
    """Prints the structured log, some entries at a time. Thread-safe.

    Only its own thread waits for ansible-playbook. The run, which holds the lock, does not.

    :param stop: set when the run must end.
    """

    def __init__(self, caller: Caller, stop: threading.Event | None = None) -> None:
        self._caller = caller
        self._stop = stop or threading.Event()
        self._some = threading.Condition()
        self._lines: list[str] = []
        self._ended = False
        self._unsure = False
        self._thread = threading.Thread(target=self._print, daemon=True)
        self._thread.start()

    def add(self, entry: Mapping[str, Any], logging: Any) -> None:
        """Add one entry, at the configured level and in the configured format."""
        line = render(entry, level=logging.level, form=logging.format)
        if line is None:
            return
        with self._some:
            self._lines.append(line)
            if len(self._lines) >= _TOGETHER:
                self._some.notify()

    def is_lost(self) -> bool:
        """Return whether the last entries may have ended ansible-playbook's thread.

        A reader that ends while these are still on their way is not noticed here.
        """
        return self._unsure and self._output() is Output.CLOSED

    def close(self) -> None:
        """Print the remaining entries; with a short time limit if there may be no reader."""
        with self._some:
            self._ended = True
            self._some.notify()
        last: float | None = None
        while self._thread.is_alive():
            if self._stop.is_set() or not self._caller.is_there():
                last = last or time.monotonic() + _LAST_SECONDS
            if last is not None and time.monotonic() >= last:
                return
            self._thread.join(0.1)

    def _output(self) -> Output:
        return self._caller.output() if self._caller.is_there() else Output.CLOSED

    def _print(self) -> None:
        while True:
            with self._some:
                self._some.wait_for(lambda: self._ended or len(self._lines) >= _TOGETHER, _SOON_SECONDS)
                if self._ended and not self._lines:
                    return
            output = self._output()
            if output is Output.FULL:
                time.sleep(_FULL_SECONDS)
                continue
            lines = self._next()
            if output is Output.READY:
                self._unsure = bool(lines)
                if lines:
                    _display.display("\n".join(lines))

    def _next(self) -> list[str]:
        """Return the next waiting entries to print."""
        with self._some:
            count, size = 0, 0
            for line in self._lines[:_TOGETHER]:
                size += len(line)
                if count and size > _MESSAGE_CHARACTERS:
                    break
                count += 1
            taken, self._lines = self._lines[:count], self._lines[count:]
        return taken
