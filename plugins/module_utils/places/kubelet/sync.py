# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bring a node's ``config.json`` and its kubelet to what is wanted, or back to what was.

``write`` puts the file in its place, which takes milliseconds; ``settle`` restarts kubelet, watches it,
and keeps the file or rolls it back; ``apply`` does both.  Each step is noted in the ledger before it is
taken, so that a run that is killed anywhere leaves a whole file, the old or the new one, and the next run
knows where it was.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Optional

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import DockerConfig
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import (
    ConfigurationError,
    Conflict,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.compose import (
    Composed,
    compose,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.health import (
    Health,
    Healthz,
    Interrupted,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.ledger import (
    ROLLBACK,
    Backup,
    Ledger,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.restarting import (
    Restarter,
    Verdict,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.result import (
    CACHE,
    FAILED,
    HELD,
    IN_SYNC,
    NEVER,
    ON_CHANGE,
    PENDING,
    Options,
    SyncResult,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.store import Clock, Store
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.systemd import (
    Systemd,
    SystemdError,
    UnitState,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.transitions import (
    begin,
    claim,
    done,
    restore,
    roll_back,
)

__all__ = ["Options", "SyncResult", "Synchroniser"]

_TRIES = 5

Slot = Callable[[], AbstractContextManager[Any]]
Stop = Callable[[], bool]


def _never() -> bool:
    return False


class Synchroniser:
    """One node's file and kubelet.

    :param path: of ``config.json``; the ledger and the backup stand beside it.
    :param systemd: None where kubelet is never restarted from here.
    :raises ConfigurationError: an option is wrong.
    """

    def __init__(
        self, path: str, options: Options, systemd: Optional[Systemd] = None, clock: Optional[Clock] = None
    ) -> None:
        options.check()
        self.options = options
        self._clock = clock or Clock()
        self._store = Store(path, self._clock, patience=options.lock_timeout)
        self._systemd = systemd
        # Made now, so that a wrong URL is found before anything is written.
        self._health = Health(Healthz(options.healthz), options.window, options.ready_timeout)

    # What a caller does.

    def apply(
        self,
        desired: Optional[DockerConfig],
        *,
        slot: Slot = nullcontext,
        on_written: Optional[Callable[[SyncResult], None]] = None,
        stop: Stop = _never,
    ) -> SyncResult:
        """Write, then restart and watch kubelet if its file has changed.

        :param desired: what of the file is ours; None: nothing.
        :param slot: entered once the file is written, left when kubelet has been watched; may wait, and
        may raise.
        :param on_written: told of the write before that.
        :param stop: asked several times a second; True leaves what is not done to the next run.
        :raises PullSecretError: nothing was changed (or, from ``slot``: the restart is pending).
        """
        if self.options.restart != NEVER and self._differs(desired):
            self._usable()
        written = self.write(desired)
        if on_written is not None:
            on_written(written)
        if self.options.restart != ON_CHANGE or not written.needed:
            return written
        settled = written.then(self.settle(slot=slot, stop=stop))
        if written.state == HELD:
            settled.state, settled.message = written.state, written.message
        return settled

    def plan(self, desired: Optional[DockerConfig]) -> SyncResult:
        """What ``apply`` would do.  Nothing is written, not even a lock."""
        result = SyncResult()
        ledger, backup = self._store.ledger(), self._store.backup()
        if self._is_held(ledger, desired):
            return self._held(ledger, result)
        composed = compose(self._store.file().data, desired, ledger, backup.displaced)
        self._tell(result, composed)
        if composed.differs or ledger.pending is not None:
            self._tell_restart(result)
            if self.options.restart == ON_CHANGE and self._usable().active != "inactive":
                result.did("restarted")
        return result

    def is_pending(self) -> bool:
        """Whether ``settle`` would find something to do."""
        return self._store.ledger().pending is not None

    def write(self, desired: Optional[DockerConfig]) -> SyncResult:
        """Put the file in its place; kubelet is not touched.  Fast: the lock is held for milliseconds.

        ``needed`` of the result says whether ``settle`` has something to do.

        :raises PullSecretError: nothing was changed.
        """
        for left in reversed(range(_TRIES)):
            try:
                with self._store.writing():
                    return self._write(desired)
            except Conflict:
                # Somebody who does not know our lock wrote between our read and our write: their entries
                # count.
                if not left:
                    raise
        raise AssertionError

    def settle(self, *, slot: Slot = nullcontext, stop: Stop = _never) -> SyncResult:
        """Restart and watch kubelet if a write is pending; keep the file, or roll it back.

        Something newer that is written meanwhile is settled, too, before this returns.
        """
        if self._pending() is None:
            return SyncResult()
        with self._store.restarting(), slot():
            return self._settle(stop)

    def verify(self, *, stop: Stop = _never) -> SyncResult:
        """Watch kubelet for the window, restarting nothing; a pending write is then known to work."""
        result = SyncResult()
        began = self._clock.monotonic()
        systemd = self._asked()
        pending = self._pending()
        before = pending.invocation if pending is not None else ""
        try:
            problem = self._health.problem(systemd, self.options.unit, before, self._clock, stop)
        except Interrupted:
            problem = "interrupted"
        result.seconds, result.healthy = self._clock.monotonic() - began, not problem
        if problem:
            result.state, result.message = FAILED, problem
        elif pending is not None and before:
            with self._store.writing():
                ledger, backup = self._store.ledger(), self._store.backup()
                if ledger.pending is not None and ledger.pending.id == pending.id:
                    done(self._store, ledger, backup, keep=self.options.backup)
        return result

    def roll_back(self, *, slot: Slot = nullcontext, stop: Stop = _never) -> SyncResult:
        """Restore the file of before the last write, and kubelet with it; nothing if there is none."""
        result = SyncResult()
        with self._store.writing():
            ledger, backup = self._store.ledger(), self._store.backup()
            if ledger.pending is not None and ledger.pending.phase == ROLLBACK:
                restore(self._store, ledger, backup)
                result.needed = True
            elif self._has_written(ledger, backup):
                roll_back(self._store, ledger, backup, "rolled back on request", self._clock.now())
                result.did("rolled back")
                result.rolled_back = result.needed = True
            if result.needed and self.options.restart == NEVER:
                done(self._store, ledger, backup, keep=self.options.backup)
        if not result.needed or self.options.restart != ON_CHANGE:
            return result
        settled = result.then(self.settle(slot=slot, stop=stop))
        settled.rolled_back = result.rolled_back
        if settled.healthy:
            settled.state, settled.message = IN_SYNC, ""
        return settled

    def can_roll_back(self) -> bool:
        """Whether ``roll_back`` would find something to do."""
        ledger, backup = self._store.ledger(), self._store.backup()
        if ledger.pending is not None and ledger.pending.phase == ROLLBACK:
            return True
        return self._has_written(ledger, backup)

    def _has_written(self, ledger: Ledger, backup: Backup) -> bool:
        return backup.previous is not None and backup.previous.data != self._store.file().data

    # The write.

    def _write(self, desired: Optional[DockerConfig]) -> SyncResult:
        store, result = self._store, SyncResult()
        store.tidy()
        ledger, backup = store.ledger(), store.backup()
        if ledger.pending is not None and ledger.pending.phase == ROLLBACK:
            # Whoever rolled back may have been killed: first the file of before.
            restore(store, ledger, backup)
        if self._is_held(ledger, desired):
            result.needed = ledger.pending is not None
            return self._held(ledger, result)
        found = store.file()
        composed = compose(found.data, desired, ledger, backup.displaced)
        self._tell(result, composed)
        if composed.differs:
            begin(store, ledger, backup, found, composed, self._wanted(ledger, desired))
            store.replace(found, composed.data)
            result.needed = True
        elif ledger.pending is not None and ledger.digest(found.data) != ledger.verified:
            result.needed = True
        else:
            # As wanted, and kubelet runs with it; but whose the entries are may be new.
            claim(ledger, backup, found, composed)
            done(store, ledger, backup, keep=self.options.backup)
        if result.needed:
            self._tell_restart(result)
            if self.options.restart == NEVER:
                done(store, ledger, backup, keep=self.options.backup)
                result.needed = False
        return result

    def _wanted(self, ledger: Ledger, desired: Optional[DockerConfig]) -> str:
        return ledger.digest(desired.canonical() if desired is not None else None)

    def _is_held(self, ledger: Ledger, desired: Optional[DockerConfig]) -> bool:
        return (
            ledger.failed is not None
            and not self.options.retry_failed
            and ledger.failed.desired == self._wanted(ledger, desired)
        )

    def _held(self, ledger: Ledger, result: SyncResult) -> SyncResult:
        result.state = HELD
        if ledger.failed is not None:
            result.by_node = ledger.failed.by_node
            result.message = (
                f"this docker config was rolled back {ledger.failed.times} time(s) and is not tried again "
                f"until it changes: {ledger.failed.reason}"
            )
        return result

    def _tell(self, result: SyncResult, composed: Composed) -> None:
        result.before, result.after = composed.before, composed.after
        result.provenance, result.warnings = composed.provenance, list(composed.warnings)
        if composed.differs:
            result.did("removed" if composed.data is None else "written")

    def _tell_restart(self, result: SyncResult) -> None:
        result.needed = True
        if self.options.restart == NEVER:
            result.effective = CACHE
        else:
            result.state, result.effective = PENDING, "after the restart"

    def _usable(self) -> UnitState:
        """A unit that cannot be restarted is found before anything is written.

        :raises SystemdError: it cannot be, or systemd cannot be asked.
        """
        state = self._asked().state(self.options.unit)
        if state.problem:
            raise SystemdError(self.options.unit, state.problem)
        return state

    def _asked(self) -> Systemd:
        if self._systemd is None:
            raise ConfigurationError("kubelet cannot be restarted from here: there is no way to ask systemd")
        return self._systemd

    def _differs(self, desired: Optional[DockerConfig]) -> bool:
        """Whether ``write`` would find something to do."""
        ledger, backup = self._store.ledger(), self._store.backup()
        if self._is_held(ledger, desired):
            return False
        differs = compose(self._store.file().data, desired, ledger, backup.displaced).differs
        return differs or ledger.pending is not None

    # The restart.

    def _pending(self) -> Any:
        with self._store.writing():
            return self._store.ledger().pending

    def _settle(self, stop: Stop) -> SyncResult:
        result = SyncResult()
        began = self._clock.monotonic()
        result.systemd = self._asked().NAME
        restarter = Restarter(self._asked(), self.options, self._health, self._clock, stop)
        while True:
            pending = self._pending()
            if pending is None:
                break
            result.needed = True
            try:
                verdict = restarter.run(pending, self._store)
            except Interrupted:
                result.state, result.message = PENDING, "interrupted: the next run goes on"
                break
            finally:
                result.attempts, result.jobs = restarter.attempts, restarter.jobs
            if verdict.superseded:
                continue
            if not self._judge(pending, verdict, result):
                break
        result.seconds = self._clock.monotonic() - began
        if result.jobs:
            result.did("restarted")
        if result.state == PENDING:
            result.effective = CACHE
        return result

    def _judge(self, pending: Any, verdict: Verdict, result: SyncResult) -> bool:
        """What a verdict means for the file; whether there is more to do."""
        store = self._store
        with store.writing():
            ledger, backup = store.ledger(), store.backup()
            if ledger.pending is None or ledger.pending.id != pending.id:
                return True
            result.healthy = verdict.ok
            if verdict.warning:
                result.warnings.append(verdict.warning)
            if verdict.ok:
                if pending.phase == ROLLBACK and ledger.failed is not None and result.state != FAILED:
                    result.state = FAILED
                    result.message = f"{ledger.failed.reason}; the file was rolled back"
                    result.by_node = ledger.failed.by_node
                done(store, ledger, backup, keep=self.options.backup)
                return False
            if verdict.unknown:
                result.state, result.message = PENDING, verdict.reason
                return False
            if pending.phase == ROLLBACK:
                before = result.message or "the file was rolled back"
                result.state = FAILED
                result.message = (
                    f"{before}; kubelet is not well with the file of before either: {verdict.reason}"
                )
                result.by_node = True
                if ledger.failed is not None:
                    ledger.failed = ledger.failed._replace(by_node=True)
                    store.save_ledger(ledger)
                return False
            result.state, result.message, result.by_node = FAILED, verdict.reason, verdict.by_node
            if not self.options.rollback:
                return False
            result.message += "; the file was rolled back"
            result.rolled_back = True
            result.did("rolled back")
            roll_back(store, ledger, backup, verdict.reason, self._clock.now(), by_node=verdict.by_node)
            if verdict.untouched:
                # No kubelet was restarted, and none can be: it was not the content that failed.
                ledger.failed = None
                done(store, ledger, backup, keep=self.options.backup)
            return not verdict.untouched
