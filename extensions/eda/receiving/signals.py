# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Restores the signal handlers of ansible-rulebook, which the JVM in its process replaces."""

from __future__ import annotations

import signal
import threading

__all__ = ["restore_signal_handlers"]


def restore_signal_handlers() -> None:
    """Restore the handlers of SIGTERM and SIGINT.

    The JVM of the rule engine starts after ansible-rulebook has set its handlers, and ends the process at
    once: no task is cancelled, a running playbook is cut off, and directories stay.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        handler = signal.getsignal(number)
        if callable(handler):
            signal.signal(number, handler)
