# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""HTTP over the standard library alone, for a program that has to be small: one connection, kept while it is used."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Callable, Optional

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.syncer.wire import Connection

__all__ = ["Answer", "PlainTransport", "server"]

# Seconds; one that was not used for longer may be closed on the other side.
_KEPT = 5.0


@dataclass(frozen=True)
class Answer:
    """``headers`` have names in lower case."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    data: bytes = field(repr=False)


class PlainTransport:
    """One server.  Thread-safe, one request at a time.

    :param trust: gives the certificates to trust for a new connection; None where there is no TLS.
    """

    def __init__(
        self, host: str, port: int, trust: Optional[Callable[[], Optional[ssl.SSLContext]]] = None
    ) -> None:
        self._host = host
        self._port = port
        self._trust = trust
        self._lock = threading.Lock()
        self._kept: Optional[Connection] = None
        self._used = 0.0

    def request(
        self,
        method: str,
        target: str,
        *,
        headers: Mapping[str, str],
        seconds: float,
        body: Optional[bytes] = None,
    ) -> Answer:
        """Ask once; the whole answer is there in time, or this raises.

        :param target: the path and query.
        :raises NoConnection: nothing was sent; :raises WireError: no whole answer.
        """
        with self._lock:
            connection = self._connection()
            found = connection.request(method, target, headers, body or b"", timeout=seconds)
            answer = Answer(found.status, found.headers, found.read())
            self._used = time.monotonic()
            return answer

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        with self._lock:
            if self._kept is not None:
                self._kept.close()
            self._kept = None

    def _connection(self) -> Connection:
        kept = self._kept
        if kept is None or not kept.is_open or time.monotonic() - self._used > _KEPT:
            if kept is not None:
                kept.close()
            trust = self._trust() if self._trust else None
            kept = self._kept = Connection(self._host, self._port, tls=trust)
        return kept


def server(address: str, port: int) -> tuple[str, int]:
    """The host and the port of ``HOST:PORT``, ``[IPV6]:PORT`` or ``HOST``.

    :param port: where it names none.
    """
    host, colon, number = address.rpartition(":")
    if not colon or address.endswith("]"):
        return address.strip("[]"), port
    return host.strip("[]"), int(number)
