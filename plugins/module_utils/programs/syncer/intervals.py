# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How often what is looked at and tried again."""

from __future__ import annotations

from .backoff import Backoff
from .settings import SyncerSettings

__all__ = ["Intervals"]


class Intervals:
    """All in seconds; ``spread``: nodes that see the same change look for a slot within so many."""

    def __init__(self, settings: SyncerSettings) -> None:
        self.recheck = settings.recheck
        # The more slots there are, the more nodes there are.
        self.spread = min(0.05 * len(settings.leases), 5.0)
        self.slot = Backoff(2.0, 15.0)
        self.held = Backoff(30.0, 300.0)
        # How the others fared, where there is no answer.
        self.ask = Backoff(2.0, 15.0)
        self.retry = Backoff(5.0, 300.0)
        # Of a kubelet that is not well with the file of before either. New secrets do not mend it.
        self.back = Backoff(30.0, 300.0)
        # Of what failed for reasons of the node's.
        self.again = Backoff(300.0, 3600.0)
        self.status = Backoff(2.0, 60.0)
        self.watch = Backoff(1.0, 15.0)
        # After an error that nobody thought of.
        self.calm = Backoff(1.0, 60.0)

    def reset(self) -> None:
        """Something is new: every interval but the node's own begins again."""
        for backoff in (self.slot, self.held, self.ask, self.retry, self.calm):
            backoff.reset()
