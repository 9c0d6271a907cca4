# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""HTTP/1.1 for the programs that must be small: one request after the other on one connection.

The job and the syncer share it. ``http.client`` would load the e-mail parser: 1.5 MiB on every node for
reading ten headers. It also accepts an endless head, and a length such as ``0x3`` or ``1_0``. Every wait
ends, also with a server that sends a byte now and then.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl

__all__ = ["LARGEST", "HttpConnection", "HttpResponse", "NoConnection", "WireError"]

# A Secret has at most 1 MiB, base64 makes it a third longer, and annotations and managedFields are added.
LARGEST = 4 * 1024 * 1024
_AT_ONCE = 16 * 1024  # a TLS record
_LONGEST_LINE = 16 * 1024
_MOST_HEADERS = 100
_DIGITS = "0123456789abcdef"
_LONGEST_NUMBER = 16


class WireError(Exception):
    """No response, an incomplete one, or no HTTP. The message is about the connection only."""


class NoConnection(WireError):
    """Nothing was sent."""


class HttpConnection:
    """A connection that is made with the first request; ``timeout`` in seconds is for a complete response.

    :param look_every: seconds after which a waiting read checks ``hurry``; 0: it does not.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        tls: ssl.SSLContext | None = None,
        timeout: float = 10,
        look_every: float = 0,
    ) -> None:
        self._host = host
        self._port = port
        self._tls = tls
        self._timeout = timeout
        self._socket: socket.socket | None = None
        self._buffer = bytearray()
        self._deadline = 0.0
        self._look_every = look_every
        self.used = False
        """Whether this connection has had a response: the next request may find it closed."""
        self.is_hurried = False
        """Whether the response got less time than its request, because more important work waits."""

    @property
    def is_open(self) -> bool:
        return self._socket is not None

    def request(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes = b"", *, timeout: float = 0
    ) -> HttpResponse:
        """Send a request and read the head of its response; the previous one must have been read to its end.

        :param timeout: for this response, if the connection's own does not fit.
        """
        self.wait_at_most(timeout or self._timeout)
        self.is_hurried = False
        try:
            if self._socket is None:
                self._socket = self._connect()
            self._send(self._socket, method, target, headers, body)
            answer = self._head()
        except BaseException:
            self.close()
            raise
        self.used = True
        return answer

    def close(self) -> None:
        """Close it. Only the thread that uses the connection may do so; see ``interrupt``."""
        self.interrupt()
        held, self._socket = self._socket, None
        self._buffer = bytearray()
        self.used = False
        if held is not None:
            held.close()

    def interrupt(self) -> None:
        """From another thread: end a waiting read.

        The socket stays open. If it were closed, the next connection of the process could get its number, and the
        waiting thread would read the response of that connection.
        """
        held = self._socket
        if held is not None:
            try:
                held.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # the other side was faster

    def wait_at_most(self, seconds: float) -> None:
        """Limit the time of later reads to a number of seconds."""
        self._deadline = time.monotonic() + seconds

    def hurry(self, seconds: float) -> None:
        """From another thread: limit the time of the current wait to a number of seconds."""
        self.is_hurried = True
        self._deadline = min(self._deadline, time.monotonic() + seconds)

    def _connect(self) -> socket.socket:
        try:
            plain = self._dial()
        except OSError as error:
            raise NoConnection(f"cannot connect to {self._host}:{self._port}: {_said(error)}") from None
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
                if hasattr(socket, name):
                    plain.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
            plain.settimeout(self._rest())
            # As bytes, as below.
            return self._tls.wrap_socket(plain, server_hostname=self._host.encode()) if self._tls else plain
        except OSError as error:
            plain.close()
            raise NoConnection(
                f"the TLS handshake with {self._host}:{self._port} failed: {_said(error)}"
            ) from None

    def _dial(self) -> socket.socket:
        # As a str, the name would be encoded as an international one, whose tables need 1 MiB.
        found = socket.getaddrinfo(self._host.encode(), self._port, type=socket.SOCK_STREAM)
        problem: OSError | None = None
        for family, kind, protocol, dummy, address in found:
            held = socket.socket(family, kind, protocol)
            try:
                held.settimeout(self._rest())
                held.connect(address)
                return held
            except OSError as error:
                held.close()
                problem = error
        raise problem or OSError("it has no address")

    def _send(
        self, held: socket.socket, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> None:
        host = f"[{self._host}]" if ":" in self._host else self._host
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host}:{self._port}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if body or method not in ("GET", "DELETE"):
            lines.append(f"Content-Length: {len(body)}")
        try:
            held.settimeout(self._rest())
            held.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
        except OSError as error:
            raise WireError(f"the request could not be sent: {_said(error)}") from None

    def _head(self) -> HttpResponse:
        status = 100
        while 100 <= status < 200:
            version, dummy, rest = self.line().decode("latin-1").partition(" ")
            if not version.startswith("HTTP/1.") or not _is_number(rest[:3]):
                raise WireError("the answer is not HTTP")
            status = int(rest[:3])
            headers: dict[str, str] = {}
            while True:
                line = self.line().decode("latin-1")
                if not line:
                    break
                name, dummy, value = line.partition(":")
                headers[name.strip().lower()] = value.strip()
                if len(headers) > _MOST_HEADERS:
                    raise WireError("the answer has too many headers")
        return HttpResponse(self, status, headers)

    def line(self) -> bytes:
        """Return the next line of the head or of a chunk's frame, without its end."""
        while True:
            end = self._buffer.find(b"\n")
            if end >= 0:
                found = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                return found.rstrip(b"\r")
            if len(self._buffer) > _LONGEST_LINE:
                raise WireError("the answer is not HTTP: a line has no end")
            self._more()

    def some(self, most: int) -> bytes:
        """Return from 1 to ``most`` bytes of a body."""
        if not self._buffer:
            self._more()
        found = bytes(self._buffer[:most])
        del self._buffer[: len(found)]
        return found

    def rest_of_stream(self) -> bytes:
        """Return what is available; nothing once the server has closed."""
        try:
            return self.some(_AT_ONCE)
        except _Ended:
            return b""

    def _more(self) -> None:
        held = self._socket
        if held is None:
            raise _Ended("the connection was closed on our side")
        received: bytes | None = None
        while received is None:
            rest = self._rest()
            held.settimeout(min(rest, self._look_every or rest))
            try:
                received = held.recv(_AT_ONCE)
            except OSError as error:
                if self._look_every == 0 or not _is_timeout(error):
                    raise WireError(f"the connection broke: {_said(error)}") from None
        if not received:
            raise _Ended("the server closed the connection")
        self._buffer += received

    def _rest(self) -> float:
        rest = self._deadline - time.monotonic()
        if rest <= 0:
            raise WireError("the server did not answer in time")
        return rest


class _Ended(WireError):
    """The other side has closed."""


def _is_timeout(error: OSError) -> bool:
    return isinstance(error, (TimeoutError, socket.timeout))


def _said(error: OSError) -> str:
    if _is_timeout(error):
        return "the server did not answer in time"
    return str(error.strerror or error.args[-1] if error.args else type(error).__name__)


class HttpResponse:
    """One response; its body is read once, with ``read`` or ``lines``."""

    def __init__(self, connection: HttpConnection, status: int, headers: dict[str, str]) -> None:
        self._connection = connection
        self.status = status
        self.headers = headers

    def read(self, largest: int = LARGEST) -> bytes:
        """Return the complete body. The connection can be used again unless the server closes it.

        :param largest: bytes; a larger body is an error.
        """
        whole = bytearray()
        for part in self._parts():
            whole += part
            if len(whole) > largest:
                self._connection.close()
                raise WireError("the answer is too large")
        if self.headers.get("connection", "").lower() == "close":
            self._connection.close()
        return bytes(whole)

    def lines(self, silence: Callable[[], float]) -> Iterator[bytes]:
        """Yield the lines of a watch; each must be complete within a number of seconds after the previous
        one.

        :param silence: called after each line; returns these seconds.
        :raises WireError: also for a stream that ends inside a line.
        """
        kept = bytearray()
        searched = 0
        self._connection.wait_at_most(silence())
        for part in self._parts():
            kept += part
            while True:
                end = kept.find(b"\n", searched)
                if end < 0:
                    break
                line = bytes(kept[:end])
                del kept[: end + 1]
                searched = 0
                if line.strip():
                    yield line
                self._connection.wait_at_most(silence())
            searched = len(kept)
            if searched > LARGEST:
                raise WireError("a line of the watch is too long")
        if kept.strip():
            raise WireError("the watch ended inside a line")

    def _parts(self) -> Iterator[bytes]:
        connection = self._connection
        try:
            if self.status in (204, 304):
                return
            if "chunked" in self.headers.get("transfer-encoding", "").lower():
                yield from self._chunks()
            elif "content-length" in self.headers:
                yield from self._counted(_number(self.headers["content-length"], 10))
            else:
                while True:
                    part = connection.rest_of_stream()
                    if not part:
                        connection.close()
                        return
                    yield part
        except WireError:
            connection.close()
            raise

    def _chunks(self) -> Iterator[bytes]:
        while True:
            length = _number(self._connection.line().partition(b";")[0].decode("latin-1"), 16)
            if not length:
                while self._connection.line():
                    pass  # trailers
                return
            yield from self._counted(length)
            if self._connection.line():
                raise WireError("the answer is not HTTP: a chunk has no end")

    def _counted(self, left: int) -> Iterator[bytes]:
        while left:
            part = self._connection.some(left)
            left -= len(part)
            yield part


def _is_number(text: str) -> bool:
    """isdigit() alone also accepts ² and the digits of every script."""
    return text.isascii() and text.isdigit()


def _number(text: str, base: int) -> int:
    """Parse ASCII digits only: int() would accept a sign, ``_``, ``0x`` and the digits of every script."""
    text = text.strip()
    digits = _DIGITS[:base]
    if not text or len(text) > _LONGEST_NUMBER or any(char not in digits for char in text.lower()):
        raise WireError("the answer is not HTTP: a length is not a number")
    return int(text, base)
