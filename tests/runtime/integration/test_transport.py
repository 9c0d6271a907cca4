# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A request keeps its time limit whichever part of it the server or a proxy slows down."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import urllib3.util.connection
from urllib3 import PoolManager, ProxyManager
from urllib3.exceptions import ConnectTimeoutError, HTTPError, ReadTimeoutError

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.transport import (
    Forbidden,
    Late,
    Transport,
)
from tests.stand_ins.tcp_server import Server, dripping
from tests.support.login import TlsFront

# Every byte comes in time, but all of them take too long.
_SECONDS, _MUCH = 0.5, 120.0
_OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def silent(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


def deaf(connection: socket.socket) -> None:
    """Read nothing, for a limited time."""
    connection.settimeout(_MUCH)
    threading.Event().wait(_MUCH)


def late(
    transport: Transport, error: type[Exception] | tuple[type[Exception], ...], **options: object
) -> None:
    start = time.monotonic()
    with pytest.raises(error):
        transport.request("GET", "/", headers={}, seconds=_SECONDS, **options)  # type: ignore[arg-type]
    assert time.monotonic() - start < _MUCH / 2


@pytest.mark.parametrize(
    ("begin", "then"),
    [
        (b"HT", b" "),
        (b"HTTP/1.1 200 OK\r\nX: ", b"x"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"0"),
    ],
    ids=["status", "headers", "length", "until closed", "chunks", "a chunk's size"],
)
def test_a_server_that_answers_a_little_at_a_time(begin: bytes, then: bytes) -> None:
    with Server(dripping(begin, then)) as server:
        late(Transport(f"http://{server.address}", PoolManager()), Late)


def test_a_server_that_says_nothing() -> None:
    with Server(silent) as server:
        late(Transport(f"http://{server.address}", PoolManager()), ReadTimeoutError)


def test_a_server_that_does_not_read() -> None:
    with Server(deaf) as server:
        late(Transport(f"http://{server.address}", PoolManager()), HTTPError, body=b"x" * (32 << 20))


def test_a_handshake_that_does_not_end() -> None:
    with Server(silent) as server:
        late(Transport(f"https://{server.address}", PoolManager()), ConnectTimeoutError)


def test_a_dripping_server_behind_tls(tmp_path: Path) -> None:
    with Server(dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b"x")) as server:
        front = TlsFront(server.address, tmp_path)
        try:
            late(Transport(front.url, PoolManager(ca_certs=str(front.authority))), Late)
        finally:
            front.stop()


def test_a_proxy_that_answers_a_little_at_a_time() -> None:
    with Server(dripping(b"HTTP/1.1 200 OK\r\nX: ", b"x")) as proxy:
        late(Transport("https://127.0.0.1:1", ProxyManager(f"http://{proxy.address}")), (HTTPError, Late))
        late(Transport("http://127.0.0.1:1", ProxyManager(f"http://{proxy.address}")), Late)


def test_a_request_s_time_is_not_the_next_one_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both requests use the same connection. Its socket still has the first request's short timeout."""
    short, long = 60.0, 120.0
    sockets: list[socket.socket] = []

    def connect(*where: Any, **options: Any) -> socket.socket:
        sockets.append(create_connection(*where, **options))
        return sockets[-1]

    create_connection = urllib3.util.connection.create_connection
    monkeypatch.setattr(urllib3.util.connection, "create_connection", connect)

    def serve(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(_OK)
        connection.recv(65536)
        # Answer once the client's timeout is longer than the first one's, or after that time has passed.
        limit = time.monotonic() + short
        while (sockets[0].gettimeout() or 0) <= short and time.monotonic() < limit:
            time.sleep(0.01)
        connection.sendall(_OK)

    with Server(serve) as server:
        transport = Transport(f"http://{server.address}", PoolManager())
        for seconds in (short, long):
            answer = transport.request("GET", "/", headers={}, seconds=seconds)
            assert (answer.status, answer.data) == (200, b"{}")
        assert server.connections == 1
    assert (sockets[0].gettimeout() or 0) > short


def test_an_answer_without_an_end_is_read_as_far_as_was_allowed() -> None:
    def serve(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65536)

    with Server(serve) as server:
        transport = Transport(f"http://{server.address}", PoolManager())
        answer = transport.request("GET", "/", headers={}, seconds=_MUCH, largest=100_000)
        assert len(answer.data) == 100_001


def test_headers_and_body_are_one_write_and_the_base_s_path_comes_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def serve(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.send(_OK)

    written: list[bytes] = []
    sendall, caller = socket.socket.sendall, threading.get_ident()

    def noted(sock: socket.socket, data: bytes) -> None:
        # A server of an earlier test may still write in its own thread.
        if threading.get_ident() == caller:
            written.append(data)
        sendall(sock, data)

    with Server(serve) as server:
        transport = Transport(f"http://{server.address}/base", PoolManager())
        monkeypatch.setattr(socket.socket, "sendall", noted)
        transport.request("PUT", "/x?y=z", headers={"A": "b"}, body=b"the body", seconds=_MUCH)
    (sent,) = written
    assert sent.startswith(b"PUT /base/x?y=z HTTP/1.1\r\n")
    assert sent.endswith(b"\r\n\r\nthe body")


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("proxy", [None, "http", "https"])
def test_a_forbidden_address_is_sent_nothing(scheme: str, proxy: str | None) -> None:
    """It gets neither a request nor a TLS handshake, and no proxy is asked for a tunnel to it."""
    received: list[bytes] = []
    closed = threading.Event()

    def note(connection: socket.socket) -> None:
        received.append(connection.recv(65536))
        closed.set()

    with Server(note) as server:
        base = f"{scheme}://{'192.0.2.1' if proxy else server.address}"
        manager = ProxyManager(f"{proxy}://{server.address}") if proxy else PoolManager()
        asked: list[str] = []

        def forbid(address: str) -> bool:
            asked.append(address)
            return True

        transport = Transport(base, manager, forbidden=forbid)
        with pytest.raises(Forbidden):
            transport.request("GET", "/", headers={}, seconds=_MUCH)
        assert closed.wait(_MUCH)
        assert (asked, received) == (["127.0.0.1"], [b""])


def test_a_name_that_is_looked_up_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_arguments, **_options: over.wait(_MUCH) and [])
    late(Transport("http://slow.example.com", PoolManager()), ConnectTimeoutError)
    over.set()


def test_connections_that_were_closed_are_opened_again() -> None:
    def serve(connection: socket.socket) -> None:
        while connection.recv(65536):
            connection.sendall(_OK)

    with Server(serve) as server:
        transport = Transport(f"http://{server.address}", PoolManager())
        for _number in range(2):
            assert transport.request("GET", "/", headers={}, seconds=_MUCH).status == 200
        transport.close()
        assert transport.request("GET", "/", headers={}, seconds=_MUCH).status == 200
        assert server.connections == 2
