# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""After the write: restart kubelet, and keep or roll back the file by the result."""

from __future__ import annotations

from collections.abc import Callable

from ...clients.systemd.manager import Systemd
from ...runtime.clock import Clock
from .health import Health, Interrupted
from .ledger import Backup, Ledger, Pending
from .restarting import Restarter, Verdict
from .result import CACHE, FAILED, LOST, PENDING, Options, SyncResult
from .store import Store
from .transitions import note_reason, note_verified, restore_backup, roll_back

__all__ = ["Settlement", "finish_roll_back"]

_BACK = "the file was rolled back"


class Settlement:
    """Settles pending writes, under the store's lock of ``restarting``.

    :param leave: whether a kubelet that started is watched by a later task: the write then stays pending.
    """

    def __init__(
        self,
        store: Store,
        systemd: Systemd,
        options: Options,
        health: Health,
        clock: Clock,
        stop: Callable[[], bool],
        *,
        leave: bool = False,
    ) -> None:
        self._store = store
        self._options = options
        self._clock = clock
        self._leave = leave
        self._restarter = Restarter(systemd, options, health, clock, stop)
        self._result = SyncResult()
        self._result.systemd = systemd.NAME

    def run(self) -> SyncResult:
        """Run until nothing is pending, or the rest must wait for the next run."""
        result, restarter = self._result, self._restarter
        began = self._clock.monotonic()
        while True:
            pending = self._pending()
            if pending is None:
                break
            result.needed = True
            try:
                verdict = restarter.run(pending, self._store)
            except Interrupted:
                result.state, result.message = PENDING, "interrupted: the next run continues"
                break
            finally:
                result.attempts, result.jobs = restarter.attempts, restarter.jobs
            if not verdict.superseded and not self._judge(pending, verdict):
                break
        result.seconds = self._clock.monotonic() - began
        if result.jobs:
            result.did("restarted")
        if result.state == PENDING and not result.healthy:
            result.effective = CACHE
        return result

    def foresee(self) -> SyncResult:
        """Return what ``run`` would do if the restart succeeds; the store is a rehearsal's."""
        pending = self._pending()
        if pending is not None:
            self._result.needed = True
            verdict = self._restarter.foresee(pending)
            if verdict is None:
                self._result.did("restarted")
            else:
                self._judge(pending, verdict)
        return self._result

    def _pending(self) -> Pending | None:
        with self._store.writing():
            if not finish_roll_back(self._store, self._result):
                return None
            return self._store.ledger().pending

    def _judge(self, pending: Pending, verdict: Verdict) -> bool:
        """Keep the file or roll it back; return whether there is more to do."""
        store, result = self._store, self._result
        with store.writing():
            ledger, backup = store.ledger(), store.backup()
            if ledger.pending is None or ledger.pending.id != pending.id:
                return True
            result.healthy = verdict.ok
            # The recorded failure may be of another docker config.
            failed = ledger.failed
            if failed is not None and failed.desired != pending.desired:
                failed = None
            if verdict.warning:
                result.warn([verdict.warning])
            if verdict.unknown:
                result.state, result.message = PENDING, verdict.reason
            elif verdict.ok:
                if pending.is_back and failed is not None and result.state != FAILED:
                    self._fail(f"{failed.reason}; {_BACK}", by_node=failed.by_node)
                self._accept(ledger, backup, is_watched=not self._leave or bool(verdict.warning))
            elif pending.is_back:
                before = result.message or _BACK
                why = f"kubelet is unhealthy with the previous file, too: {verdict.reason}"
                self._fail(f"{before}; {why}", by_node=True)
                if failed is not None:
                    ledger.failed = failed._replace(by_node=True)
                    store.save_ledger(ledger)
            else:
                self._fail(verdict.reason, by_node=verdict.by_node)
                if self._options.rollback:
                    return self._roll_back(pending, verdict, ledger, backup)
                note_reason(store, ledger, verdict.reason, by_node=verdict.by_node)
            return False

    def _fail(self, message: str, *, by_node: bool) -> None:
        self._result.state, self._result.message, self._result.by_node = FAILED, message, by_node

    def _accept(self, ledger: Ledger, backup: Backup, *, is_watched: bool) -> None:
        """Kubelet runs with the file. If nobody has watched it for the window, the write stays pending."""
        if is_watched:
            note_verified(self._store, ledger, backup, keep=self._options.backup)
            return
        note_reason(self._store, ledger, "")
        if self._result.state != FAILED:
            self._result.state, self._result.message = (
                PENDING,
                "kubelet is up, and its health window is not over",
            )

    def _roll_back(self, pending: Pending, verdict: Verdict, ledger: Ledger, backup: Backup) -> bool:
        """Restore the previous file; return whether kubelet must be restarted with it."""
        store, result = self._store, self._result
        there = store.file().data
        now, by_node = self._clock.now(), verdict.by_node
        if not roll_back(store, ledger, backup, verdict.reason, now, by_node=by_node):
            result.message += f"; the file {LOST}"
            return False
        result.message += f"; {_BACK}"
        result.rolled_back = True
        if store.file().data != there:
            result.did("rolled back")
        if verdict.untouched and not pending.has_restarted:
            # No kubelet was restarted, and none can be: the content did not fail.
            ledger.failed = None
            note_verified(store, ledger, backup, keep=self._options.backup)
            return False
        # If an earlier run restarted kubelet, it may be down: this must not be forgotten.
        return True


def finish_roll_back(store: Store, result: SyncResult) -> bool:
    """Restore the previous file if a killed rollback has not.

    Under the store's lock of ``writing``.

    :returns: False: it cannot be restored.
    """
    ledger = store.ledger()
    if ledger.pending is None or not ledger.pending.is_back:
        return True
    there = store.file().data
    if not restore_backup(store, ledger, store.backup()):
        result.state, result.message = FAILED, f"the file {LOST}"
        return False
    if store.file().data != there:
        result.did("rolled back")
        result.rolled_back = True
    return True
