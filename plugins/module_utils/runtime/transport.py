# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""HTTP requests that end in time, whatever the server does, over urllib3's connections.

urllib3's limit is for each read from its socket: a server or proxy that sends a byte now and then would hold
a request forever. Here a connection's socket is a ``DeadlineSocket``, which limits each read to the rest of
the request's time, so that no thread is needed to supervise it. Only a new connection uses a thread, because
looking up a name has no limit at all.

urllib3 is extended where it allows it: the pools of a manager (``pool_classes_by_scheme``), the connections
of a pool (``ConnectionCls``), and the public parts of a connection (``connect``, ``request``, ``send``,
``sock``).
"""

from __future__ import annotations

import functools
import io
import socket
import time
from collections.abc import Mapping
from concurrent.futures import wait
from dataclasses import dataclass, field
from typing import Any, Callable

from .waiting import begin

__all__ = ["DeadlineSocket", "Forbidden", "HttpAnswer", "Late", "Transport"]

# Seconds; zero would mean not to wait for a socket.
_SHORTEST = 0.001


class Late(Exception):
    """A part of the response came, but not all of it in time."""


class Forbidden(Exception):
    """The connection leads to a forbidden address; nothing was sent."""


@dataclass(frozen=True)
class HttpAnswer:
    """A server's response.

    :param data: of a response that is too large, one byte more than allowed.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    data: bytes = field(repr=False)


class Transport:
    """The connections to one server. Thread-safe.

    :param base: ``https://host:port``, with the common path of all its URLs, if any.
    :param manager: urllib3's pools, with their certificates and proxies; owned by this object from now on.
    :param forbidden: returns whether connections to an IP address, a server's or a proxy's, are forbidden.
    """

    def __init__(self, base: str, manager: Any, *, forbidden: Callable[[str], bool] | None = None) -> None:
        from urllib3 import Timeout
        from urllib3.util import parse_url

        self._timeout = Timeout
        self._base, self._prefix = base, parse_url(base).path or ""
        self._manager = manager
        # A proxy may need the complete URL and its own headers: the manager knows when.
        self._direct = manager.proxy is None
        self._pool: Any = None
        manager.pool_classes_by_scheme = {
            scheme: _in_time(kind, forbidden) for scheme, kind in manager.pool_classes_by_scheme.items()
        }

    def request(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str],
        seconds: float,
        body: bytes | None = None,
        largest: int | None = None,
    ) -> HttpAnswer:
        """Send one request: no retry, no redirect, and no unpacking.

        :param path: and query.
        :param largest: maximum bytes of a response's body; one more is read to detect it.
        :raises Late: a part of the response was there when the time was over.
        :raises Forbidden: the connection leads to a forbidden address.
        :raises urllib3.exceptions.HTTPError: no response.
        """
        options: dict[str, Any] = {
            "body": body,
            "headers": headers,
            "timeout": self._timeout(total=seconds),
            "retries": False,
            "redirect": False,
            "preload_content": False,
        }
        if self._direct:
            # Finding the pool takes the manager a tenth of a request's time.
            pool = self._pool = self._pool or self._manager.connection_from_url(self._base)
            response = pool.request(method, self._prefix + path, assert_same_host=False, **options)
        else:
            response = self._manager.request(method, self._base + path, **options)
        data = response.read(None if largest is None else largest + 1, decode_content=False)
        if largest is not None and len(data) > largest:
            response.close()
        response.release_conn()
        return HttpAnswer(response.status, response.headers, data)

    def close(self) -> None:
        """Close idle connections; the next request opens another."""
        self._pool = None
        self._manager.clear()


@functools.cache
def _in_time(pool: type, forbidden: Callable[[str], bool] | None) -> type:
    """Return the same kind of pool, whose connections keep the time limit and lead to no forbidden address."""
    connection: type = pool.ConnectionCls  # type: ignore[attr-defined]
    members = {"forbidden": staticmethod(forbidden)} if forbidden is not None else {}
    return type(
        pool.__name__, (pool,), {"ConnectionCls": type(connection.__name__, (_InTime, connection), members)}
    )


class _InTime:
    """The differences to a connection of urllib3.

    ``timeout`` is the connection's: urllib3 sets it to the rest of the request's time, before it connects,
    sends, and reads.
    """

    timeout: float
    forbidden: Callable[[str], bool] | None = None
    _held: list[Any] | None = None
    __sock: DeadlineSocket | None = None

    @property
    def sock(self) -> Any:
        """The socket of the connection, or None. It is set as soon as it is connected: before TLS begins,
        before a proxy receives CONNECT, and once more after the TLS handshake.
        """
        return self.__sock

    @sock.setter
    def sock(self, made: Any) -> None:
        try:
            self._check_address(made)
        except BaseException:
            made.close()
            raise
        self.__sock = None if made is None else DeadlineSocket(made, self.timeout)

    def _check_address(self, made: Any) -> None:
        # TLS inside the TLS of a proxy has no socket of the kernel's; that of the proxy was checked.
        if self.forbidden is None or not isinstance(made, socket.socket):
            return
        # The kernel knows the real address, whatever a name or a URL resolved to. The address behind a SOCKS
        # proxy is not checked.
        if self.forbidden(socket.socket.getpeername(made)[0]):
            raise Forbidden

    def request(self, *arguments: Any, **options: Any) -> None:
        """Send headers and body in one write: on a busy machine each write costs more than all the rest."""
        held: list[Any] = []
        self._held = held
        try:
            super().request(*arguments, **options)  # type: ignore[misc]
        finally:
            self._held = None
        super().send(b"".join(held))  # type: ignore[misc]

    def send(self, data: Any) -> None:
        """Also used for the request to a proxy, which is not delayed."""
        if self._held is None:
            super().send(data)  # type: ignore[misc]
        else:
            self._held.append(data)

    def connect(self) -> None:
        """Connect in a thread: neither looking up a name nor trying all its addresses has a limit by itself."""
        from urllib3.exceptions import ConnectTimeoutError

        seconds, start = self.timeout, time.monotonic()
        made = begin(super().connect)  # type: ignore[misc]
        wait([made], seconds)
        if not made.done():
            raise ConnectTimeoutError(f"no connection in {seconds} s")
        made.result()
        # Everything after this has only the rest of the time.
        self.timeout = max(seconds - (time.monotonic() - start), _SHORTEST)
        self.sock.settimeout(self.timeout)


class DeadlineSocket:
    """A connected socket; all that is read from it must come within a number of seconds.

    :param sock: the socket; other attributes are its own.
    :param seconds: from now on, until ``settimeout`` changes it.
    """

    def __init__(self, sock: Any, seconds: float) -> None:
        self._sock = sock
        self.end = time.monotonic() + seconds
        """The end of the time, by the monotonic clock."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)

    def settimeout(self, seconds: float) -> None:
        """Set the time for writing, and for reading a complete response, from now on."""
        self.end = time.monotonic() + seconds
        self._sock.settimeout(seconds)

    def makefile(self, _mode: str) -> io.BufferedReader:
        """Return the file from which an HTTP client reads a response of the server or a proxy."""
        return io.BufferedReader(_Reads(self, self._sock))


class _Reads(io.RawIOBase):
    """Reads from a socket, all within its time."""

    def __init__(self, limit: DeadlineSocket, sock: Any) -> None:
        super().__init__()
        self._limit, self._sock = limit, sock
        self._raw = sock.makefile("rb", buffering=0)
        self._begun = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read as a socket's file does.

        :raises Late: the time is over after a part has come.
        :raises socket.timeout: the time is over, and nothing has come.
        """
        if self._begun:
            left = self._limit.end - time.monotonic()
            if left <= 0:
                raise Late
            self._sock.settimeout(left)
        try:
            count: int | None = self._raw.readinto(buffer)
        except socket.timeout:
            if self._begun:
                raise Late from None
            raise
        self._begun = True
        return count

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()
