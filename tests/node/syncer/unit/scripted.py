# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A server that says byte for byte what a test wants, a function for each connection."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.api import PodApi

TOKEN = "example-token"


class Asked(NamedTuple):
    """One request."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class Talk:
    """One connection, seen from the server."""

    def __init__(self, held: socket.socket, asked: list[Asked]) -> None:
        self._held = held
        self._stream = held.makefile("rb")
        self._asked = asked

    def request(self) -> Asked:
        """Read a request; ConnectionError when the client has gone."""
        line = self._stream.readline().decode().split()
        if not line:
            raise ConnectionError
        headers = {}
        while (field := self._stream.readline().decode().strip()) != "":
            name, _colon, value = field.partition(":")
            headers[name.lower()] = value.strip()
        body = self._stream.read(int(headers.get("content-length", "0")))
        self._asked.append(Asked(line[0], line[1], headers, body))
        return self._asked[-1]

    def send(self, data: bytes) -> None:
        self._held.sendall(data)

    def answer(self, thing: Any, status: int = 200, *headers: str) -> None:
        """A whole answer with a length."""
        body = thing if isinstance(thing, bytes) else json.dumps(thing).encode()
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", *headers, "", ""]
        self.send("\r\n".join(lines).encode() + body)

    def begin(self) -> None:
        """The head of a watch."""
        self.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")

    def chunk(self, data: bytes) -> None:
        self.send(b"%x\r\n%s\r\n" % (len(data), data))

    def event(self, kind: str, thing: dict[str, Any]) -> None:
        self.chunk(json.dumps({"type": kind, "object": thing}).encode() + b"\n")

    def until_gone(self) -> None:
        """Say nothing more until the client closes."""
        try:
            while self._stream.read(1):
                pass
        except OSError:
            pass

    def close(self) -> None:
        self._stream.close()
        self._held.close()


Handler = Callable[[Talk], None]


class Scripted:
    """``with Scripted(first, second)``: the handlers of the first and of all later connections."""

    def __init__(self, *handlers: Handler) -> None:
        self._handlers = list(handlers)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.asked: list[Asked] = []
        self.connections = 0
        self._open: list[socket.socket] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def api(self, directory: Path, timeout: float = 5) -> PodApi:
        """An API client of this server, whose token is in ``directory``."""
        (directory / "token").write_text(TOKEN)
        return PodApi("127.0.0.1", self.port, tls=False, directory=str(directory), timeout=timeout)

    def _accept(self) -> None:
        while True:
            try:
                held, _address = self._listener.accept()
            except OSError:
                return
            handler = self._handlers[min(self.connections, len(self._handlers) - 1)]
            self.connections += 1
            self._open.append(held)
            threading.Thread(target=self._serve, args=(held, handler), daemon=True).start()

    def _serve(self, held: socket.socket, handler: Handler) -> None:
        talk = Talk(held, self.asked)
        try:
            handler(talk)
        except OSError:
            pass  # the client has gone
        finally:
            talk.close()

    def __enter__(self) -> Scripted:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Closing a listener does not wake who waits in accept; this does.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for held in self._open:
            try:
                held.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self._thread.join()
