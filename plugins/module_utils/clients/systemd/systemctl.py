# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""systemd by ``systemctl``: on every node that Ansible reaches, whatever Python packages are installed there."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ClassVar

from .manager import BAD_UNIT, GONE, MASKED, NO_UNIT, UNFINISHED, Systemd, SystemdError, UnitState

__all__ = ["BySystemctl", "RunCommand"]

RunCommand = Callable[..., tuple[int, bytes, bytes]]
"""``AnsibleModule.run_command``, which runs programs for a module."""

_CALL_LIMIT = 20.0
# Messages in the words below.
_ENVIRONMENT = {"LC_ALL": "C", "SYSTEMD_COLORS": "0", "SYSTEMD_PAGER": ""}
_PROPERTIES = "LoadState,ActiveState,SubState,Result,InvocationID,NRestarts,ConditionResult,Type"
# Messages of systemctl in the C locale to the error of the D-Bus call behind them.
_REFUSALS = (
    (" not found", NO_UNIT),
    ("not loaded", NO_UNIT),
    (" is masked", MASKED),
    ("bad unit file setting", BAD_UNIT),
    ("bad-setting", BAD_UNIT),
    ("connect to bus", GONE),
    ("Connection reset", GONE),
    ("Transport endpoint", GONE),
    ("Connection terminated", GONE),
)
# Its messages about a failed job to the job's result.
_RESULTS = (
    ("A dependency job", "dependency"),
    ("canceled", "canceled"),
    ("timed out", "timeout"),
    ("Assertion failed", "assert"),
    ("not supported", "unsupported"),
    (" failed", "failed"),
)


class BySystemctl(Systemd):
    """Runs the program once for each call."""

    NAME: ClassVar[str] = "systemctl"

    def __init__(self, run_command: RunCommand) -> None:
        self._run_command = run_command

    def state(self, unit: str) -> UnitState:
        """Run ``systemctl show``, which also answers for a unit that does not exist."""
        _code, output, errors = self._run(
            unit, ["show", f"--property={_PROPERTIES}", "--", unit], _CALL_LIMIT
        )
        found = dict(line.split("=", 1) for line in output.splitlines() if "=" in line)
        if "LoadState" not in found:
            raise _refusal(unit, errors)
        return UnitState(
            load=found["LoadState"],
            active=found["ActiveState"],
            sub=found["SubState"],
            result=found.get("Result", ""),
            invocation=found.get("InvocationID", ""),
            restarts=int(found.get("NRestarts") or 0),
            condition=found.get("ConditionResult") == "yes",
            type=found.get("Type", ""),
        )

    def reset_failed(self, unit: str) -> None:
        """``systemctl reset-failed``."""
        code, _output, errors = self._run(unit, ["reset-failed", "--", unit], _CALL_LIMIT)
        if code:
            error = _refusal(unit, errors)
            if error.name != NO_UNIT:
                raise error

    def restart(self, unit: str, timeout: float) -> str:
        """Run ``systemctl restart``, which waits for the job and reports its result."""
        try:
            code, _output, errors = self._run(unit, ["restart", "--job-mode=replace", "--", unit], timeout)
        except TimeoutError:
            return UNFINISHED
        if code == 0:
            return "done"
        for words, result in _RESULTS:
            if "ob for " in errors and words in errors:
                return result
        raise _refusal(unit, errors)

    def _run(self, unit: str, arguments: list[str], timeout: float) -> tuple[int, str, str]:
        limit = _Limit(timeout)
        verb, *rest = arguments
        try:
            code, output, errors = self._run_command(
                ["systemctl", verb, "--no-ask-password", *rest],
                environ_update=_ENVIRONMENT,
                before_communicate_callback=limit.begin,
                expand_user_and_vars=False,
                handle_exceptions=False,
                encoding=None,
            )
        except OSError as error:
            raise SystemdError(unit, GONE, f"systemctl cannot be run: {error.strerror}") from None
        finally:
            limit.end()
        if limit.reached:
            if verb == "restart":
                raise TimeoutError
            raise SystemdError(unit, GONE, "systemctl gave no answer")
        return code, output.decode("utf-8", "replace"), errors.decode("utf-8", "replace")


class _Limit:
    """Ends a program that takes longer, which ``run_command`` would wait for."""

    def __init__(self, seconds: float) -> None:
        self.reached = False
        self._seconds = seconds
        self._timer: threading.Timer | None = None

    def begin(self, process: Any) -> None:
        """:param process: the ``Popen``, which is not killed by its number once it has been waited for."""

        def kill() -> None:
            if process.poll() is None:
                self.reached = True
                process.kill()

        self._timer = threading.Timer(self._seconds, kill)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()


def _refusal(unit: str, errors: str) -> SystemdError:
    name = next((name for words, name in _REFUSALS if words in errors), "Failed")
    first = next((line.strip() for line in errors.splitlines() if line.strip()), "")
    return SystemdError(unit, name, first[:200])
