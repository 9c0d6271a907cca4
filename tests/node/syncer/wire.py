# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The way from a node to the API server, which can be cut, or go silent."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from urllib.parse import urlsplit

from tests.stand_ins.tcp_server import Server


class Wire(Server):
    """Forwards connections to ``upstream``, a URL."""

    def __init__(self, upstream: str) -> None:
        parts = urlsplit(upstream)
        self._upstream = (str(parts.hostname), int(parts.port or 80))
        self._flows = threading.Event()
        self._flows.set()
        super().__init__(self._join)

    def silence(self) -> None:
        """All connections stay, and nothing comes through any more."""
        self._flows.clear()

    def close(self) -> None:
        self._flows.set()
        super().close()

    def _join(self, near: socket.socket) -> None:
        with socket.create_connection(self._upstream) as far:
            self.open.append(far)
            back = threading.Thread(target=self._forward, args=(far, near), daemon=True)
            back.start()
            self._forward(near, far)
            back.join()

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self._flows.wait()
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
