# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""systemd over D-Bus, with jeepney.

A container with the node's ``/run/dbus`` can do this without any capability.
"""

from __future__ import annotations

import os
from collections import deque
from typing import Any, ClassVar

from ...model.errors import missing_package
from ...runtime.clock import Clock
from .manager import GONE, NO_UNIT, UNFINISHED, Systemd, SystemdError, UnitState

__all__ = ["OverDBus", "is_installed"]

_NAME = "org.freedesktop.systemd1"
_MANAGER = "org.freedesktop.systemd1.Manager"
_PATH = "/org/freedesktop/systemd1"
_BUS_PATH = "/org/freedesktop/DBus"
_UNIT = "org.freedesktop.systemd1.Unit"
_SERVICE = "org.freedesktop.systemd1.Service"
_CALL_LIMIT = 10.0
# jeepney would look below /var/run, which need not be a link to /run in a container.
_BUS = "unix:path=/run/dbus/system_bus_socket"
_RECONNECT = 0.25
# Includes other units' jobs, so that nothing is lost between the call and its response.
_SIGNALS = 1024


def is_installed() -> bool:
    """Return whether the package for D-Bus is installed."""
    try:
        import jeepney
    except ImportError:
        return False
    return bool(jeepney)


class OverDBus(Systemd):
    """Uses ``DBUS_SYSTEM_BUS_ADDRESS``, or the usual address."""

    NAME: ClassVar[str] = "dbus"

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: Any = None
        self._listening = False
        if not is_installed():
            raise missing_package(ModuleNotFoundError(name="jeepney"), "jeepney")

    def state(self, unit: str) -> UnitState:
        """Read the properties of both interfaces."""
        path = self._manager(unit, "LoadUnit", "s", (unit,))[0]
        found = self._properties(unit, path, _UNIT)
        service = self._properties(unit, path, _SERVICE) if unit.endswith(".service") else {}
        return UnitState(
            load=found["LoadState"],
            active=found["ActiveState"],
            sub=found["SubState"],
            result=service.get("Result", ""),
            invocation=bytes(found["InvocationID"]).hex(),
            restarts=service.get("NRestarts", 0),
            condition=found["ConditionResult"],
            type=service.get("Type", ""),
        )

    def reset_failed(self, unit: str) -> None:
        """Call ResetFailedUnit; NoSuchUnit means that it is not loaded."""
        try:
            self._manager(unit, "ResetFailedUnit", "s", (unit,))
        except SystemdError as error:
            if error.name != NO_UNIT:
                raise

    def restart(self, unit: str, timeout: float) -> str:
        """Call RestartUnit, and wait for JobRemoved of its job."""
        from jeepney import MatchRule

        end = self._clock.monotonic() + timeout
        before = self.state(unit).invocation
        # Without a sender: signals have the bus's own name for systemd, which filters here would not match.
        rule = MatchRule(type="signal", interface=_MANAGER, member="JobRemoved", path=_PATH)
        found: deque[Any] = deque(maxlen=_SIGNALS)
        try:
            bus = self._bus(unit)
            with bus.filter(rule, queue=found):
                self._listen(unit, rule.serialise())
                job = self._manager(unit, "RestartUnit", "ss", (unit, "replace"))[0]
                while True:
                    left = end - self._clock.monotonic()
                    if left <= 0:
                        return UNFINISHED
                    message = self._signal(unit, bus, found, left)
                    if message is not None and message.body[1] == job:
                        return str(message.body[3])
        except SystemdError as error:
            if not error.is_unreachable:
                raise
            return self._found_out(unit, before, end)

    def _listen(self, unit: str, rule: str) -> None:
        """Subscribe once per connection: systemd refuses a second Subscribe."""
        if not self._listening:
            self._call(unit, _BUS_PATH, "org.freedesktop.DBus", "AddMatch", "s", (rule,))
            self._manager(unit, "Subscribe")
            self._listening = True

    def _signal(self, unit: str, bus: Any, found: deque[Any], left: float) -> Any:
        try:
            return bus.recv_until_filtered(found, timeout=min(left, 1.0))
        except TimeoutError:
            return None
        except OSError:
            self.close()
            raise SystemdError(unit, GONE, "the connection to D-Bus was lost") from None

    def _found_out(self, unit: str, before: str, end: float) -> str:
        """The bus was lost with the job's result: return the state of the unit once it has no job."""
        while True:
            try:
                path = self._manager(unit, "LoadUnit", "s", (unit,))[0]
                if self._properties(unit, path, _UNIT)["Job"][0] == 0:
                    break
            except SystemdError as error:
                if not error.is_unreachable or self._clock.monotonic() >= end:
                    raise
            if self._clock.monotonic() >= end:
                return UNFINISHED
            self._clock.sleep(_RECONNECT)
        state = self.state(unit)
        if state.invocation == before:
            # The request may not have reached systemd.
            raise SystemdError(unit, GONE, "the connection to D-Bus was lost before the restart")
        return "done" if state.active == "active" else "failed"

    def close(self) -> None:
        """Close the connection; the next call makes a new one."""
        bus, self._open, self._listening = self._open, None, False
        if bus is not None:
            bus.close()

    def _properties(self, unit: str, path: str, interface: str) -> dict[str, Any]:
        body = self._call(unit, path, "org.freedesktop.DBus.Properties", "GetAll", "s", (interface,))
        return {name: value[1] for name, value in body[0].items()}

    def _manager(self, unit: str, member: str, signature: str = "", body: tuple[Any, ...] = ()) -> Any:
        return self._call(unit, _PATH, _MANAGER, member, signature, body)

    def _call(
        self, unit: str, path: str, interface: str, member: str, signature: str, body: tuple[Any, ...]
    ) -> Any:
        from jeepney import DBusAddress, DBusErrorResponse, new_method_call
        from jeepney.wrappers import unwrap_msg

        name = "org.freedesktop.DBus" if path == _BUS_PATH else _NAME
        message = new_method_call(DBusAddress(path, name, interface), member, signature, body)
        known = self._open is not None
        try:
            return unwrap_msg(self._bus(unit).send_and_get_reply(message, timeout=_CALL_LIMIT))
        except DBusErrorResponse as error:
            detail = error.data[0] if error.data and isinstance(error.data[0], str) else ""
            raise SystemdError(unit, error.name.rpartition(".")[2], detail) from None
        except OSError:
            # A TimeoutError is one, too.
            self.close()
        if known and member in ("LoadUnit", "GetAll", "ResetFailedUnit"):
            # The bus was restarted since; these calls may be repeated.
            return self._call(unit, path, interface, member, signature, body)
        raise SystemdError(unit, GONE, "the connection to D-Bus was lost")

    def _bus(self, unit: str) -> Any:
        if self._open is None:
            self._open = _connect(unit)
        return self._open


def _connect(unit: str) -> Any:
    from jeepney.auth import AuthenticationError
    from jeepney.bus import get_bus
    from jeepney.io.blocking import DBusConnection, prep_socket

    class Bus(DBusConnection):
        """A connection on which nothing waits forever, including its greeting."""

        def receive(self, *, timeout: Any = None) -> Any:
            return super().receive(timeout=_CALL_LIMIT if timeout is None else timeout)

    try:
        return Bus(
            prep_socket(get_bus(os.environ.get("DBUS_SYSTEM_BUS_ADDRESS") or _BUS), timeout=_CALL_LIMIT)
        )
    except (OSError, AuthenticationError) as error:
        reason = getattr(error, "strerror", None) or "it denies access or does not answer"
        raise SystemdError(unit, GONE, f"D-Bus cannot be reached: {reason}") from None
