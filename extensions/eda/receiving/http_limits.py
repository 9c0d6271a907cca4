# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Limits for a small aiohttp server: connections, and the time until a request's head is complete.

aiohttp itself limits neither the number of connections nor the time for the first head. It keeps an idle
connection for an hour, and logs requests that it cannot parse, which may contain a token.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

__all__ = ["KEEP_ALIVE_SECONDS", "ConnectionLimiter", "quiet_logger"]

# Maximum connections at once. A process often may have 1024 files.
_MAX_CONNECTIONS = 256
# Seconds in which a first request's head must be complete, and in which the next one may come.
_HEAD_SECONDS = 30.0
KEEP_ALIVE_SECONDS = 75.0


class _Quiet(logging.Filter):
    """Keeps only the type of an exception: its message quotes the request."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Every record is kept."""
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            record.msg, record.args = f"{record.getMessage()}: {type(error).__name__}", ()
            record.exc_info = record.exc_text = None
            record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


def quiet_logger(parent: logging.Logger) -> logging.Logger:
    """A logger for aiohttp's ``AppRunner``."""
    logger = parent.getChild("http")
    if not any(isinstance(one, _Quiet) for one in logger.filters):
        logger.addFilter(_Quiet())
    return logger


class _Refused(asyncio.Protocol):
    """Closes a connection above the limit."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Close it at once."""
        transport.close()


class ConnectionLimiter:
    """Limits the connections of one runner.

    :param most: maximum connections at once; further ones are closed.
    :param head: seconds for a first request's head.
    """

    def __init__(self, library: Any, *, most: int = _MAX_CONNECTIONS, head: float = _HEAD_SECONDS) -> None:
        self._most = most
        self._head = head
        # Connections without a complete head.
        self._without_request: set[Any] = set()

        async def request_received(request: Any, handler: Any) -> Any:
            self._without_request.discard(request.protocol)
            return await handler(request)

        self.middleware = library.middleware(request_received)

    @asynccontextmanager
    async def open(self, runner: Any, host: str | None, port: int) -> AsyncIterator[list[tuple[Any, ...]]]:
        """Listen for a runner that was set up; return the addresses.

        :raises OSError: the port cannot be used.
        """
        loop = asyncio.get_running_loop()

        def accepted() -> asyncio.BaseProtocol:
            if len(runner.server.connections) >= self._most:
                return _Refused()
            protocol: asyncio.BaseProtocol = runner.server()
            self._without_request.add(protocol)
            loop.call_later(self._head, self._close_without_request, protocol)
            return protocol

        server = await loop.create_server(accepted, host, port)
        try:
            yield [one.getsockname() for one in server.sockets]
        finally:
            server.close()

    def _close_without_request(self, protocol: Any) -> None:
        if protocol in self._without_request:
            self._without_request.discard(protocol)
            protocol.force_close()
