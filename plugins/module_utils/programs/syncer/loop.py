# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From an event to the file, and from there to a kubelet that runs with it.

One thread decides (this one); one watches the Secret, and one restarts kubelet while there is something to
restart. The file is written as soon as the event is there; only the restart waits for a slot.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from .backoff import random_between
from .intervals import Intervals
from .leases import RestartSlots
from .log import JsonLog, error_place, kind_of
from .node import Invalid, Node, NodeError, NodeOutcome
from .restarts import RestartResult, Restarts
from .settings import ON_CHANGE, SyncerSettings
from .status import FAILED, IN_SYNC, PENDING, NodeStatus
from .watch import PendingSecrets, SecretState

__all__ = ["SyncLoop"]

# Of the checks of the file, one in this number reads it.
_READ_EVERY_RECHECKS = 10
_RESTARTING = "kubelet is being restarted"


class SyncLoop:
    """:param rest: called when no work is left, to release resources."""

    def __init__(
        self,
        settings: SyncerSettings,
        node: Node,
        slots: RestartSlots,
        status: NodeStatus,
        log: JsonLog,
        *,
        rest: Callable[[], None],
        pace: Intervals,
    ) -> None:
        self._may_restart = settings.restart == ON_CHANGE
        self._node = node
        self._status = status
        self._log = log
        self._rest = rest
        self._pace = pace
        self._inbox: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self._waiting = PendingSecrets()
        self._restarts = Restarts(
            node,
            slots,
            status,
            log,
            pace,
            self._set_state,
            self._on_begun,
            self._put_result,
            lambda: self._stopping,
            lambda: self._is_written and not self._is_gone,
        )
        self._stopping = False
        self._failed = ""
        self._secret: SecretState | None = None
        # Whether the last check found no file.
        self._is_gone = False
        # Whether the file has the current content of the Secret.
        self._is_written = False
        self._written_meanwhile = False
        self._stamp: tuple[int, ...] | None = None
        self._logged = ""
        self._said_trouble = ""
        self._rechecks = 0
        self._is_awake = True
        # When to do what next, on the monotonic clock.
        self._recheck_at = time.monotonic() + pace.recheck
        self._retry_at: float | None = None
        # After failures of the node itself: when to retry, and whether a retry runs.
        self._again_at: float | None = None
        self._is_again = False
        self._calm_until = 0.0

    # May be called by other threads and signal handlers.

    def deliver(self, secret: SecretState | None) -> None:
        """Receive a new state of the Secret."""
        self._waiting.put(secret, time.monotonic())
        self._inbox.put(("secret", None))

    def stop(self) -> None:
        """End at the next safe point."""
        self._stopping = True
        self._inbox.put(("stop", None))

    def fail(self, reason: str) -> None:
        """Report the end of a thread that the syncer cannot work without."""
        self._failed = reason
        self.stop()

    def _put_result(self, result: RestartResult) -> None:
        self._inbox.put(("restarted", result))

    # The loop.

    def run(self) -> int:
        """Run until ``stop``, and return 0, or 1 after ``fail``."""
        while not self._stopping or self._restarts.is_running:
            try:
                kind, thing = self._inbox.get(timeout=self._patience())
            except Empty:
                kind, thing = "", None
            try:
                self._step(kind, thing)
            except Exception as error:  # noqa: BLE001 - one failed step must not stop the syncer
                self._on_error(error)
        return self._end()

    def _step(self, kind: str, thing: Any) -> None:
        self._is_awake = self._is_awake or bool(kind)
        if kind == "secret":
            for secret, since in self._waiting.take():
                self._on_secret(secret, since)
        elif kind == "restarted":
            self._on_restarted(thing)
        if time.monotonic() < self._calm_until:
            return
        self._restarts.on_time(time.monotonic())
        if not self._stopping:
            self._on_time(time.monotonic())

    def _on_error(self, error: Exception) -> None:
        """Handle an unexpected error, which may be temporary."""
        wait = self._pace.calm.wait()
        self._calm_until = time.monotonic() + wait
        if self._retry_at is None:
            self._retry_at = self._calm_until
        with suppress(Exception):  # for example without memory even to report it
            self._log.error("unexpected", why=error_place(error), again_in=round(wait, 1))
            self._status.say(self._version, FAILED, kind_of(error), by_node=True)
            self._flush()

    def _patience(self) -> float:
        due = [self._restarts.due_at]
        if not self._stopping:
            due += [self._recheck_at, self._status.due_at]
            due += [] if self._restarts.is_running else [self._retry_at, self._again_at]
        soonest = min((at for at in due if at is not None), default=time.monotonic() + 60)
        return max(max(soonest, self._calm_until) - time.monotonic(), 0.0)

    def _on_time(self, now: float) -> None:
        if not self._restarts.is_running:
            if self._again_at is not None and now >= self._again_at:
                self._log.info("trying again", resourceVersion=self._version)
                self._again_at, self._is_again = None, True
                self._converge(now)
            elif self._retry_at is not None and now >= self._retry_at:
                self._converge(now)
        if now >= self._recheck_at:
            self._recheck_at = now + random_between(0.8, 1.2) * self._pace.recheck
            self._recheck(now)
        self._flush()
        if self._is_awake and self._restarts.is_at_rest and self._status.is_said:
            self._is_awake = False
            self._rest()

    @property
    def _version(self) -> str:
        return self._secret.resource_version if self._secret is not None else ""

    # The file.

    def _on_secret(self, secret: SecretState | None, at: float) -> None:
        if secret is None:
            # It was reverted before it was deleted. The file stays unchanged.
            self._log.info("secret gone")
            self._is_gone = True
            if self._secret is None:
                self._converge(at)
            return
        self._secret, self._is_gone = secret, False
        self._pace.reset()
        self._converge(at)

    def _recheck(self, now: float) -> None:
        """Check whether another program wrote the file. Now and then, read it even if it looks unchanged."""
        if self._secret is None or self._restarts.is_running:
            # The file may be ours that is being rolled back. Changes by other programs are seen afterwards.
            return
        self._rechecks += 1
        if self._node.stamp() != self._stamp:
            self._log.info("file changed", by="another program")
            self._converge(now)
        elif self._rechecks % _READ_EVERY_RECHECKS == 0 and self._restarts.is_idle and not self._is_due_later:
            self._converge(now)

    @property
    def _is_due_later(self) -> bool:
        return self._retry_at is not None or self._again_at is not None

    def _converge(self, since: float) -> None:
        """Write the wanted content, and find out what is left to do."""
        self._retry_at = None
        secret = self._secret
        if secret is None:
            if self._is_gone and not self._resume():
                self._status.say("", PENDING, "the Secret does not exist")
            return
        self._is_written = False
        version = secret.resource_version
        # A running retry may be at its end and must not start again.
        again = self._is_again and not self._restarts.is_running
        try:
            outcome = self._node.write(secret.content, again=again)
        except Invalid as error:
            if version != self._logged:
                self._logged = version
                self._log.error("secret refused", resourceVersion=version, why=str(error))
            # The content to retry does not exist any more. If it returns, it is not due at once.
            self._is_again = False
            self._resume(unbegun=True)
            self._status.say(version, FAILED, str(error))
            return
        except NodeError as error:
            self._on_unwritten(str(error))
            return
        except Exception as error:  # noqa: BLE001 - others may write anything to this file
            self._log.error("unexpected", why=error_place(error))
            self._on_unwritten(kind_of(error))
            return
        finally:
            self._stamp = self._node.stamp()
        if outcome.changed or version != self._logged:
            self._logged = version
            took = round((time.monotonic() - since) * 1000, 1)
            self._log.info("written" if outcome.changed else "unchanged", resourceVersion=version, ms=took)
        self._written_meanwhile = True
        self._is_written = not outcome.failed
        if outcome.restart and self._may_restart:
            self._restarts.request(version, outcome)
        else:
            self._is_again = False
            self._restarts.drop()
        if not outcome.failed or outcome.restart:
            self._again_at = None
        if self._restarts.is_running:
            # Also during a rollback: the cause is known at its end.
            self._status.say(version, PENDING, _RESTARTING)
        elif outcome.failed:
            self._set_failed(outcome)
        elif self._restarts.is_idle:
            self._pace.reset()
            self._pace.again.reset()
            self._status.say(version, IN_SYNC, outcome.message)
        # Otherwise the search for a slot reports more in a moment.

    def _resume(self, *, unbegun: bool = False) -> bool:
        """Bring back a kubelet that may be down although nothing can be written.

        :param unbegun: also do a restart that has not begun; but not with a version that a new syncer does
            not know, because other nodes may have failed with it.
        :returns: whether there is anything to do.
        """
        left = self._node.left()
        is_known = left.may_be_down or (unbegun and bool(self._restarts.version))
        is_due = self._may_restart and left.restart and is_known
        if is_due:
            self._restarts.resume(left)
        return is_due

    def _on_unwritten(self, why: str) -> None:
        self._resume()
        self._try_later("not written", why, FAILED)

    def _try_later(self, event: str, why: str, state: str) -> None:
        """Retry later: this node has a problem that may be fixed."""
        wait = self._pace.retry.wait()
        self._log.error(event, why=why, again_in=round(wait, 1))
        # A problem of the Secret's current version is more important than one of an earlier version.
        if state == FAILED or self._is_written or self._secret is None:
            self._status.say(self._version, state, f"{event}: {why}", by_node=True)
        self._retry_at = time.monotonic() + wait

    # The restart.

    def _set_state(self, state: str, message: str) -> None:
        """Set the state, unless a more important one is reported: that the file does not have the current
        content.
        """
        if self._is_written:
            self._status.say(self._version, state, message)

    def _on_begun(self) -> None:
        self._written_meanwhile = False
        self._set_state(PENDING, _RESTARTING)

    def _on_restarted(self, result: RestartResult) -> None:
        self._restarts.end(result)
        if not isinstance(result, NodeOutcome) or result.failed:
            # Rolled back. Otherwise the file was not touched: if it differs, another program wrote it.
            self._stamp = self._node.stamp()
        ended = isinstance(result, NodeOutcome) and result.finished
        if self._stopping and not ended:
            # It is not known whether kubelet becomes healthy, so the slot stays ours until it expires.
            self._log.info("interrupted", resourceVersion=self._version)
            return
        self._is_again = self._is_again and not ended
        is_old = self._written_meanwhile or self._restarts.only_back or not self._is_written
        try:
            self._report_result(result)
            if isinstance(result, NodeOutcome) and ended:
                if is_old:
                    self._converge(time.monotonic())
                elif result.restart:
                    self._restarts.request(self._version, result)
            # Other checks happen once they have the slot.
            self._flush()
        finally:
            self._restarts.release()

    def _report_result(self, result: RestartResult) -> None:
        version = self._version
        if not isinstance(result, NodeOutcome):
            self._try_later("not restarted", result, PENDING)
        elif not result.finished:
            self._try_later("not restarted", result.message, PENDING)
        elif result.failed:
            self._is_written = False
            self._log.error("failed", resourceVersion=version, why=result.message)
            if not self._written_meanwhile and self._restarts.version == version:
                self._set_failed(result)
            else:
                # For a version that has come meanwhile, this means nothing.
                self._status.failed_with(self._restarts.version, by_node=result.by_node)
        else:
            self._log.info("restarted", resourceVersion=version)
            self._pace.again.reset()
            if not self._written_meanwhile:
                self._set_state(IN_SYNC, result.message)

    def _set_failed(self, outcome: NodeOutcome) -> None:
        # Includes the ledger: it may have been another syncer, or another version of it.
        self._status.failed_with(self._version, by_node=outcome.by_node)
        message = outcome.message
        if outcome.by_node and not outcome.restart:
            # Kubelet is healthy with the previous file. The content may work once the node does.
            if self._again_at is None:
                self._again_at = time.monotonic() + self._pace.again.wait()
            message += "; this version is tried again later"
        self._status.say(self._version, FAILED, message, by_node=outcome.by_node)

    # The status.

    def _flush(self) -> None:
        # Otherwise the connection for repeated reports would stay open.
        self._is_awake = self._status.flush() or self._is_awake
        trouble = self._status.trouble
        if trouble != self._said_trouble:
            self._said_trouble = trouble
            if trouble:
                self._log.warning("status not written", why=trouble)

    def _end(self) -> int:
        self._flush()
        if self._failed:
            self._log.error("ended", why=self._failed)
            return 1
        self._log.info("ended")
        return 0
