# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""systemd by ``systemctl``: on every node that Ansible reaches, whatever Python has installed there."""

from __future__ import annotations

import os
from typing import Any, ClassVar

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.store import Clock
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.systemd import (
    BAD_UNIT,
    GONE,
    MASKED,
    NO_UNIT,
    UNFINISHED,
    Systemd,
    SystemdError,
    UnitState,
)

__all__ = ["BySystemctl"]

_CALL_LIMIT = 20.0
_PROPERTIES = "LoadState,ActiveState,SubState,Result,InvocationID,NRestarts,ConditionResult,Type"
# What systemctl says in the C locale -> the error of the D-Bus call behind it.
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
# What it says of a job that did not end well -> the job's result.
_RESULTS = (
    ("A dependency job", "dependency"),
    ("canceled", "canceled"),
    ("timed out", "timeout"),
    ("Assertion failed", "assert"),
    ("not supported", "unsupported"),
    (" failed", "failed"),
)


class BySystemctl(Systemd):
    """Runs the program once for each question."""

    NAME: ClassVar[str] = "systemctl"

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def state(self, unit: str) -> UnitState:
        """``systemctl show``, which also answers for a unit that there is none of."""
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
        """``systemctl restart``, which waits for the job and says in words what became of it."""
        try:
            code, _output, errors = self._run(
                unit, ["restart", "--job-mode=replace", "--no-ask-password", "--", unit], timeout
            )
        except TimeoutError:
            return UNFINISHED
        if code == 0:
            return "done"
        for words, result in _RESULTS:
            if "ob for " in errors and words in errors:
                return result
        raise _refusal(unit, errors)

    def _run(self, unit: str, arguments: list[str], timeout: float) -> tuple[int, str, str]:
        import subprocess

        environment: dict[str, Any] = {
            **os.environ,
            "LC_ALL": "C",
            "SYSTEMD_COLORS": "0",
            "SYSTEMD_PAGER": "",
        }
        try:
            done = subprocess.run(
                ["systemctl", *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env=environment,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            if arguments[0] == "restart":
                raise TimeoutError from None
            raise SystemdError(unit, GONE, "systemctl gave no answer") from None
        except OSError as error:
            raise SystemdError(unit, GONE, f"systemctl cannot be run: {error.strerror}") from None
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def _refusal(unit: str, errors: str) -> SystemdError:
    name = next((name for words, name in _REFUSALS if words in errors), "Failed")
    first = next((line.strip() for line in errors.splitlines() if line.strip()), "")
    return SystemdError(unit, name, first[:200])
