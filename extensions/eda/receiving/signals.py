# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The signals that end ansible-rulebook, which the JVM in its process takes away from it."""

from __future__ import annotations

import signal
import threading

__all__ = ["restore_signal_handlers"]


def restore_signal_handlers() -> None:
    """Have SIGTERM and SIGINT call what they were meant to call.

    The JVM of the rule engine begins after ansible-rulebook has set its handlers, and ends the process where
    it stands: no task is cancelled, a playbook that runs is cut off, and directories stay.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        handler = signal.getsignal(number)
        if callable(handler):
            signal.signal(number, handler)
