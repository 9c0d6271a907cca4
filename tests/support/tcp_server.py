# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers that answer slowly, or not at all."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Served = Callable[[socket.socket], None]
# Between two pieces of an answer.
PACE_SECONDS = 0.05


class Server:
    """Does what it is told with each connection, in a thread of its own."""

    def __init__(self, serve: Served) -> None:
        self._serve = serve
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _address = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection: socket.socket) -> None:
        with connection:
            try:
                self._serve(connection)
            except OSError:
                pass  # the client has had enough

    def stop(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@contextmanager
def serving(serve: Served) -> Iterator[Server]:
    server = Server(serve)
    try:
        yield server
    finally:
        server.stop()


def dripping(begin: bytes, then: bytes) -> Served:
    """Answers with the first part at once, and with the other again and again."""

    def serve(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(begin)
        while True:
            connection.sendall(then)
            time.sleep(PACE_SECONDS)  # no byte is late, and the whole is

    return serve
