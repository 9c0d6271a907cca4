# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The time as the programs of a node see it, so that a test can have one of its own."""

from __future__ import annotations

import time

__all__ = ["Clock"]


class Clock:
    """Time, as the node's work sees it; tests have another one."""

    def monotonic(self) -> float:
        """Seconds since some time; for time limits."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)

    def now(self) -> float:
        """Seconds since the epoch; for what is kept."""
        return time.time()
