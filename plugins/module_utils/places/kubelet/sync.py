# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Brings a node's ``config.json`` and its kubelet to the wanted state, or back.

``write`` replaces the file, which takes milliseconds. ``settle`` restarts kubelet, watches it, and keeps the
file or rolls it back. ``apply`` does both. Each step is noted in the ledger before it is taken. So a killed
run leaves a complete file, the old or the new one, and the next run continues from there. ``plan`` and the
other predictions do the same in memory.
"""

from __future__ import annotations

from collections.abc import Callable

from ...clients.systemd.manager import Systemd, SystemdError
from ...dockerconfig import DockerConfig
from ...model.errors import ConfigurationError, Conflict, PullSecretError
from ...runtime.clock import Clock
from .auth_file import Snapshot, check_kind
from .health import Health, Healthz, HealthzUnreachable, Interrupted
from .ledger import Ledger, Pending
from .merge import MergedFile, merge_file
from .result import CACHE, FAILED, HELD, IN_SYNC, LOST, NEVER, ON_CHANGE, PENDING, Options, SyncResult
from .settling import Settlement, finish_roll_back
from .store import Rehearsal, Store
from .transitions import claim, note_reason, note_retry, note_verified, note_write, roll_back

__all__ = ["Synchroniser"]

_MOST_WRITES = 5
# Before a restart: ``apply`` has waited longer before the write, and a slot makes other nodes wait.
_HEALTHZ_SECONDS = 5.0
_NOT_RESTARTED = "it was not restarted"

_Stop = Callable[[], bool]


def _no_stop() -> bool:
    return False


class Synchroniser:
    """One node's file and kubelet.

    :param path: of ``config.json``; the ledger and the backup are beside it.
    :param systemd: None if kubelet is never restarted from here.
    :raises ConfigurationError: an option is invalid.
    """

    def __init__(
        self, path: str, options: Options, systemd: Systemd | None = None, clock: Clock | None = None
    ) -> None:
        options.check()
        self.options = options
        self._clock = clock or Clock()
        self._store = Store(path, self._clock, patience=options.lock_timeout)
        self._systemd = systemd
        # Created now, so that an invalid URL is found before anything is written.
        self._health = Health(Healthz(options.healthz), options.window, options.ready_timeout)

    # Public methods.

    def apply(self, desired: DockerConfig | None, *, stop: _Stop = _no_stop) -> SyncResult:
        """Write, then restart and watch kubelet if its file has changed.

        :param desired: our part of the file; None: nothing.
        :param stop: called several times a second; True leaves the rest to the next run.
        :raises PullSecretError: nothing was changed.
        """
        if self.options.restart != NEVER:
            self._require_usable(self._rehearsal().write(desired), stop)
        written = self.write(desired)
        if self.options.restart != ON_CHANGE or not written.needed:
            return written
        settled = self._settle_write(written, stop)
        if written.state == HELD:
            settled.state, settled.message = written.state, written.message
        return settled

    def plan(self, desired: DockerConfig | None, *, stop: _Stop = _no_stop) -> SyncResult:
        """Return what ``apply`` would do. Nothing is written, not even a lock."""
        rehearsal = self._rehearsal()
        result = rehearsal.write(desired)
        self._require_usable(result, stop)
        return rehearsal._with_restart(result, stop) if self.options.restart == ON_CHANGE else result

    def write(self, desired: DockerConfig | None) -> SyncResult:
        """Replace the file without touching kubelet. Fast: the lock is held for milliseconds.

        ``needed`` of the result says whether ``settle`` has something to do.

        :raises PullSecretError: nothing was changed.
        """
        for left in reversed(range(_MOST_WRITES)):
            try:
                with self._store.writing():
                    return self._with_warnings(self._write(desired))
            except Conflict:
                # A program that does not use our lock wrote between our read and our write.
                if not left:
                    raise
        raise AssertionError

    def settle(self, *, stop: _Stop = _no_stop) -> SyncResult:
        """Restart and watch kubelet if a write is pending; keep the file, or roll it back.

        A newer write during this call is settled, too. Without ``rollback``, a kubelet that started is
        watched by ``verify``: the write stays pending until then, so that it counts as working only once
        kubelet has been watched.

        :raises PullSecretError: what is left is pending.
        """
        return self._settle(stop, leave=not self.options.rollback)

    def plan_settle(self, *, stop: _Stop = _no_stop) -> SyncResult:
        """Return what ``settle`` would do; nothing is written."""
        rehearsal = self._rehearsal()
        leave = not self.options.rollback
        result = SyncResult()
        if rehearsal._pending() is not None:
            self._require_healthz(_NOT_RESTARTED, _HEALTHZ_SECONDS)
            result = rehearsal._settlement(stop, leave=leave).foresee()
        return rehearsal._with_warnings(result)

    def verify(self, *, stop: _Stop = _no_stop) -> SyncResult:
        """Watch kubelet for the window without a restart; a pending write then counts as working."""
        result = SyncResult()
        began = self._clock.monotonic()
        systemd = self._require_systemd()
        pending = self._pending()
        before = pending.invocation if pending is not None else ""
        try:
            problem = self._health.problem(systemd, self.options.unit, before, self._clock, stop)
        except Interrupted:
            problem, before = "interrupted", ""
        result.seconds, result.healthy = self._clock.monotonic() - began, not problem
        if problem:
            result.state, result.message = FAILED, problem
        if pending is not None and before:
            with self._store.writing():
                ledger, backup = self._store.ledger(), self._store.backup()
                if ledger.pending is not None and ledger.pending.id == pending.id:
                    if problem:
                        note_reason(self._store, ledger, problem)
                    else:
                        note_verified(self._store, ledger, backup, keep=self.options.backup)
        return self._with_warnings(result)

    def roll_back(self, *, stop: _Stop = _no_stop) -> SyncResult:
        """Restore the file from before the last write, and kubelet with it; nothing if there is none."""
        result = self._roll_back()
        if not result.needed or self.options.restart != ON_CHANGE:
            return result
        settled = self._settle_write(result, stop)
        if settled.healthy:
            settled.state, settled.message = IN_SYNC, ""
        return settled

    def plan_roll_back(self, *, stop: _Stop = _no_stop) -> SyncResult:
        """Return what ``roll_back`` would do; nothing is written."""
        rehearsal = self._rehearsal()
        result = rehearsal._roll_back()
        return rehearsal._with_restart(result, stop) if self.options.restart == ON_CHANGE else result

    # The write.

    def _write(self, desired: DockerConfig | None) -> SyncResult:
        store, result = self._store, SyncResult()
        store.tidy()
        # A killed rollback is finished first.
        if not finish_roll_back(store, result):
            result.state, result.message = IN_SYNC, ""
            result.warn([f"the file {LOST}"])
        ledger, backup = store.ledger(), store.backup()
        before = ledger.pending
        wanted = ledger.digest(desired.canonical() if desired is not None else None)
        has_failed = ledger.failed is not None and ledger.failed.desired == wanted
        if has_failed and not self.options.retry_failed:
            _report_held(result, ledger)
        else:
            found = store.file()
            if desired is not None:
                check_kind(store.path, found)
            merged = merge_file(found.data, desired, ledger, backup)
            _report_write(result, merged)
            result.needed = merged.differs or _is_untried(ledger, found, has_failed)
            if merged.differs:
                if merged.data is not None:
                    store.check_owner(found)
                note_write(store, ledger, backup, found, merged, wanted)
                try:
                    store.replace(found, merged.data)
                except PullSecretError:
                    # Kubelet is still restarted with what was written before, which may fail.
                    if before is not None:
                        ledger.pending = before
                        store.save_ledger(ledger)
                    raise
            elif not result.needed:
                # The content is right, and kubelet runs with it; but owners of entries may have changed.
                claim(ledger, backup, found, merged)
                note_verified(store, ledger, backup, keep=self.options.backup)
            elif ledger.pending is None:
                note_retry(store, ledger, wanted)
        self._note_restart(result)
        return result

    def _note_restart(self, result: SyncResult) -> None:
        """Note what is left to do with kubelet after a write."""
        if not result.needed:
            return
        if self.options.restart == NEVER:
            result.needed, result.effective = False, CACHE
            note_verified(self._store, self._store.ledger(), self._store.backup(), keep=self.options.backup)
            return
        result.effective = "after the restart"
        if result.state == IN_SYNC:
            result.state = PENDING

    def _roll_back(self) -> SyncResult:
        with self._store.writing():
            result = self._restore_previous()
            self._note_restart(result)
        return self._with_warnings(result)

    def _restore_previous(self) -> SyncResult:
        store, result = self._store, SyncResult()
        if not finish_roll_back(store, result):
            return result
        ledger, backup, here = store.ledger(), store.backup(), store.file().data
        pending = ledger.pending
        # The reason that was noted when it was not rolled back at once, if any.
        reason, by_node = (pending.reason, pending.by_node) if pending is not None else ("", False)
        reason = reason or "rolled back on request"
        if pending is not None and pending.is_back:
            result.rolled_back = result.needed = True
        elif ledger.is_new or (pending is None and (backup.previous is None or backup.previous.data == here)):
            pass
        elif ledger.is_only_noted(here):
            # Its run was killed before the file was replaced.
            note_verified(store, ledger, backup, keep=self.options.backup)
        elif not roll_back(store, ledger, backup, reason, self._clock.now(), by_node=by_node):
            result.state, result.message = FAILED, f"the file {LOST}"
        else:
            if store.file().data != here:
                result.did("rolled back")
            result.rolled_back = result.needed = True
        return result

    def _with_warnings(self, result: SyncResult) -> SyncResult:
        """Return the result with the warnings about the files beside ``config.json``."""
        result.warn(self._store.warnings)
        return result

    # Kubelet.

    def _rehearsal(self) -> Synchroniser:
        """Return a copy that does the same in memory only."""
        other = Synchroniser(self._store.path, self.options, self._systemd, self._clock)
        other._store = Rehearsal(self._store.path, self._clock)
        return other

    def _with_restart(self, result: SyncResult, stop: _Stop) -> SyncResult:
        """Return the result with the predicted restart; this is the rehearsal."""
        if result.needed:
            foreseen = self._settlement(stop).foresee()
            for action in foreseen.actions:
                result.did(action)
            result.warn(foreseen.warnings)
            if foreseen.state == FAILED and result.state != HELD:
                result.state, result.message = foreseen.state, foreseen.message
            if foreseen.rolled_back:
                result.rolled_back, result.after = True, result.before
        return result

    def _settle_write(self, written: SyncResult, stop: _Stop) -> SyncResult:
        """Return what was written and the result of kubelet's restart, also if another run works on kubelet."""
        try:
            return written.then(self._settle(stop))
        except PullSecretError as error:
            written.state, written.message, written.effective = PENDING, str(error), CACHE
            return written

    def _settle(self, stop: _Stop, *, leave: bool = False) -> SyncResult:
        if self._pending() is None:
            return self._with_warnings(SyncResult())
        settlement = self._settlement(stop, leave=leave)
        with self._store.restarting():
            self._require_healthz(_NOT_RESTARTED, _HEALTHZ_SECONDS)
            return self._with_warnings(settlement.run())

    def _settlement(self, stop: _Stop, *, leave: bool = False) -> Settlement:
        systemd, health = self._require_systemd(), self._health
        return Settlement(self._store, systemd, self.options, health, self._clock, stop, leave=leave)

    def _require_usable(self, foreseen: SyncResult, stop: _Stop) -> None:
        """Find a unit that cannot be restarted or judged before anything is written.

        :raises SystemdError: it cannot be, or systemd does not answer.
        :raises HealthzUnreachable: kubelet runs, but its ``healthz`` cannot be reached.
        :raises PullSecretError: ``stop`` said so meanwhile.
        """
        if not foreseen.needed or foreseen.state == HELD:
            return
        problem = self._require_systemd().state(self.options.unit).problem
        if problem:
            raise SystemdError(self.options.unit, problem)
        try:
            self._require_healthz("nothing was written", self._health.patience, stop)
        except Interrupted:
            raise PullSecretError("interrupted; nothing was written") from None

    def _require_healthz(self, left: str, patience: float, stop: _Stop = _no_stop) -> None:
        """Skipped for a kubelet that may run with our content or is being rolled back: the file may be why it
        is silent.

        :raises HealthzUnreachable: kubelet runs, but its ``healthz`` cannot be reached.
        :raises Interrupted: ``stop`` said so.
        """
        ledger = self._store.ledger()
        pending = ledger.pending
        if ledger.failed is not None or (pending is not None and pending.may_be_down):
            return
        limit = min(patience, self._health.patience)
        words = self._health.unreachable(self._require_systemd(), self.options.unit, self._clock, limit, stop)
        if words:
            raise HealthzUnreachable(self.options.unit, self.options.healthz, words, left)

    def _require_systemd(self) -> Systemd:
        if self._systemd is None:
            raise ConfigurationError("kubelet cannot be restarted: this process has no access to systemd")
        return self._systemd

    def _pending(self) -> Pending | None:
        with self._store.writing():
            return self._store.ledger().pending


def _is_untried(ledger: Ledger, found: Snapshot, has_failed: bool) -> bool:
    """Return whether kubelet may not run with the file, whose content is right."""
    if ledger.pending is not None and ledger.pending.has_restarted:
        return True
    return (ledger.pending is not None or has_failed) and ledger.digest(found.data) != ledger.verified


def _report_held(result: SyncResult, ledger: Ledger) -> None:
    result.state, result.needed = HELD, ledger.pending is not None
    if ledger.failed is not None:
        result.by_node = ledger.failed.by_node
        held = " because of the node" if result.by_node else " and is not tried again until it changes"
        result.message = (
            f"this docker config failed {ledger.failed.times} time(s){held}: {ledger.failed.reason}"
        )


def _report_write(result: SyncResult, merged: MergedFile) -> None:
    result.before, result.after = merged.before, merged.after
    result.provenance = merged.provenance
    result.warn(merged.warnings)
    if merged.differs:
        result.did("removed" if merged.data is None else "written")
        # It is no longer the previous file.
        result.rolled_back = False
