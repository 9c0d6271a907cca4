# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The way from a node to the API server, which can be cut, or go silent."""

from __future__ import annotations

import socket
import threading
from urllib.parse import urlsplit


class Wire:
    """Forwards connections to ``upstream``, a URL."""

    def __init__(self, upstream: str) -> None:
        parts = urlsplit(upstream)
        self._upstream = (str(parts.hostname), int(parts.port or 80))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._open: list[socket.socket] = []
        self._flows = threading.Event()
        self._flows.set()
        self._closed = False
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def cut(self) -> None:
        """Break all connections; new ones can be made."""
        held, self._open = self._open, []
        for end in held:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def silence(self) -> None:
        """All connections stay, and nothing comes through any more."""
        self._flows.clear()

    def resume(self) -> None:
        """What was held back comes through."""
        self._flows.set()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self.resume()
        # Closing a listener does not wake who waits in accept; this does.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _address = self._listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(self._upstream)
            except OSError:
                near.close()
                continue
            self._open += [near, far]
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=self._forward, args=(source, target), daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                self._flows.wait()
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass
