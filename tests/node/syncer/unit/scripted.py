# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A server that says byte for byte what a test wants, a function for each connection."""

from __future__ import annotations

import contextlib
import functools
import http.client
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.api import PodApi
from tests.stand_ins.http_server import Request
from tests.stand_ins.tcp_server import Server

TOKEN = "example-token"


class Talk:
    """One connection, seen from the server."""

    def __init__(self, held: socket.socket, stream: BinaryIO, asked: list[Request]) -> None:
        self._held = held
        self._stream = stream
        self._asked = asked

    def request(self) -> Request:
        """Read a request; ConnectionError when the client has gone."""
        line = self._stream.readline().decode().split()
        if not line:
            raise ConnectionError
        headers = {name.lower(): value for name, value in http.client.parse_headers(self._stream).items()}
        body = self._stream.read(int(headers.get("content-length", "0")))
        self._asked.append(Request(line[0], line[1], headers, body))
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
        with contextlib.suppress(OSError):
            while self._stream.read(1):
                pass


Handler = Callable[[Talk], None]


class Scripted(Server):
    """``with Scripted(first, second)``: the handlers of the first and of all later connections."""

    def __init__(self, *handlers: Handler) -> None:
        self.asked: list[Request] = []
        super().__init__(*(functools.partial(self._talk, handler) for handler in handlers))

    def api(self, directory: Path, timeout: float = 5) -> PodApi:
        """An API client of this server, whose token is in ``directory``."""
        (directory / "token").write_text(TOKEN)
        return PodApi("127.0.0.1", self.port, tls=False, directory=str(directory), timeout=timeout)

    def _talk(self, handler: Handler, held: socket.socket) -> None:
        with held.makefile("rb") as stream:
            handler(Talk(held, stream, self.asked))
