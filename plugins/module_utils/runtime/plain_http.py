# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Connections to one server that are kept, over the standard library alone, for a program that has to be small.

In the shape of ``transport``, which is over urllib3; the programs that are small have this one wire.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Mapping
from typing import Callable

from .transport import HttpAnswer
from .wire import LARGEST, HttpConnection, WireError

__all__ = ["PlainTransport", "server"]

# Seconds; one that was not used for longer may be closed on the other side.
_KEPT = 5.0


class PlainTransport:
    """The connections to one server, as many as are used at once.  Thread-safe.

    :param trust: gives the certificates to trust for a new connection; None where there is no TLS.
    :param largest: bytes of an answer; a larger one is an error.
    """

    def __init__(
        self,
        host: str,
        port: int,
        trust: Callable[[], ssl.SSLContext | None] | None = None,
        *,
        largest: int = LARGEST,
    ) -> None:
        self._host = host
        self._port = port
        self._trust = trust
        self._largest = largest
        self._lock = threading.Lock()
        self._idle: list[tuple[float, HttpConnection]] = []

    def request(
        self,
        method: str,
        target: str,
        *,
        headers: Mapping[str, str],
        seconds: float,
        body: bytes | None = None,
        largest: int | None = None,
    ) -> HttpAnswer:
        """Ask once; the whole answer, whose headers have names in lower case, is there in time, or this raises.

        :param target: the path and query.
        :param largest: bytes of this answer, if fewer than of any.
        :raises NoConnection: nothing was sent; :raises WireError: no whole answer.
        """
        deadline = time.monotonic() + seconds
        most = min(largest or self._largest, self._largest)
        connection = self._connection()
        was_used = connection.used
        try:
            answer = _asked(connection, method, target, headers, body, seconds, most)
        except WireError:
            # A server may close what it has answered on; what only reads is asked again where it did.
            left = deadline - time.monotonic()
            if method != "GET" or not was_used or left <= 0:
                raise
            self.close()
            connection = self._connection()
            answer = _asked(connection, method, target, headers, body, left, most)
        if connection.is_open:
            with self._lock:
                self._idle.append((time.monotonic(), connection))
        return answer

    def close(self) -> None:
        """Close the connections that are not in use; the next request opens another."""
        with self._lock:
            idle, self._idle = self._idle, []
        for dummy, connection in idle:
            connection.close()

    def _connection(self) -> HttpConnection:
        with self._lock:
            used, kept = self._idle.pop() if self._idle else (0.0, None)
        if kept is not None and time.monotonic() - used <= _KEPT:
            return kept
        # The one that was used last is too old, and with it the others.
        self.close()
        if kept is not None:
            kept.close()
        return HttpConnection(self._host, self._port, tls=self._trust() if self._trust else None)


def _asked(
    connection: HttpConnection,
    method: str,
    target: str,
    headers: Mapping[str, str],
    body: bytes | None,
    seconds: float,
    largest: int,
) -> HttpAnswer:
    found = connection.request(method, target, headers, body or b"", timeout=seconds)
    return HttpAnswer(found.status, found.headers, found.read(largest))


def server(address: str, port: int) -> tuple[str, int]:
    """The host and the port of ``HOST:PORT``, ``[IPV6]:PORT`` or ``HOST``.

    :param port: where it names none.
    """
    host, colon, number = address.rpartition(":")
    if not colon or address.endswith("]"):
        return address.strip("[]"), port
    return host.strip("[]"), int(number)
