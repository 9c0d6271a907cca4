# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One HTTP request that ends in time, whatever the server does, over urllib3's connections.

urllib3's limit is for each read from its socket: a server, or a proxy, that sends a byte now and then would
hold a request for ever.  Here each read gets what is left of the request's time, so that no thread has to be
started to keep watch; only a new connection is made in one, since looking up a name has no limit at all.
"""

from __future__ import annotations

import functools
import io
import socket
import time
from collections.abc import Mapping
from concurrent.futures import wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Optional

from .waiting import begin

if TYPE_CHECKING:
    from http.client import HTTPResponse

__all__ = ["Answer", "Forbidden", "Late", "Transport"]

# Seconds; none at all would mean not to wait for a socket.
_SHORTEST = 0.001


class Late(Exception):
    """Some of the answer came, and not the whole in time."""


class Forbidden(Exception):
    """The connection leads to an address that is forbidden; nothing was sent."""


@dataclass(frozen=True)
class Answer:
    """What a server said.

    :param data: of an answer that is larger than was allowed one byte more than that, and no more.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    data: bytes = field(repr=False)


class Transport:
    """The connections to one server.  Thread-safe.

    :param base: ``https://host:port``, and the path that all its addresses begin with, if any.
    :param manager: urllib3's pools, with their certificates and proxies; from now on they are ours.
    :param forbidden: tells of an IP address, a server's or a proxy's, whether no connection may lead there.
    """

    def __init__(self, base: str, manager: Any, *, forbidden: Optional[Callable[[str], bool]] = None) -> None:
        from urllib3 import Timeout
        from urllib3.util import parse_url

        self._timeout = Timeout
        self._base, self._prefix = base, parse_url(base).path or ""
        self._manager = manager
        # A proxy may want the whole URL, and headers of its own: the manager knows when.
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
        body: Optional[bytes] = None,
        largest: Optional[int] = None,
    ) -> Answer:
        """Ask once: nothing is repeated, no redirect is followed, and no body is unpacked.

        :param path: and query.
        :param largest: bytes of an answer's body that are read at most, one more to tell.
        :raises Late: a part of the answer was there when the time was over.
        :raises Forbidden: the connection leads where none may.
        :raises urllib3.exceptions.HTTPError: no answer.
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
        return Answer(response.status, response.headers, data)

    def close(self) -> None:
        """Close the connections that are not in use; the next request opens another."""
        self._pool = None
        self._manager.clear()


@functools.cache
def _in_time(pool: type, forbidden: Optional[Callable[[str], bool]]) -> type:
    """The same kind of pool, whose connections keep to the time and lead to no forbidden address."""
    connection: type = pool.ConnectionCls  # type: ignore[attr-defined]
    members = {"forbidden": staticmethod(forbidden)} if forbidden is not None else {}
    return type(
        pool.__name__, (pool,), {"ConnectionCls": type(connection.__name__, (_InTime, connection), members)}
    )


class _InTime:
    """What a connection of urllib3 does differently.

    ``timeout`` is the connection's: urllib3 sets it to what is left of the request's time, before it
    connects, sends, and reads.
    """

    timeout: float
    sock: Any
    forbidden: Optional[Callable[[str], bool]] = None
    _held: Optional[list[Any]] = None

    def request(self, *arguments: Any, **options: Any) -> None:
        """Headers and body in one write: on a busy machine each costs more than all the rest."""
        held: list[Any] = []
        self._held = held
        try:
            super().request(*arguments, **options)  # type: ignore[misc]
        finally:
            self._held = None
        super().send(b"".join(held))  # type: ignore[misc]

    def send(self, data: Any) -> None:
        """Also what a proxy is told, which is not held back."""
        if self._held is None:
            super().send(data)  # type: ignore[misc]
        else:
            self._held.append(data)

    def connect(self) -> None:
        """In a thread: neither looking up a name nor trying all its addresses has a limit by itself."""
        from urllib3.exceptions import ConnectTimeoutError

        seconds, start = self.timeout, time.monotonic()
        made = begin(super().connect)  # type: ignore[misc]
        wait([made], seconds)
        if not made.done():
            raise ConnectTimeoutError(f"no connection in {seconds} s")
        made.result()
        # What is sent now has only what is left.
        self.timeout = max(seconds - (time.monotonic() - start), _SHORTEST)
        self.sock.settimeout(self.timeout)

    def _new_conn(self) -> socket.socket:
        """Make the TCP connection. The kernel says where it leads, whatever was made of a name or a URL."""
        made: socket.socket = super()._new_conn()  # type: ignore[misc]
        try:
            # What a SOCKS proxy says of the other side is not asked for.
            if self.forbidden is not None and self.forbidden(socket.socket.getpeername(made)[0]):
                raise Forbidden
        except BaseException:
            made.close()
            raise
        return made

    def response_class(self, sock: Any, *arguments: Any, **options: Any) -> HTTPResponse:
        """What http.client reads an answer with, the server's or a proxy's."""
        # urllib3 has it loaded; whoever does without urllib3 does without it, and with it the e-mail parser.
        from http.client import HTTPResponse

        return HTTPResponse(_Readable(sock, self.timeout), *arguments, **options)  # type: ignore[arg-type]


class _Readable:
    """The part of a socket that http.client reads an answer from."""

    def __init__(self, sock: Any, seconds: float) -> None:
        self._sock, self._seconds = sock, seconds

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Reads(self._sock, self._seconds))


class _Reads(io.RawIOBase):
    """Reads from a socket, all of them together in so many seconds."""

    def __init__(self, sock: Any, seconds: float) -> None:
        super().__init__()
        self._sock, self._raw = sock, sock.makefile("rb", buffering=0)
        self._end = time.monotonic() + seconds
        self._begun = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Optional[int]:
        """As a socket's file does.

        :raises Late: the time is over, and something had come.
        :raises socket.timeout: nothing had.
        """
        if self._begun:
            left = self._end - time.monotonic()
            if left <= 0:
                raise Late
            self._sock.settimeout(left)
        try:
            count: Optional[int] = self._raw.readinto(buffer)
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
