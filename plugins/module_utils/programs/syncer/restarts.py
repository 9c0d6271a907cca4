# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kubelet's restarts: wait for a slot, hold if another node has failed, restart in a thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Union

from ...runtime.wire import WireError
from .api import ApiError
from .backoff import random_between
from .intervals import Intervals
from .leases import RestartSlots
from .log import JsonLog, error_place, kind_of
from .node import Node, NodeError, NodeOutcome
from .status import HELD, PENDING, NodeStatus

__all__ = ["RestartResult", "Restarts"]

_IDLE, _WAITING, _RUNNING = "idle", "waiting", "running"
# How often a node that cannot read other nodes' states tries again: for about a minute.
_ASKS = 6

RestartResult = Union[NodeOutcome, str]
"""The result, or why there is none."""


class Restarts:
    """Runs one restart at a time. Only ``done`` is called from another thread.

    :param say: called with a state and a message while it waits.
    :param begun: called just before kubelet is restarted.
    :param done: called with the result; then ``end`` and ``release`` must be called.
    :param stopping: whether the syncer must end.
    :param is_current: whether the file has the Secret's current content.
    """

    def __init__(
        self,
        node: Node,
        slots: RestartSlots,
        status: NodeStatus,
        log: JsonLog,
        pace: Intervals,
        say: Callable[[str, str], None],
        begun: Callable[[], None],
        done: Callable[[RestartResult], None],
        stopping: Callable[[], bool],
        is_current: Callable[[], bool],
    ) -> None:
        self._node = node
        self._slots = slots
        self._status = status
        self._log = log
        self._pace = pace
        self._say = say
        self._begun = begun
        self._done = done
        self._stopping = stopping
        self._is_current = is_current
        self._step = _IDLE
        self._version = ""
        self._is_bound = False
        self._held_by = ""
        self._asks = 0
        self._look_at = 0.0
        # The earliest time to retry a rollback's restart or other remaining work.
        self._back_at = 0.0
        self._resume_at = 0.0
        self.only_back = False
        """Whether the current or the last restart only finishes a rollback."""

    @property
    def version(self) -> str:
        """The version of the Secret for which the last restart was requested."""
        return self._version

    @property
    def is_idle(self) -> bool:
        return self._step == _IDLE

    @property
    def is_at_rest(self) -> bool:
        """Whether it is idle and has no slot to release."""
        return self._step == _IDLE and self._slots.owed_at is None

    @property
    def is_running(self) -> bool:
        return self._step == _RUNNING

    @property
    def due_at(self) -> float | None:
        """When ``on_time`` has something to do, on the monotonic clock."""
        if self._step == _RUNNING:
            return self._slots.renew_at
        owed_at = self._slots.owed_at
        if self._step == _IDLE or self._stopping():
            return owed_at
        return self._look_at if owed_at is None else min(owed_at, self._look_at)

    def request(self, version: str, outcome: NodeOutcome) -> None:
        """Request a restart for this version of the Secret."""
        if self._step == _RUNNING:
            return
        is_new = self._step != _WAITING or outcome.changed or outcome.only_back != self.only_back
        is_other = self._step != _WAITING or version != self._version
        self._version, self.only_back = version, outcome.only_back
        # Its kubelet may be down: finish the restart, whichever other node failed.
        self._is_bound = outcome.only_back or outcome.begun
        if is_new:
            self._asks = 0
            if is_other:
                # Otherwise the file was only repaired after others changed it: a held node stays held.
                self._held_by = ""
            self._look_at = time.monotonic() + random_between(0, self._pace.spread)
        if self.only_back:
            # Whatever has changed, kubelet would be started with the same file as the last time.
            self._look_at = max(self._look_at, self._back_at)
        self._step = _WAITING

    def resume(self, outcome: NodeOutcome) -> None:
        """Do the remaining restart of the version requested last. A restart that already waits continues."""
        if self._step == _IDLE:
            self.request(self._version, outcome)
            self._look_at = max(self._look_at, self._resume_at)

    def drop(self) -> None:
        """Stop waiting, because there is no Secret to restart for."""
        if self._step == _WAITING:
            self._step = _IDLE

    def on_time(self, now: float) -> None:
        """Look for a slot, or renew the current one."""
        due = self.due_at
        if due is None or now < due:
            return
        if self._step == _RUNNING:
            if not self._slots.renew():
                # Too late to undo: kubelet is being restarted.
                why = "the slot could not be renewed; another node may restart while this restart continues"
                self._log.warning("slot lost", resourceVersion=self._version, why=why)
        elif self._step == _WAITING and now >= self._look_at and not self._stopping():
            self._look()
        else:
            self._slots.release()

    def end(self, result: RestartResult) -> None:
        """Record the end: the result is known, the slot is still held."""
        self._step = _IDLE
        if isinstance(result, NodeOutcome) and result.finished and not result.only_back:
            self._back_at = 0.0
            self._pace.back.reset()
            if result.failed:
                # It may be unchanged, as if there was nothing to go back to.
                self._resume_at = time.monotonic() + self._pace.retry.wait()
        elif self.only_back or (isinstance(result, NodeOutcome) and result.only_back):
            self._back_at = time.monotonic() + self._pace.back.wait()

    def release(self) -> None:
        """Release the slot."""
        self._slots.release()

    def _look(self) -> None:
        if self._held_by and not self._is_bound and self._is_held():
            return
        if not self._slots.take():
            self._look_at = time.monotonic() + self._pace.slot.wait()
            self._say(
                PENDING,
                f"kubelet waits for its restart: {self._slots.trouble or 'other nodes are restarting'}",
            )
            return
        # Read with the slot held: a failed node reports before it releases its slot.
        if not self._is_bound and self._is_held():
            self._slots.release()
            return
        self._step = _RUNNING
        try:
            self._log.info("restarting", resourceVersion=self._version)
            self._begun()
            threading.Thread(target=self._run, name="restart", daemon=True).start()
        except (RuntimeError, MemoryError) as error:
            # The node's limit of restarts is reached.
            self._done(kind_of(error))

    def _is_held(self) -> bool:
        """Return whether kubelet failed elsewhere with this version. Then it is not restarted here."""
        if self._held_by and not self._is_current():
            # By now the failed node may no longer report this version.
            self._look_at = time.monotonic() + self._pace.held.wait()
            return True
        try:
            self._held_by = self._status.failed_elsewhere(self._version)
        except (ApiError, WireError) as error:
            return self._is_unknown(error)
        self._asks = 0
        if not self._held_by:
            return False
        self._look_at = time.monotonic() + self._pace.held.wait()
        why = (
            "the file is written, but kubelet is not restarted on this node, because kubelet did not "
            f"become healthy with this version on {self._held_by}"
        )
        self._log.warning("held", resourceVersion=self._version, why=why)
        self._say(HELD, why)
        return True

    def _is_unknown(self, error: Exception) -> bool:
        """Handle unknown states of other nodes: a held node stays held, another waits a limited time."""
        if self._held_by:
            self._look_at = time.monotonic() + self._pace.held.wait()
            return True
        self._asks += 1
        waits = self._asks <= _ASKS
        if waits:
            self._look_at = time.monotonic() + self._pace.ask.wait()
            self._say(PENDING, "kubelet waits for its restart: the state of the other nodes cannot be read")
        else:
            self._log.warning("state of other nodes unknown", resourceVersion=self._version, why=str(error))
        return waits

    def _run(self) -> None:
        """Runs in its own thread."""
        result: RestartResult = "internal error"
        try:
            result = self._node.restart(self._stopping)
        except NodeError as error:
            result = str(error)
        except Exception as error:  # noqa: BLE001 - its message could hold a value
            result = kind_of(error)
            with suppress(Exception):  # as where there is no memory even to say so
                self._log.error("unexpected", why=error_place(error))
        finally:
            # Without it nothing would ever be restarted again.
            self._done(result)
