# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks that kubelet is healthy for a whole window: it runs, it is the same process, and it says so itself.

A unit of Type=simple counts as started however soon it dies, and kubeadm's unit restarts a crashed kubelet
after 10 s. Only a longer window shows that it stays up.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from typing import Any, NamedTuple

from ...clients.systemd.manager import Systemd, SystemdError, UnitState
from ...model.errors import ConfigurationError, PullSecretError
from ...runtime.clock import Clock

__all__ = ["Health", "Healthz", "HealthzUnreachable", "Interrupted", "wait"]

_POLL_SECONDS = 0.25
_ANSWER_SECONDS = 2.0
_NAP_SECONDS = 0.25
_MOST_MISSES = 3
_LONGEST_URL = 1000
_STATUS = re.compile(rb"[0-9]{3}\Z")


class Interrupted(Exception):
    """The caller no longer wants to wait."""


class HealthzUnreachable(PullSecretError):
    """Kubelet runs, but its ``healthz`` cannot be reached: a fault of the node or of the option."""

    kind = "kubelet"

    def __init__(self, unit: str, url: str, words: str, left: str) -> None:
        super().__init__(
            f"{unit}: kubelet runs, but {words} ({url}); {left}",
            "check that `healthz` is kubelet's address; an empty `healthz` skips the check",
        )


class Healthz:
    """kubelet's own health endpoint.

    :param url: ``http://127.0.0.1:10248/healthz``; empty: it is not checked.
    :raises ConfigurationError: the URL is invalid.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        if not url:
            return
        scheme, _sep, rest = url.partition("://")
        where, _slash, path = rest.partition("/")
        host, colon, port = where.rpartition(":")
        if where.endswith("]"):
            # An IPv6 address without a port.
            host, colon, port = where, "", ""
        plain = all("!" <= char <= "~" for char in url) and len(url) <= _LONGEST_URL
        if scheme != "http" or not where or "@" in where or not plain:
            raise ConfigurationError("healthz must be a URL such as http://127.0.0.1:10248/healthz, or empty")
        if colon and not (host and port.isdigit() and len(port) <= 5 and 0 < int(port) < 65536):
            raise ConfigurationError("healthz must have a port from 1 to 65535")
        self._host = (host if colon else where).strip("[]")
        self._port = int(port) if colon else 80
        self._request = f"GET /{path} HTTP/1.0\r\nHost: {where}\r\nConnection: close\r\n\r\n".encode("ascii")

    def problem(self, clock: Clock) -> str:
        """Return nothing if it answers 200, otherwise what it says or does."""
        return self._request_status(clock)[1]

    def unreachable(self, clock: Clock) -> str:
        """Return why there is no answer; nothing if kubelet answers, even if it says that it is unhealthy."""
        status, words = self._request_status(clock)
        return "" if status >= 500 else words

    def _request_status(self, clock: Clock) -> tuple[int, str]:
        if not self.url:
            return 200, ""
        end = clock.monotonic() + _ANSWER_SECONDS
        # As bytes: a str would be encoded as an international name, whose tables need 1 MiB.
        where: Any = (self._host.encode("ascii"), self._port)
        try:
            with socket.create_connection(where, timeout=_ANSWER_SECONDS) as stream:
                stream.sendall(self._request)
                answer = b""
                while b"\n" not in answer and len(answer) < 4096:
                    left = end - clock.monotonic()
                    if left <= 0:
                        return 0, "healthz gives no answer"
                    stream.settimeout(left)
                    part = stream.recv(4096)
                    if not part:
                        break
                    answer += part
        except OSError as error:
            return 0, f"healthz cannot be reached: {error.strerror or 'no answer'}"
        words = answer.split(None, 2)
        if len(words) < 2 or not words[0].startswith(b"HTTP/") or not _STATUS.match(words[1]):
            return 0, "healthz does not speak HTTP"
        status = int(words[1])
        return status, "" if status == 200 else f"healthz answers {status}"


class Health(NamedTuple):
    """How kubelet is judged.

    ``window``: seconds that it must stay healthy; ``patience``: seconds within which it must become healthy.
    """

    healthz: Healthz
    window: float = 12.0
    patience: float = 60.0

    def problem(
        self, systemd: Systemd, unit: str, before: str, clock: Clock, stop: Callable[[], bool]
    ) -> str:
        """Return nothing if the unit became and stayed healthy, otherwise what is wrong, in systemd's terms.

        :param before: an InvocationID that it must not have, empty for any.
        :raises Interrupted: ``stop`` said so.
        """
        first_limit = clock.monotonic() + self.patience
        well_since: float | None = None
        known: UnitState | None = None
        misses = 0
        while True:
            state, wrong = _unit_state(systemd, unit)
            if state is not None:
                fatal = _fatal(state, before, known)
                if fatal:
                    return fatal
                known = known or (state if state.is_up else None)
                wrong = "" if state.is_up else f"the unit is {state.active}/{state.sub}"
            wrong = wrong or self.healthz.problem(clock)
            now = clock.monotonic()
            if not wrong:
                misses = 0
                well_since = now if well_since is None else well_since
                if now - well_since >= self.window:
                    return ""
            elif well_since is None:
                if now >= first_limit:
                    return f"not healthy within {self.patience:g} s: {wrong}"
            elif state is None:
                # A silent systemd tells nothing about kubelet, but the wait must end.
                if now >= first_limit + self.window + self.patience:
                    return wrong
            else:
                # It was healthy before. A second look tells a short interruption from an end, and why it
                # ended.
                misses += 1
                if misses > _MOST_MISSES:
                    return wrong
            wait(_POLL_SECONDS, clock, stop)

    def unreachable(
        self,
        systemd: Systemd,
        unit: str,
        clock: Clock,
        patience: float,
        stop: Callable[[], bool] = lambda: False,
    ) -> str:
        """Return why a kubelet that runs all the time does not answer; nothing if it answers, or may have
        ended.

        :param patience: seconds; a unit of Type=simple that was just started gets ``self.patience``.
        :raises Interrupted: ``stop`` said so.

        A restart with another file would then show and fix nothing. This does not apply to a kubelet that is
        down, crashing or unhealthy: the file may be the cause, and another file the fix.
        """
        end = clock.monotonic() + patience
        while self.healthz.url:
            state, _wrong = _unit_state(systemd, unit)
            if state is None or not state.is_up or state.restarts:
                break
            words = self.healthz.unreachable(clock)
            if not words or clock.monotonic() >= end:
                return words
            wait(_POLL_SECONDS, clock, stop)
        return ""


def _unit_state(systemd: Systemd, unit: str) -> tuple[UnitState | None, str]:
    try:
        return systemd.state(unit), ""
    except SystemdError as error:
        # D-Bus may be restarting; kubelet does not need it.
        return None, error.message


def _fatal(state: UnitState, before: str, known: UnitState | None) -> str:
    """Return a problem that waiting does not fix."""
    if state.sub == "auto-restart" or state.active == "failed":
        return f"kubelet ended: the unit is {state.active}/{state.sub}, result {state.result or 'unknown'}"
    if state.active in ("inactive", "deactivating"):
        return f"kubelet ended: the unit is {state.active}/{state.sub}" + (
            "" if state.condition else ", since a condition of the unit is not met"
        )
    if before and state.invocation == before:
        return "kubelet was not restarted: its main process has not changed"
    if known is not None and (state.invocation, state.restarts) != (known.invocation, known.restarts):
        return "kubelet ended and was started again"
    return ""


def wait(seconds: float, clock: Clock, stop: Callable[[], bool]) -> None:
    """Wait.

    :raises Interrupted: ``stop`` said so.
    """
    end = clock.monotonic() + seconds
    while True:
        if stop():
            raise Interrupted
        left = end - clock.monotonic()
        if left <= 0:
            return
        clock.sleep(min(left, _NAP_SECONDS))
