# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The interface to systemd, implemented over D-Bus and by ``systemctl``.

Both return systemd's terms: the result of a job (``done``, ``failed``, ``dependency``, ``canceled``,
``timeout``, ``skipped`` …, see org.freedesktop.systemd1(5), JobRemoved) and the states of a unit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from ...model.errors import ConfigurationError, PullSecretError
from ...runtime.clock import Clock

if TYPE_CHECKING:
    from .systemctl import RunCommand

__all__ = [
    "BAD_UNIT",
    "GONE",
    "MASKED",
    "NO_UNIT",
    "UNFINISHED",
    "Systemd",
    "SystemdError",
    "UnitState",
    "open_systemd",
]

NO_UNIT, MASKED, BAD_UNIT = "NoSuchUnit", "UnitMasked", "BadUnitSetting"
GONE = "Disconnected"
UNFINISHED = "unfinished"
"""Not a term of systemd: the job was still running when our time was over."""

_PERMANENT = {
    NO_UNIT: "there is no such unit",
    MASKED: "the unit is masked",
    BAD_UNIT: "the unit has a setting that systemd does not accept",
}
# LoadState to the name of the error that a restart would cause.
_LOAD_STATES = {
    "not-found": NO_UNIT,
    "masked": MASKED,
    "bad-setting": BAD_UNIT,
    "error": BAD_UNIT,
}


class SystemdError(PullSecretError):
    """systemd did not execute the request.

    :param name: the last part of the D-Bus error's name, such as ``UnitMasked``.
    """

    kind = "systemd"

    def __init__(self, unit: str, name: str, detail: str = "") -> None:
        self.name = name
        text = _PERMANENT.get(name) or detail or "systemd refused"
        super().__init__(f"{unit}: {text} ({name})")

    @property
    def is_permanent(self) -> bool:
        """Whether a retry changes nothing, and nothing was done."""
        return self.name in _PERMANENT

    @property
    def is_unreachable(self) -> bool:
        """Whether the result of the request is unknown."""
        return self.name == GONE


class UnitState(NamedTuple):
    """A unit's properties in systemd's terms.

    ``load``, ``active``, ``sub``, ``result``: LoadState, ActiveState, SubState, Result; ``invocation``:
    InvocationID in hexadecimal, empty if it never ran; ``restarts``: NRestarts; ``condition``:
    ConditionResult; ``type``: Type.
    """

    load: str
    active: str
    sub: str
    result: str = ""
    invocation: str = ""
    restarts: int = 0
    condition: bool = True
    type: str = ""

    @property
    def is_running(self) -> bool:
        """Whether it is up or starting."""
        return self.active in ("active", "reloading", "activating")

    @property
    def is_up(self) -> bool:
        """Whether it is up."""
        return (self.active, self.sub) == ("active", "running")

    @property
    def problem(self) -> str:
        """The name of the error for which it cannot be started, or nothing."""
        return _LOAD_STATES.get(self.load, "")


class Systemd:
    """The interface. Every call ends within its time limit."""

    NAME: ClassVar[str] = ""

    def state(self, unit: str) -> UnitState:
        """:raises SystemdError: systemd does not answer."""
        raise NotImplementedError

    def reset_failed(self, unit: str) -> None:
        """Reset the failures of a unit that was started too often; a unit that is not loaded is no error.

        :raises SystemdError: systemd does not answer.
        """
        raise NotImplementedError

    def restart(self, unit: str, timeout: float) -> str:
        """Restart the unit and wait for the job; return its result, or ``UNFINISHED``.

        :raises SystemdError: no job was created, or its result is unknown.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Close what is open."""


def open_systemd(
    backend: str = "auto", clock: Clock | None = None, run_command: RunCommand | None = None
) -> Systemd:
    """:param backend: ``dbus``, ``systemctl``, or ``auto``: D-Bus if jeepney is installed.
    :param run_command: the module's, which runs ``systemctl``.
    :raises ConfigurationError: it is not available.
    """
    from . import dbus, systemctl

    if backend not in ("auto", "dbus", "systemctl"):
        raise ConfigurationError("systemd must be auto, dbus or systemctl")
    if backend == "dbus" or (backend == "auto" and dbus.is_installed()):
        return dbus.OverDBus(clock or Clock())
    if run_command is None:
        raise ConfigurationError("systemctl works in a module only; elsewhere use dbus")
    return systemctl.BySystemctl(run_command)
