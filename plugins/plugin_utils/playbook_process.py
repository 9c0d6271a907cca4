# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Watches the ansible-playbook of a worker process, and ends the worker if it is gone.

ansible-core's workers do not notice that ansible-playbook was killed. No process reads a worker's result then,
and a result that is larger than a pipe blocks the worker forever.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable

from ..module_utils.runtime.batch import stop_on_signals

__all__ = ["ends_with_playbook", "finished_first", "leave_if_gone", "playbook_pid", "stopped_with_playbook"]

_POLL_SECONDS = 0.5

_Run = Callable[..., dict[str, Any]]

# Running work: its event is set when ansible-playbook is gone, and the worker waits for its end.
_under_way: list[threading.Event] = []


def playbook_pid() -> int:
    """Return the process that forked this worker. multiprocessing recorded it before the fork.

    If ansible-playbook was killed right after the fork, ``os.getppid`` never returned its id.
    """
    parent = multiprocessing.parent_process()
    noted = parent.pid if parent is not None else None
    return os.getppid() if noted is None else noted


def _is_gone() -> bool:
    """Return whether ansible-playbook has ended before its worker."""
    return os.getppid() != playbook_pid()


def leave_if_gone() -> None:
    """End this worker if its ansible-playbook is gone."""
    if _is_gone():
        os._exit(1)


def ends_with_playbook(run: _Run) -> _Run:
    """Decorate an action's ``run``: if its ansible-playbook is gone, the worker ends and starts no work.

    Work under ``stopped_with_playbook`` or ``finished_first`` is finished first.
    """

    @functools.wraps(run)
    def ended(*arguments: Any, **options: Any) -> dict[str, Any]:
        leave_if_gone()
        _watch(os.getpid())
        result = run(*arguments, **options)
        leave_if_gone()
        return result

    return ended


@contextmanager
def stopped_with_playbook(stop: threading.Event) -> Iterator[None]:
    """Set ``stop`` when ansible-playbook is gone, or on a signal; end the worker after the work."""
    with stop_on_signals(stop) as came, finished_first(stop):
        try:
            yield
        finally:
            if came:
                os._exit(1)
            leave_if_gone()


@contextmanager
def finished_first(stop: threading.Event | None = None) -> Iterator[None]:
    """Finish the work in this block before the worker ends.

    :param stop: set when ansible-playbook is gone.
    """
    begun = stop or threading.Event()
    _under_way.append(begun)
    try:
        yield
    finally:
        _under_way.remove(begun)


@functools.cache
def _watch(_pid: int) -> None:
    """Watch ansible-playbook until this process ends, also while it sends its result."""
    if multiprocessing.parent_process() is not None:
        threading.Thread(target=_leave_with_playbook, name="playbook-watch", daemon=True).start()


def _leave_with_playbook() -> None:
    while not _is_gone():
        time.sleep(_POLL_SECONDS)
    while _under_way:
        for stop in list(_under_way):
            stop.set()
        time.sleep(_POLL_SECONDS)
    os._exit(1)
