# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From an event to the file, and from there to a kubelet that runs with it.

One thread decides (this one); one watches the Secret, and one restarts kubelet while there is something to
restart. The file is written as soon as the event is there; only the restart waits for a slot.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, Optional

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.syncer.backoff import Backoff, between
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.syncer.leases import Slots
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.syncer.log import Log, where
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.syncer.node import (
    Invalid,
    Node,
    NodeError,
    Outcome,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.syncer.settings import (
    ON_CHANGE,
    Settings,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.syncer.status import (
    FAILED,
    HELD,
    IN_SYNC,
    PENDING,
    Status,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.syncer.watch import Secret

__all__ = ["Loop", "Pace"]

# Of the looks at the file, one in so many reads it.
_READ_EVERY = 10
IDLE, WAITING, RESTARTING = "idle", "waiting", "restarting"


class Pace:
    """How often what is looked at, in seconds."""

    def __init__(self, settings: Settings) -> None:
        self.recheck = settings.recheck
        # The more slots, the more nodes see the same change now.
        self.spread = min(0.05 * len(settings.leases), 5.0)
        self.slot = Backoff(2.0, 15.0)
        self.held = Backoff(30.0, 300.0)
        self.retry = Backoff(5.0, 300.0)
        self.status = Backoff(2.0, 60.0)
        self.watch = Backoff(1.0, 15.0)

    def reset(self) -> None:
        """There is something new: all begins anew."""
        for backoff in (self.slot, self.held, self.retry):
            backoff.reset()


class Loop:
    """:param rest: called when nothing is under way any more: what was needed for it can be let go."""

    def __init__(
        self,
        settings: Settings,
        node: Node,
        slots: Slots,
        status: Status,
        log: Log,
        *,
        rest: Callable[[], None],
        pace: Pace,
    ) -> None:
        self._restarts = settings.restart == ON_CHANGE
        self._node = node
        self._slots = slots
        self._status = status
        self._log = log
        self._rest = rest
        self._pace = pace
        self._inbox: SimpleQueue[tuple[str, Any, float]] = SimpleQueue()
        self._secret: Optional[Secret] = None
        self._step = IDLE
        self._only_back = False
        self._held_by = ""
        self._stopping = False
        self._failed = ""
        self._written_meanwhile = False
        self._stamp: Optional[tuple[int, ...]] = None
        self._said_trouble = ""
        self._logged = ""
        self._rechecks = 0
        self._is_awake = True
        # When to do what next, on the monotonic clock.
        self._recheck_at = time.monotonic() + self._pace.recheck
        self._slot_at = 0.0
        self._retry_at: Optional[float] = None

    # What other threads and signal handlers may call.

    def deliver(self, secret: Optional[Secret]) -> None:
        """A new state of the Secret."""
        self._inbox.put(("secret", secret, time.monotonic()))

    def stop(self) -> None:
        """End at the next safe point."""
        self._stopping = True
        self._inbox.put(("stop", None, 0.0))

    def fail(self, reason: str) -> None:
        """A thread without which there is no point in going on has ended."""
        self._failed = reason
        self.stop()

    # The loop.

    def run(self) -> int:
        """Until ``stop``; 0, or 1 after ``fail``."""
        while not (self._stopping and self._step != RESTARTING):
            try:
                kind, thing, at = self._inbox.get(timeout=self._patience())
            except Empty:
                kind, thing, at = "", None, 0.0
            self._is_awake = self._is_awake or bool(kind)
            if kind == "secret":
                self._on_secret(thing, at)
            elif kind == "restarted":
                self._on_restarted(thing)
            if not self._stopping:
                self._on_time()
        return self._end()

    def _patience(self) -> float:
        due = [self._recheck_at]
        if self._step == WAITING:
            due.append(self._slot_at)
        if self._step == RESTARTING and self._restarts:
            due.append(self._slots.renew_at)
        if self._retry_at is not None and self._step == IDLE:
            due.append(self._retry_at)
        status = self._status.due_at
        if status is not None:
            due.append(status)
        return min(max(min(due) - time.monotonic(), 0.0), 3600.0)

    def _on_time(self) -> None:
        now = time.monotonic()
        if self._step == RESTARTING and now >= self._slots.renew_at and not self._slots.renew():
            # Too late to undo: kubelet is being restarted. Said, since the budget may be exceeded.
            self._log.warning("slot lost", why=self._slots.trouble)
        if self._step == WAITING and now >= self._slot_at:
            self._look_for_slot()
        if self._step == IDLE and self._retry_at is not None and now >= self._retry_at:
            self._converge(now)
        if now >= self._recheck_at:
            self._recheck_at = now + between(0.8, 1.2) * self._pace.recheck
            self._recheck(now)
        self._flush()
        if self._is_awake and self._step == IDLE and self._status.due_at is None:
            self._is_awake = False
            self._rest()

    @property
    def _version(self) -> str:
        return self._secret.resource_version if self._secret is not None else ""

    # The file.

    def _recheck(self, now: float) -> None:
        """Somebody else may have written the file; now and then it is read even if it looks the same."""
        if self._secret is None:
            return
        self._rechecks += 1
        if self._node.stamp() != self._stamp:
            self._log.info("file changed", by="somebody else")
            self._converge(now)
        elif self._rechecks % _READ_EVERY == 0 and self._step == IDLE and self._retry_at is None:
            self._converge(now)

    def _on_secret(self, secret: Optional[Secret], at: float) -> None:
        if secret is None:
            # Whoever deletes it has made it harmless before; the file stays as it is.
            self._log.info("secret gone")
            if self._secret is None:
                self._status.say("", PENDING, "the Secret is not there")
            return
        self._secret = secret
        self._pace.reset()
        self._converge(at)

    def _converge(self, since: float) -> None:
        """Write what is wanted now, and see what is left to do."""
        secret = self._secret
        if secret is None:
            return
        self._retry_at = None
        version = secret.resource_version
        try:
            outcome = self._node.write(secret.content)
        except Invalid as error:
            if version != self._logged:
                self._logged = version
                self._log.error("secret refused", resourceVersion=version, why=str(error))
            self._status.say(version, FAILED, str(error))
            self._stand_down()
            return
        except NodeError as error:
            self._try_later("not written", str(error))
            return
        finally:
            self._stamp = self._node.stamp()
        took = round((time.monotonic() - since) * 1000, 1)
        if outcome.changed or version != self._logged:
            self._logged = version
            self._log.info("written" if outcome.changed else "unchanged", resourceVersion=version, ms=took)
        if self._step == RESTARTING:
            self._written_meanwhile = True
        elif outcome.restart and self._restarts:
            self._only_back = outcome.only_back
            if self._step != WAITING or outcome.changed:
                self._held_by = ""
                self._slot_at = time.monotonic() + between(0, self._pace.spread)
            self._step = WAITING
        else:
            self._stand_down()
        if outcome.failed:
            self._status.say(version, FAILED, outcome.message)
        elif self._step == RESTARTING:
            self._status.say(version, PENDING, "kubelet is being restarted")
        elif self._step == IDLE:
            self._pace.reset()
            self._status.say(version, IN_SYNC, outcome.message)
        # Else whoever looks for a slot says more, in a moment.

    def _try_later(self, event: str, why: str, *, restart: bool = False) -> None:
        """Something about this node is wrong, and may be mended."""
        wait = self._pace.retry.wait()
        self._log.error(event, why=why, again_in=round(wait, 1))
        self._status.say(self._version, PENDING if restart else FAILED, f"{event}: {why}", by_node=True)
        self._retry_at = time.monotonic() + wait

    def _stand_down(self) -> None:
        """There is no restart to wait for any more."""
        if self._step == WAITING:
            self._step = IDLE

    # The restart.

    def _look_for_slot(self) -> None:
        version = self._version
        if self._held_by and self._is_held(version):
            return
        if not self._slots.take():
            self._slot_at = time.monotonic() + self._pace.slot.wait()
            why = self._slots.trouble or "others are restarting"
            if not self._only_back:
                self._status.say(version, PENDING, f"kubelet is to be restarted: {why}")
            return
        # Asked with the slot held: whoever failed has said so before giving it back.
        if not self._only_back and self._is_held(version):
            self._slots.release()
            return
        self._step = RESTARTING
        self._written_meanwhile = False
        if not self._only_back:
            self._status.say(version, PENDING, "kubelet is being restarted")
        self._log.info("restarting", resourceVersion=version)
        threading.Thread(target=self._restart, name="restart", daemon=True).start()

    def _is_held(self, version: str) -> bool:
        """Whether kubelet did not come up elsewhere with this version: then it is not tried here."""
        self._held_by = self._status.failed_elsewhere(version)
        if not self._held_by:
            return False
        self._slot_at = time.monotonic() + self._pace.held.wait()
        why = f"written, and kubelet is not restarted: it did not come up on {self._held_by}"
        self._log.warning("held", resourceVersion=version, why=why)
        self._status.say(version, HELD, why)
        return True

    def _restart(self) -> None:
        """In a thread of its own."""
        result: Any
        try:
            result = self._node.restart(lambda: self._stopping)
        except NodeError as error:
            result = str(error)
        except Exception as error:  # noqa: BLE001 - its text could hold a value
            result = where(error)
        self._inbox.put(("restarted", result, 0.0))

    def _on_restarted(self, result: Any) -> None:
        self._step = IDLE
        version = self._version
        if not isinstance(result, Outcome) or result.failed:
            # Rolled back. Otherwise the file was left alone: if it is another one, somebody else was there.
            self._stamp = self._node.stamp()
        if self._stopping and not (isinstance(result, Outcome) and result.finished):
            # Whether kubelet gets well is not known: the slot stays ours until its time is over.
            self._log.info("interrupted", resourceVersion=version)
            return
        if isinstance(result, str):
            self._try_later("not restarted", result, restart=True)
        elif not result.finished:
            self._try_later("not restarted", result.message, restart=True)
        elif self._written_meanwhile:
            self._converge(time.monotonic())
        elif result.failed:
            self._log.error("failed", resourceVersion=version, why=result.message)
            self._status.say(version, FAILED, result.message, by_node=result.by_node)
        else:
            self._log.info("restarted", resourceVersion=version)
            self._status.say(version, IN_SYNC, result.message)
        # Others look at it once they have the slot.
        self._flush()
        self._slots.release()

    # The status.

    def _flush(self) -> None:
        self._status.flush()
        trouble = self._status.trouble
        if trouble != self._said_trouble:
            self._said_trouble = trouble
            if trouble:
                self._log.warning("status not written", why=trouble)

    def _end(self) -> int:
        if self._step == WAITING:
            self._slots.release()
        self._flush()
        if self._failed:
            self._log.error("ended", why=self._failed)
            return 1
        self._log.info("ended")
        return 0
