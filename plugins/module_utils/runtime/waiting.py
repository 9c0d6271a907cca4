# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Limits the waiting for calls that have no limit of their own."""

from __future__ import annotations

import threading
from concurrent.futures import Future, wait
from typing import Callable, TypeVar

from ..model.errors import Internal

__all__ = ["begin", "within"]

T = TypeVar("T")

# Seconds beyond the limit, so that the call's own, more precise error comes first.
_GRACE = 0.2


def within(seconds: float, call: Callable[[], T], late: Exception) -> T:
    """Return or raise what ``call`` does.

    An HTTP client's own limit is for each read from its socket: a server or proxy that sends a byte now and
    then would hold it forever.

    :param late: raised if it takes longer.
    """
    answer = begin(call)
    wait([answer], seconds + _GRACE)
    if not answer.done():
        raise late
    return answer.result()


def begin(call: Callable[[], T]) -> Future[T]:
    """Start a call in its own thread.

    Libraries that wait there (for an exec plugin, or a metadata server) cannot be stopped: the thread
    continues unnoticed, and ends with the process at the latest.
    """
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(call())
        except Exception as error:  # noqa: BLE001 - raised in the waiting thread
            answer.set_exception(error)
        except BaseException as error:  # noqa: BLE001 - if a library ends the process, only one target fails
            answer.set_exception(Internal(f"internal error: {type(error).__name__}", "please report this"))

    threading.Thread(target=run, daemon=True).start()
    return answer
