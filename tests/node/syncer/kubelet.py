# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A systemd with one unit, in this process: how a restart goes is what a test says."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from typing import ClassVar

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.systemd.manager import (
    Systemd,
    UnitState,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.clock import Clock

UP = ("active", "running")
CRASHED = ("activating", "auto-restart")


class QuickClock(Clock):
    """Fifty seconds a second, so that windows and pauses are short."""

    speed = 50

    def monotonic(self) -> float:
        return time.monotonic() * self.speed

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds / self.speed)


class Kubelet:
    """The unit. ``on_restart`` gives the result of each restart, by its number from 1 on; it may block."""

    def __init__(self) -> None:
        self.restarts = 0
        self.load = "loaded"
        self.state = UP
        self.invocation = uuid.uuid4().hex
        self.on_restart: Callable[[int], str] = lambda _number: "done"
        self._lock = threading.Lock()

    def restart(self) -> str:
        with self._lock:
            self.restarts += 1
            number = self.restarts
        result = self.on_restart(number)
        self.invocation = uuid.uuid4().hex
        self.state = {"done": UP, "crash": CRASHED}.get(result, ("failed", "failed"))
        return "done" if result == "crash" else result

    def systemd(self) -> Systemd:
        return _Systemd(self)


class _Systemd(Systemd):
    NAME: ClassVar[str] = "fake"

    def __init__(self, kubelet: Kubelet) -> None:
        self._kubelet = kubelet

    def state(self, unit: str) -> UnitState:
        active, sub = self._kubelet.state
        return UnitState(self._kubelet.load, active, sub, "", self._kubelet.invocation, 0, True, "simple")

    def reset_failed(self, unit: str) -> None:
        pass

    def restart(self, unit: str, timeout: float) -> str:
        return self._kubelet.restart()
