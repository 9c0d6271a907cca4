# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The interface for recording the event source's activity. This class records nothing;
``monitoring.recorder`` keeps metrics.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["ActivityRecorder"]


class ActivityRecorder:
    """Called at each step in the event loop's thread. Must neither block nor raise."""

    def event(self, kind: str) -> None:
        """An event about a cluster was received; ``kind`` is its CloudEvents type, or ``unknown``."""

    def garbage(self, kind: str) -> None:
        """A message was unusable and is acknowledged: a word of ``cloud_events.GARBAGE``."""

    def acknowledged(self, n: int, result: str = "success") -> None:
        """Messages with events were acknowledged; ``failure``: one of their clusters failed."""

    def batch(self, size: int) -> None:
        """A run with this number of clusters is requested."""

    def run_started(self) -> None:
        """The run has begun."""

    def run_ended(self, result: Mapping[str, Any] | None, seconds: float) -> None:
        """The run has ended, this number of seconds after the request; None: it died, or never began."""

    def broker(self, connected: bool) -> None:
        """The broker is connected, or the connection is lost."""

    def waiting(self, n: int) -> None:
        """This number of clusters waits for a run now."""
