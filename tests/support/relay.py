# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Servers on loopback that pass bytes on, or do whatever else a test wants with a connection."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Self


class Listener:
    """Leaves to ``_serve`` what it does with its connections."""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *unused: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise NotImplementedError


class Relay(Listener):
    """Passes bytes on to a server's port, so TLS ends at that server. Its connections can be cut."""

    def __init__(self, port: int) -> None:
        self._behind = port
        self._writers: set[asyncio.StreamWriter] = set()
        self.accepted = 0

    @property
    def connections(self) -> int:
        return len(self._writers) // 2

    def cut(self) -> None:
        """End all connections at once, as a network does: with a reset."""
        for writer in self._writers:
            writer.transport.abort()

    async def __aexit__(self, *unused: object) -> None:
        await super().__aexit__()
        self.cut()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        behind, ahead = await asyncio.open_connection("127.0.0.1", self._behind)
        self._writers |= {writer, ahead}
        await asyncio.gather(pump(reader, ahead), pump(behind, writer))
        self._writers -= {writer, ahead}


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass bytes on to their end."""
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()
