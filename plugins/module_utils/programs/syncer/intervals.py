# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Intervals of checks and retries."""

from __future__ import annotations

from .backoff import Backoff
from .settings import SyncerSettings

__all__ = ["Intervals"]


class Intervals:
    """All in seconds. ``spread``: nodes that see the same change look for a slot within this time."""

    def __init__(self, settings: SyncerSettings) -> None:
        self.recheck = settings.recheck
        # More slots mean more nodes.
        self.spread = min(0.05 * len(settings.leases), 5.0)
        self.slot = Backoff(2.0, 15.0)
        self.held = Backoff(30.0, 300.0)
        # For the state of other nodes, if there is no response.
        self.ask = Backoff(2.0, 15.0)
        self.retry = Backoff(5.0, 300.0)
        # For a kubelet that is unhealthy with the previous file, too. New secrets do not fix it.
        self.back = Backoff(30.0, 300.0)
        # For failures of the node itself.
        self.again = Backoff(300.0, 3600.0)
        self.status = Backoff(2.0, 60.0)
        self.watch = Backoff(1.0, 15.0)
        # After an unexpected error.
        self.calm = Backoff(1.0, 60.0)

    def reset(self) -> None:
        """Restart every interval but the node's own, because something has changed."""
        for backoff in (self.slot, self.held, self.ask, self.retry, self.calm):
            backoff.reset()
