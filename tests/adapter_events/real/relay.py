# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A relay between a client and a server on loopback, whose connections can be cut."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Self


class Relay:
    """Listens on ``port``; what it ``accepted`` goes to the server's port."""

    def __init__(self, server: int) -> None:
        self._server_port = server
        self._writers: set[asyncio.StreamWriter] = set()
        self.accepted = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *unused: object) -> None:
        self._server.close()
        self.cut()

    def cut(self) -> None:
        """End all connections at once, as a network does: with a reset."""
        for writer in self._writers:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        there, back = await asyncio.open_connection("127.0.0.1", self._server_port)
        self._writers |= {writer, back}
        await asyncio.gather(_copy(reader, back), _copy(there, writer), return_exceptions=True)
        self._writers -= {writer, back}


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()
