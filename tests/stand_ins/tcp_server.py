# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A TCP server on loopback, whose connections a test answers byte for byte, slowly, or not at all."""

from __future__ import annotations

import selectors
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

Served = Callable[[socket.socket], None]
PACE_SECONDS = 0.05


class Server:
    """Calls ``serve`` with each connection in a thread of its own: one for the first, second and all others."""

    def __init__(self, *serve: Served, host: str = "127.0.0.1") -> None:
        self._serve = serve
        self._socket = socket.create_server((host, 0))
        self.port: int = self._socket.getsockname()[1]
        self.address = f"{host}:{self.port}"
        self.url = f"http://{self.address}"
        self.connections = 0
        self.open: list[socket.socket] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _address = self._socket.accept()
            except OSError:
                return
            serve = self._serve[min(self.connections, len(self._serve) - 1)]
            self.connections += 1
            self.open.append(connection)
            threading.Thread(target=self._one, args=(serve, connection), daemon=True).start()

    def _one(self, serve: Served, connection: socket.socket) -> None:
        with connection, suppress(OSError):  # the client has had enough
            serve(connection)

    def cut(self) -> None:
        """Break all connections; new ones can be made."""
        ended, self.open = self.open, []
        for connection in ended:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Listen no more, and break all connections."""
        with suppress(OSError):
            # Closing a listener does not wake who waits in accept; this does.
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()
        self.cut()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_unused: object) -> None:
        self.close()


def dripping(begin: bytes, then: bytes) -> Served:
    """Answers with the first part at once, and with the other again and again."""

    def serve(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(begin)
        while True:
            connection.sendall(then)
            time.sleep(PACE_SECONDS)  # no byte is late, and the whole is

    return serve


def forward(front: socket.socket, back: socket.socket) -> None:
    """Give each side what the other says, until one ends."""
    with selectors.DefaultSelector() as selector:
        selector.register(front, selectors.EVENT_READ, back)
        selector.register(back, selectors.EVENT_READ, front)
        while True:
            for ready, _events in selector.select():
                source: Any = ready.fileobj
                data = source.recv(65536)
                # What TLS has decrypted already does not show in select.
                while isinstance(source, ssl.SSLSocket) and source.pending():
                    data += source.recv(source.pending())
                if not data:
                    return
                ready.data.sendall(data)
