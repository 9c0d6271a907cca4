# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The clock of the programs on a node, which tests replace."""

from __future__ import annotations

import time

__all__ = ["Clock"]


class Clock:
    """The time for the node's work; tests replace it."""

    def monotonic(self) -> float:
        """Seconds since an arbitrary time, for time limits."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)

    def now(self) -> float:
        """Seconds since the epoch, for stored times."""
        return time.time()
