# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One JSON line for each thing that happens, on standard output."""

from __future__ import annotations

import json
import os
import time

__all__ = ["JsonLog", "error_place", "kind_of"]


class JsonLog:
    """Lines of ``time``, ``level``, ``event`` and what belongs to it; made of names, never of values."""

    def __init__(self, descriptor: int = 1) -> None:
        self._descriptor = descriptor

    def info(self, event: str, **fields: object) -> None:
        self._line("info", event, fields)

    def warning(self, event: str, **fields: object) -> None:
        self._line("warning", event, fields)

    def error(self, event: str, **fields: object) -> None:
        self._line("error", event, fields)

    def _line(self, level: str, event: str, fields: dict[str, object]) -> None:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = {"time": stamp, "level": level, "event": event, **fields}
        try:
            # One write, so that lines of two threads do not mix; and nothing is left in a buffer.
            os.write(self._descriptor, json.dumps(line, separators=(",", ":"), default=str).encode() + b"\n")
        except OSError:
            pass  # nobody reads the log: no reason to stop


def kind_of(error: BaseException) -> str:
    """An unexpected error as its type: its text could hold a value."""
    return f"internal error: {type(error).__name__}"


def error_place(error: BaseException) -> str:
    """The same with its line, for the log."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        place = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{kind_of(error)} at {place or 'an unknown place'}"
