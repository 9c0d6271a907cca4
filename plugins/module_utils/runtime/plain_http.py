# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Keeps connections to one server with the standard library alone, for programs that must be small.

It has the interface of ``transport``, which uses urllib3.
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

# Seconds. The other side may have closed a connection that was idle for longer.
_KEPT = 5.0


class PlainTransport:
    """The connections to one server, as many as are used at once. Thread-safe.

    :param trust: returns the certificates to trust for a new connection; None without TLS.
    :param largest: maximum bytes of a response; a larger one is an error.
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
        """Send one request, and return the complete response within the time, or raise. Names of headers are
        in lower case.

        :param target: the path and query.
        :param largest: maximum bytes of this response, if less than the default.
        :raises NoConnection: nothing was sent.
        :raises WireError: no complete response.
        """
        deadline = time.monotonic() + seconds
        most = min(largest or self._largest, self._largest)
        connection = self._connection()
        was_used = connection.used
        try:
            answer = _asked(connection, method, target, headers, body, seconds, most)
        except WireError:
            # A server may close a connection after its response. A request that only reads is then repeated.
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
        """Close idle connections; the next request opens another."""
        with self._lock:
            idle, self._idle = self._idle, []
        for dummy, connection in idle:
            connection.close()

    def _connection(self) -> HttpConnection:
        with self._lock:
            used, kept = self._idle.pop() if self._idle else (0.0, None)
        if kept is not None and time.monotonic() - used <= _KEPT:
            return kept
        # The one that was used last is too old, and so are the others.
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
    """Return the host and the port of ``HOST:PORT``, ``[IPV6]:PORT`` or ``HOST``.

    :param port: the default port.
    """
    host, colon, number = address.rpartition(":")
    if not colon or address.endswith("]"):
        return address.strip("[]"), port
    return host.strip("[]"), int(number)
