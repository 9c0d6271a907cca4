# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A systemd with one unit, in this process: a test says how a restart goes. And clocks that do not wait."""

from __future__ import annotations

import time
from collections.abc import Callable

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.systemd.manager import (
    Systemd,
    UnitState,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.clock import Clock

UNIT = "kubelet.service"


class JumpingClock(Clock):
    """Sleeping takes no time and moves the clock."""

    def __init__(self) -> None:
        self.time = 1000.0

    def monotonic(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.time += max(seconds, 0.001)

    def now(self) -> float:
        return 1_700_000_000.0 + self.monotonic()


class QuickClock(Clock):
    """So many seconds a second, so that windows and pauses are short."""

    def __init__(self, speed: int = 50) -> None:
        self._speed = speed

    def monotonic(self) -> float:
        return time.monotonic() * self._speed

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds / self._speed)


class FakeSystemd(Systemd):
    """A unit that is running.

    A restart has the result that ``on_restart`` gives for its number (from 1 on; it may block), else the next of
    ``script``, else ``done``. After ``crash`` the job is done and the unit is down. A function in the script
    does all that its restart does, and returns the result.
    """

    NAME = "fake"

    def __init__(self) -> None:
        self.count = 1
        self.now = UnitState("loaded", "active", "running", "success", "1" * 32, 0, True, "notify")
        self.script: list[str | Callable[[], str]] = []
        self.on_restart: Callable[[int], str | None] = lambda _number: None
        # What the unit becomes some polls after a restart.
        self.later: list[UnitState] = []
        self.restarts = 0

    def state(self, unit: str) -> UnitState:
        assert unit == UNIT
        if self.later:
            self.now = self.later.pop(0)
        return self.now

    def reset_failed(self, unit: str) -> None:
        pass

    def started(self) -> UnitState:
        self.count += 1
        return UnitState("loaded", "active", "running", "success", f"{self.count:032x}", 0, True, "notify")

    def restart(self, unit: str, timeout: float) -> str:
        self.restarts += 1
        step = self.on_restart(self.restarts) or (self.script.pop(0) if self.script else "done")
        if not isinstance(step, str):
            return step()
        if step == "done":
            self.now = self.started()
        elif step == "failed":
            self.now = self.started()._replace(active="failed", sub="failed", result="exit-code")
        elif step == "crash":
            self.now = self.started()._replace(active="activating", sub="auto-restart")
            return "done"
        return step
