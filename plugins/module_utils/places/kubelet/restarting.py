# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Restarts kubelet, a limited number of times, and interprets each outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...clients.systemd.manager import UNFINISHED, Systemd, SystemdError, UnitState
from ...runtime.clock import Clock
from .health import Health, Interrupted, wait
from .ledger import Pending
from .result import Options
from .store import Store
from .transitions import note_invocation

__all__ = ["Restarter", "Verdict"]

_MAX_BACKOFF_SECONDS = 30.0
_MAX_DOUBLINGS = 20
_UNCHANGED_SECONDS = 5.0
_POLL_SECONDS = 0.25
_STOPPED = "kubelet is not running and was not started: it reads the file when it starts"


class Verdict(NamedTuple):
    """The result for kubelet.

    ``untouched``: systemd will not restart it, and has not stopped it; ``unknown``: systemd did not answer;
    ``superseded``: something newer was written before a restart; ``by_node``: kubelet was not even started
    with the file.
    """

    ok: bool
    reason: str = ""
    warning: str = ""
    untouched: bool = False
    unknown: bool = False
    superseded: bool = False
    by_node: bool = False


class Restarter:
    """``attempts`` and ``jobs`` count over all its runs."""

    def __init__(
        self, systemd: Systemd, options: Options, health: Health, clock: Clock, stop: Callable[[], bool]
    ) -> None:
        self._systemd = systemd
        self._options = options
        self._health = health
        self._clock = clock
        self._stop = stop
        self.attempts = 0
        self.jobs: list[str] = []

    def run(self, pending: Pending, store: Store) -> Verdict:
        """Restart kubelet until it is healthy with the pending file, or failed ``attempts`` times.

        :raises Interrupted: ``stop`` said so.
        """
        reason, reached, by_node = "", False, False
        for number in range(self._options.attempts):
            if number:
                wait(self._pause(number), self._clock, self._stop)
            try:
                state = self._systemd.state(self._options.unit)
                if state.problem:
                    raise SystemdError(self._options.unit, state.problem)
                if not reached:
                    verdict = self._needs_none(state, pending)
                    if verdict is not None:
                        return verdict
                if not note_invocation(store, pending, state.invocation):
                    return Verdict(False, superseded=True)
                verdict = self._once(state)
                reached = True
            except SystemdError as error:
                if error.is_permanent:
                    return Verdict(False, error.message, untouched=not reached, by_node=True)
                reason, reached = error.message, reached or not error.is_unreachable
                continue
            if verdict.ok or verdict.untouched:
                return verdict
            reason, by_node = verdict.reason, verdict.by_node
        tried = f"{self._options.attempts} attempts" if self._options.attempts > 1 else "1 attempt"
        return Verdict(False, f"{reason} ({tried})", unknown=not reached, by_node=by_node)

    def foresee(self, pending: Pending) -> Verdict | None:
        """Return the result of ``run`` if no restart is needed; None: it would restart kubelet."""
        try:
            state = self._systemd.state(self._options.unit)
            if state.problem:
                raise SystemdError(self._options.unit, state.problem)
            return self._needs_none(state, pending)
        except SystemdError as error:
            return Verdict(False, error.message, untouched=error.is_permanent, unknown=not error.is_permanent)
        except Interrupted:
            return None

    def _pause(self, number: int) -> float:
        """Return the seconds before the attempt of that number, counted from 0."""
        doubled: float = self._options.backoff * 2 ** min(number - 1, _MAX_DOUBLINGS)
        return min(_MAX_BACKOFF_SECONDS, doubled)

    def _needs_none(self, state: UnitState, pending: Pending) -> Verdict | None:
        """Handle a kubelet that has already started with the file, or does not run, for reasons of its own."""
        ours = pending.touched or pending.invocation or self.attempts
        if state.active == "inactive" and not ours:
            return Verdict(True, warning=_STOPPED)
        if pending.invocation and state.invocation != pending.invocation and state.is_running:
            problem = self._health.problem(
                self._systemd, self._options.unit, pending.invocation, self._clock, self._stop
            )
            return None if problem else Verdict(True)
        return None

    def _once(self, before: UnitState) -> Verdict:
        unit = self._options.unit
        # Otherwise the sixth restart in ten seconds would stop kubelet for good.
        self._systemd.reset_failed(unit)
        self.attempts += 1
        job = self._systemd.restart(unit, self._options.restart_timeout)
        self.jobs.append(job)
        if job == "canceled":
            return self._canceled(before)
        if job == UNFINISHED:
            return Verdict(False, f"the restart did not finish within {self._options.restart_timeout:g} s")
        if job != "done":
            result = self._systemd.state(unit).result
            more = f"; the unit's result is '{result}'" if result not in ("", "success") else ""
            reason = f"systemd reports the result '{job}' for the restart{more}"
            return Verdict(False, reason, by_node=job == "dependency")
        problem = self._health.problem(self._systemd, unit, before.invocation, self._clock, self._stop)
        return Verdict(not problem, problem)

    def _canceled(self, before: UnitState) -> Verdict:
        """Another process requested a stop, which we must not undo, or a start."""
        unit, now = self._options.unit, self._clock.monotonic
        unchanged, end = now() + _UNCHANGED_SECONDS, now() + self._options.restart_timeout
        state = before
        while now() < end:
            state = self._systemd.state(unit)
            if state.active == "inactive":
                return Verdict(True, warning=f"the restart was canceled by a stop; {_STOPPED}")
            # The job that canceled ours may not have begun yet.
            begun = state.invocation != before.invocation or now() >= unchanged
            if begun and state.active not in ("activating", "deactivating", "reloading"):
                break
            wait(_POLL_SECONDS, self._clock, self._stop)
        if state.is_up and state.invocation != before.invocation:
            problem = self._health.problem(self._systemd, unit, before.invocation, self._clock, self._stop)
            return Verdict(not problem, problem)
        return Verdict(False, "the restart was canceled by another job")
