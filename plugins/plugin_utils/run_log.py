# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a run of the adapter has to do with the ansible-playbook that it is a worker of.

That ansible-playbook is killed now and then, or whoever started it is. ansible-core's workers know neither.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import stat
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Optional

from ansible.utils.display import Display

from ..module_utils.programs.job.log import render
from .playbook_process import playbook_pid

__all__ = ["Asker", "RunLog"]

display = Display()

# Each call of display is a message to another process: after so many entries, or seconds.
_TOGETHER = 100
_SOON = 1.0
# Seconds in which the last entries have to be printed where nobody may listen.
_LAST = 1.0
# Seconds in which ansible-playbook has to end.
_END = 2.0


class Asker:
    """ansible-playbook, and whoever started it for an event source.

    :param run_directory: where the event source looks for the result; None: it is not asked by one, and may
        go on when the one that started it has ended.
    """

    def __init__(self, run_directory: Any) -> None:
        self._ansible = playbook_pid()
        self._by = _parent(self._ansible) if run_directory else None

    def is_there(self) -> bool:
        """Whether somebody takes what is printed and returned."""
        if os.getppid() != self._ansible:
            return False
        by = _parent(self._ansible) if self._by is not None else None
        # The system may not say it just now: all files that may be open are.
        return by is None or by == self._by

    def is_heard(self) -> bool:
        """Whether ansible-playbook can print: a pipe whose reader (``head``) has gone takes nothing."""
        path = f"/proc/{self._ansible}/fd/1"
        try:
            if not stat.S_ISFIFO(os.stat(path).st_mode):
                return True
            handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            # Of one with a name that nobody reads.
            return error.errno != errno.ENXIO
        try:
            poll = select.poll()
            poll.register(handle, 0)
            return not poll.poll(0)
        finally:
            os.close(handle)

    def end(self) -> None:
        """End an ansible-playbook that nobody reads from any more, if it is there.

        Its thread for what workers say ends at the first line that cannot be written, and it waits for ever
        for what that thread would have taken.
        """
        for number in (signal.SIGTERM, signal.SIGKILL):
            deadline = time.monotonic() + _END
            if os.getppid() == self._ansible:
                with suppress(OSError):
                    os.kill(self._ansible, number)
            while os.getppid() == self._ansible and time.monotonic() < deadline:
                time.sleep(0.02)


def _parent(pid: int) -> Optional[int]:
    """Who started a process; None where the system does not say."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:
            return int(stream.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


class RunLog:
    """Prints the structured log, some entries at a time.  Thread-safe.

    What is printed goes through a pipe to ansible-playbook. Where that was killed nobody reads, and a pipe
    that is full is waited with for ever: only this thread does, and not the run, which holds the lock.

    :param stop: set where the run is to end.
    """

    def __init__(self, asker: Asker, stop: Optional[threading.Event] = None) -> None:
        self._asker = asker
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
        """Whether the last entries may have been what ended ansible-playbook's thread (``Asker.end``).

        A reader that goes while these are still on their way to ansible-playbook is not seen here.
        """
        return self._unsure and not self._asker.is_heard()

    def close(self) -> None:
        """Print what is left; where nobody may listen any more, for a moment only."""
        with self._some:
            self._ended = True
            self._some.notify()
        last: Optional[float] = None
        while self._thread.is_alive():
            if self._stop.is_set() or not self._asker.is_there():
                last = last or time.monotonic() + _LAST
            if last is not None and time.monotonic() >= last:
                return
            self._thread.join(0.1)

    def _print(self) -> None:
        ended = False
        while not ended:
            with self._some:
                self._some.wait_for(lambda: self._ended or len(self._lines) >= _TOGETHER, _SOON)
                lines, self._lines, ended = self._lines, [], self._ended
            if self._unsure and not ended and self._asker.is_heard():
                self._unsure = False
            if lines and self._asker.is_heard():
                self._unsure = True
                display.display("\n".join(lines))
