# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the event source records of its work.  This one keeps nothing; ``monitoring.recorder`` keeps metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["ActivityRecorder"]


class ActivityRecorder:
    """Called at each step in the event loop's thread.  Must neither block nor raise."""

    def event(self, kind: str) -> None:
        """An event about a cluster was taken; ``kind`` is its CloudEvents type, or ``unknown``."""

    def garbage(self, kind: str) -> None:
        """A message was of no use and is acknowledged: a word of ``cloud_events.GARBAGE``."""

    def acknowledged(self, n: int, result: str = "success") -> None:
        """So many messages with events were acknowledged; ``failure``: a cluster of theirs failed."""

    def batch(self, size: int) -> None:
        """A run with so many clusters is asked for."""

    def run_started(self) -> None:
        """It has begun."""

    def run_ended(self, result: Mapping[str, Any] | None, seconds: float) -> None:
        """It has ended, so many seconds after it was asked for; None: it died, or never began."""

    def broker(self, connected: bool) -> None:
        """The broker is there, or is lost."""

    def waiting(self, n: int) -> None:
        """So many clusters wait for a run now."""
