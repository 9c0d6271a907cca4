# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The log of an adapter's run, printed by the ansible-playbook that the run is a worker process of.

That ansible-playbook is killed now and then, and so is the process that started it, or the reader of what it
prints leaves. ansible-core's workers do not notice any of this. A run finishes its clusters in each case.

Workers hand what they print to one thread of ansible-playbook, through a pipe. At the first line that it cannot
write the thread ends, and ansible-playbook waits for ever for the result that the thread would have taken. It
ends by itself when its worker process ends with an error, if there is room in the pipe. So a run prints only
while what it prints can be written, and little at a time.
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

# Each call of display is a message to another process: after so many entries, or seconds.
_TOGETHER = 100
_SOON_SECONDS = 1.0
# One message, or two, fit into a pipe of 64 KiB.
_MESSAGE_CHARACTERS = 16 * 1024
# Between two looks at an output that is full.
_FULL_SECONDS = 0.05
# In which the last entries have to be printed where nobody may read them.
_LAST_SECONDS = 1.0


class Output(enum.Enum):
    """What ansible-playbook prints to: it takes a line now, is full, or has lost its reader (``head``)."""

    READY = enum.auto()
    FULL = enum.auto()
    CLOSED = enum.auto()


class Caller:
    """ansible-playbook, and the process that started it for an event source.

    :param run_directory: where the event source looks for the result; None: no event source started the
        run, and it may go on when the process that started ansible-playbook has ended.
    """

    def __init__(self, run_directory: Any) -> None:
        self._playbook = playbook_pid()
        self._starter = _parent(self._playbook) if run_directory else None

    def is_there(self) -> bool:
        """Whether the process that started the run still reads what is printed and returned."""
        if os.getppid() != self._playbook:
            return False
        starter = _parent(self._playbook) if self._starter is not None else None
        # The system may not say it just now: all files that may be open are.
        return starter is None or starter == self._starter

    def output(self) -> Output:
        """Whether ansible-playbook can print; READY where the system does not say."""
        path = f"/proc/{self._playbook}/fd/1"
        try:
            mode = os.stat(path).st_mode
            if not (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)):
                return Output.READY
            handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError as error:
            # A named pipe without a reader, and a terminal that was closed.
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
    """Who started a process; None where the system does not say."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:
            return int(stream.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


class RunLog:
    """Prints the structured log, some entries at a time.  Thread-safe.

    Only its own thread waits for ansible-playbook, and not the run, which holds the lock.

    :param stop: set where the run is to end.
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
        """One entry, at the configured level and in the configured format."""
        line = render(entry, level=logging.level, form=logging.format)
        if line is None:
            return
        with self._some:
            self._lines.append(line)
            if len(self._lines) >= _TOGETHER:
                self._some.notify()

    def is_lost(self) -> bool:
        """Whether the last entries may have been what ended ansible-playbook's thread.

        A reader that goes while these are still on their way to ansible-playbook is not seen here.
        """
        return self._unsure and self._output() is Output.CLOSED

    def close(self) -> None:
        """Print what is left; where nobody may read any more, for a moment only."""
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
        """The next entries to be printed, taken from those that wait."""
        with self._some:
            count, size = 0, 0
            for line in self._lines[:_TOGETHER]:
                size += len(line)
                if count and size > _MESSAGE_CHARACTERS:
                    break
                count += 1
            taken, self._lines = self._lines[:count], self._lines[count:]
        return taken
