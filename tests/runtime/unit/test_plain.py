# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The client on the standard library: persistent connections and addresses."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.plain_http import (
    PlainTransport,
    server,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.wire import (
    NoConnection,
    WireError,
)
from tests.stand_ins import tcp_server

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nRetry-After: 3\r\n\r\nok"


class Server(tcp_server.Server):
    """Answers ``per_connection`` requests on each connection, then closes it without notice."""

    def __init__(self, per_connection: int) -> None:
        self.requests: list[str] = []
        self._per_connection = per_connection
        super().__init__(self._answer)

    def _answer(self, connection: socket.socket) -> None:
        for dummy in range(self._per_connection):
            received = b""
            while b"\r\n\r\n" not in received:
                received += (part := connection.recv(4096))
                if not part:
                    return
            self.requests.append(received.split()[0].decode())
            connection.sendall(ANSWER)


@pytest.fixture
def once() -> Iterator[Server]:
    served = Server(1)
    yield served
    served.close()


def ask(transport: PlainTransport, method: str = "GET") -> bytes:
    return transport.request(method, "/", headers={}, seconds=5).data


def test_a_connection_is_kept() -> None:
    served = Server(9)
    transport = PlainTransport("127.0.0.1", served.port)
    answers = [transport.request("GET", "/", headers={}, seconds=5) for dummy in range(3)]
    assert [(answer.status, answer.data) for answer in answers] == [(200, b"ok")] * 3
    assert answers[0].headers["retry-after"] == "3"
    assert served.connections == 1
    transport.close()
    served.close()


def test_what_reads_is_asked_again_where_the_server_has_closed(once: Server) -> None:
    transport = PlainTransport("127.0.0.1", once.port)
    assert [ask(transport), ask(transport)] == [b"ok", b"ok"]
    assert once.connections == 2


def test_what_writes_is_not(once: Server) -> None:
    transport = PlainTransport("127.0.0.1", once.port)
    assert ask(transport, "POST") == b"ok"
    with pytest.raises(WireError) as caught:
        ask(transport, "POST")
    assert not isinstance(caught.value, NoConnection)
    assert once.requests == ["POST"]
    assert ask(transport, "POST") == b"ok"


def test_a_server_that_is_not_there_was_sent_nothing() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        with pytest.raises(NoConnection):
            ask(PlainTransport("127.0.0.1", nobody.getsockname()[1]), "POST")


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("metadata.google.internal", ("metadata.google.internal", 80)),
        ("127.0.0.1:8080", ("127.0.0.1", 8080)),
        ("[fd00::1]", ("fd00::1", 80)),
        ("[fd00::1]:8080", ("fd00::1", 8080)),
    ],
)
def test_addresses(address: str, found: tuple[str, int]) -> None:
    assert server(address, 80) == found
