# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether the adapter can work now. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["HUNG_AFTER_SECONDS", "Readiness"]

# Seconds after which a run counts as hanging: it never waits for Jobs, and each cluster has a time limit.
HUNG_AFTER_SECONDS = 900.0


@dataclass
class Readiness:
    """The state of the process; times are monotonic seconds.

    :param connected: None before the first report of the broker.
    :param run_begins: the start of each current run.
    """

    configured: bool = False
    connected: bool | None = None
    hung_after: float = HUNG_AFTER_SECONDS
    run_begins: list[float] = field(default_factory=list)

    def run_ended(self, now: float, seconds: float) -> None:
        """A run of this duration has ended. Remove the start that is nearest to its own."""
        if self.run_begins:
            self.run_begins.remove(min(self.run_begins, key=lambda begun: abs(now - seconds - begun)))

    def unready(self, now: float) -> dict[str, str]:
        """Return the problems by topic; empty if it is ready."""
        found: dict[str, str] = {}
        if not self.configured:
            found["configuration"] = "not loaded"
        if not self.connected:
            found["broker"] = "not connected"
        oldest = now - min(self.run_begins, default=now)
        if oldest > self.hung_after:
            found["run"] = f"has not ended for {oldest:.0f} s"
        return found
