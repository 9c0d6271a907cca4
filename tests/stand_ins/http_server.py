# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An HTTP/1.1 server in this process: keep-alive, a thread for each connection, no log.

Bodies and headers hold pull secrets and tokens, which no log and no traceback may show.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["Handler", "Server"]


class Server(ThreadingHTTPServer):
    """Serves between ``start`` and ``stop``, on a free port."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, handler: type[Handler], address: str = "127.0.0.1") -> None:
        super().__init__((address, 0), handler)
        self.url = f"http://{address}:{self.server_address[1]}"
        self._open: set[socket.socket] = set()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the kept-alive connections too, so that their threads end."""
        self.shutdown()
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # the client was faster
        self.server_close()
        self._thread.join()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""


class Handler(BaseHTTPRequestHandler):
    """``serve`` answers each request."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and body leave in one segment

    def serve(self) -> None:
        raise NotImplementedError

    def send(
        self, status: int, content_type: str | None, body: bytes, headers: Mapping[str, str] | None = None
    ) -> None:
        """Answer; a 204 has no body."""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if content_type:
            self.send_header("Content-Type", content_type)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _serve(self) -> None:
        self.serve()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - http.server's names
