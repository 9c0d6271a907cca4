# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options for a node, and the result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ...dockerconfig import DockerConfig
from ...model.errors import ConfigurationError
from ...model.limits import LIMITS

__all__ = [
    "CACHE",
    "DEFERRED",
    "FAILED",
    "HELD",
    "IN_SYNC",
    "LOST",
    "NEVER",
    "ON_CHANGE",
    "PENDING",
    "SECONDS",
    "Options",
    "SyncResult",
]

ON_CHANGE, NEVER, DEFERRED = "on_change", "never", "deferred"
IN_SYNC, PENDING, FAILED, HELD = "in-sync", "pending", "failed", "held"

CACHE = "within 5 minutes"
"""kubelet reads the file again through a cache of this age, without a restart."""
LOST = "could not be rolled back: its backup is gone"

SECONDS = ("backoff", "restart_timeout", "ready_timeout", "window", "lock_timeout")
"""The options that are times."""


class Options(NamedTuple):
    """How to bring a node in sync; times in seconds.

    ``restart``: ``on_change``, ``never`` or ``deferred`` (written now, restarted by ``settle``);
    ``attempts``: restarts before the file is rolled back, unless not ``rollback``; ``backoff``: after the
    first failed one, doubling; ``restart_timeout``: for one job; ``ready_timeout``: until kubelet must be
    healthy; ``window``: how long it must then stay healthy; ``backup``: whether the previous file is kept
    once the new one works; ``retry_failed``: try content that has failed before.
    """

    unit: str = "kubelet.service"
    healthz: str = "http://127.0.0.1:10248/healthz"
    restart: str = ON_CHANGE
    attempts: int = 3
    backoff: float = 2.0
    restart_timeout: float = 120.0
    ready_timeout: float = 60.0
    window: float = 12.0
    lock_timeout: float = 30.0
    backup: bool = True
    rollback: bool = True
    retry_failed: bool = False

    def check(self) -> None:
        """Check ranges before anything is done: values too large for a clock or a number would be found too
        late.

        :raises ConfigurationError: names the option.
        """
        for name in ("attempts", *SECONDS):
            if not LIMITS[name].fits(getattr(self, name)):
                raise ConfigurationError(f"{name} must be {LIMITS[name].text}")


class SyncResult:
    """What was found and done. Only the two configs, which print as names, are secret.

    ``state``: ``in-sync``; ``pending``: written, and kubelet is not yet restarted or known to be healthy;
    ``failed``: it did not start, ``message`` says why and what was left; ``held``: it failed before, and was
    not tried again. ``actions``: what was done, or would be. ``restart``: facts, see ``restart_facts``.
    ``by_node``: it failed, and nothing shows that the docker config was the reason.
    """

    def __init__(self, state: str = IN_SYNC, message: str = "") -> None:
        self.state = state
        self.message = message
        self.actions: list[str] = []
        self.warnings: list[str] = []
        self.before: DockerConfig | None = None
        self.after: DockerConfig | None = None
        self.provenance: dict[str, str] = {}
        self.by_node = False
        self.rolled_back = False
        self.needed = False
        self.attempts = 0
        self.jobs: list[str] = []
        self.healthy: bool | None = None
        self.seconds = 0.0
        self.effective = "now"
        self.systemd = ""

    @property
    def changed(self) -> bool:
        """Whether the file or kubelet was touched, or would be."""
        return bool(self.actions)

    def did(self, action: str) -> None:
        """Note what was done."""
        if action not in self.actions:
            self.actions.append(action)

    def warn(self, warnings: Iterable[str]) -> None:
        """Add a warning, each once."""
        self.warnings = list(dict.fromkeys([*self.warnings, *warnings]))

    @property
    def restart_facts(self) -> dict[str, Any]:
        """``needed``; ``attempts`` and the ``jobs``' results; ``healthy`` (None: not checked); ``seconds``;
        ``effective``: when kubelet uses the file; ``systemd``: the protocol, if it was used.
        """
        return {
            "needed": self.needed,
            "attempts": self.attempts,
            "jobs": self.jobs,
            "healthy": self.healthy,
            "seconds": round(self.seconds, 3),
            "effective": self.effective,
            "systemd": self.systemd,
        }

    def then(self, later: SyncResult) -> SyncResult:
        """Combine this write with the result of ``settle``."""
        later.actions = self.actions + [action for action in later.actions if action not in self.actions]
        later.warnings = list(dict.fromkeys([*self.warnings, *later.warnings]))
        later.rolled_back = later.rolled_back or self.rolled_back
        later.before, later.after, later.provenance = self.before, self.after, self.provenance
        if later.rolled_back:
            later.after = self.before
        return later

    def __repr__(self) -> str:
        return f"<SyncResult {self.state} {', '.join(self.actions)}>"
