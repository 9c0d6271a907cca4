# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""GET requests to one API server, over httpcore: limited in time, and never to a forbidden address.

A watch holds its connection for minutes, so each has its own connections: the time of a pool for a whole
fleet would grow with the square of the watches. TLS over httpcore costs 46 KiB per watch; asyncio's own,
which aiohttp uses, costs 300.

Modules without watches never load httpcore and anyio: they are imported where they are used.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import socket
import ssl
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, Union
from urllib.parse import unquote, urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

from ...model.errors import ConfigurationError, missing_package
from .addresses import FORBIDDEN, is_forbidden
from .embedded import astray
from .errors import distrust
from .watch_access import Access, host_and_port

if TYPE_CHECKING:
    import httpcore

__all__ = ["NoAnswer", "Server", "WatchAnswer", "load_http_library", "reach"]

# Seconds for a TCP connection, for TLS on it, and for sending.
_CONNECT = 10.0
_Option = Union[tuple[int, int, int], tuple[int, int, Union[bytes, bytearray]], tuple[int, int, None, int]]


def load_http_library() -> None:
    """Load the library for watches before the first one.

    :raises ConfigurationError: a package is missing.
    """
    try:
        for name in ("anyio", "httpcore"):
            importlib.import_module(name)
    except ImportError as error:
        raise missing_package(error, "httpcore anyio") from None
    # In debug mode it logs the heads of responses, which may quote anything.
    logging.getLogger("httpcore").setLevel(logging.INFO)


class NoAnswer(Exception):
    """No response, or an incomplete one. The message quotes nothing that was sent or received.

    ``untrusted``: the server's certificate is not accepted.
    """

    def __init__(self, reason: str, *, untrusted: bool = False) -> None:
        super().__init__(reason)
        self.untrusted = untrusted


class WatchAnswer:
    """The head of a response; its body is read in parts."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response
        self.status: int = response.status

    @property
    def retry_after(self) -> str | None:
        """The header of that name."""
        found = (value for name, value in self._response.headers if name.lower() == b"retry-after")
        return next((value.decode("latin-1") for value in found), None)

    async def parts(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives.

        :raises NoAnswer: it is cut off.
        :raises TimeoutError: nothing comes for too long.
        """
        with _translated():
            async for part in self._response.aiter_stream():
                yield part


class Server:
    """An API server that is used by one task at a time."""

    def __init__(self, access: Access, pool: httpcore.AsyncConnectionPool) -> None:
        self.access = access
        self._pool = pool
        parts = urlsplit(access.url)
        self._host = host_and_port(parts.netloc)
        self._origin = f"{parts.scheme}://{self._host}{parts.path}"

    @asynccontextmanager
    async def get(
        self, path: str, parameters: Mapping[str, str], accept: str, *, head: float, silence: float
    ) -> AsyncIterator[WatchAnswer]:
        """Send one request. Redirects are not followed, because a token is for the named server.

        :param head: seconds until the head of the response.
        :param silence: seconds between two parts of the response.
        :raises NoAnswer: no connection, or no HTTP response.
        :raises TimeoutError: not in time.
        :raises ConfigurationError: a tenant's kubeconfig leads to a forbidden address.
        """
        import anyio
        import httpcore

        query = f"?{urlencode(parameters)}" if parameters else ""
        extensions: dict[str, Any] = {
            "timeout": {"connect": _CONNECT, "write": _CONNECT, "read": silence, "pool": None}
        }
        if self.access.server_name:
            extensions["sni_hostname"] = self.access.server_name
        request = httpcore.Request(
            "GET",
            f"{self._origin}{path}{query}",
            headers=[
                ("Host", self._host),
                ("Accept", accept),
                # A small compressed response may become large.
                ("Accept-Encoding", "identity"),
                *self.access.headers(),
            ],
            extensions=extensions,
        )
        with _translated(self.access), anyio.fail_after(head):
            response = await self._pool.handle_async_request(request)
        try:
            yield WatchAnswer(response)
        finally:
            # A response that was not read to its end closes its connection.
            with anyio.CancelScope(shield=True):
                await response.aclose()


@asynccontextmanager
async def reach(access: Access) -> AsyncIterator[Server]:
    """Yield an API server with its own connections, which end with the context."""
    import httpcore

    load_http_library()
    backend = _Backend(access.embedded is not None)
    # Without TLS httpcore needs no context; it would load the system's CAs if none is given.
    shared: dict[str, Any] = {
        "ssl_context": access.tls or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        "max_connections": None,
        "network_backend": backend,
        "socket_options": _keep_alive(),
    }
    proxy = _proxy(access)
    if proxy is None:
        pool = httpcore.AsyncConnectionPool(**shared)
    else:
        pool = _through(proxy, access, shared)
    async with pool:
        yield Server(access, pool)


class _Forbidden(Exception):
    """The address of the server or a proxy is forbidden for tenants' kubeconfigs."""


class _Backend:
    """An ``AsyncNetworkBackend`` that connects over TCP as httpcore's own, and checks each address first.

    :param careful: connect to no forbidden address.
    """

    def __init__(self, careful: bool) -> None:
        import httpcore

        self._careful = careful
        self._backend = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[_Option] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        import anyio
        import httpcore

        options = list(socket_options or ())
        if not self._careful:
            return await self._backend.connect_tcp(host, port, timeout, local_address, options)
        problem: Exception = httpcore.ConnectError("no address")
        with anyio.fail_after(timeout):
            try:
                found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
            except (OSError, UnicodeError) as error:
                raise httpcore.ConnectError(str(type(error).__name__)) from error
            # Each address of a name is tried, except forbidden ones.
            for *_dummy, address in found:
                if is_forbidden(str(address[0])):
                    problem = _Forbidden(FORBIDDEN)
                    continue
                try:
                    return await self._backend.connect_tcp(
                        str(address[0]), port, None, local_address, options
                    )
                except httpcore.ConnectError as error:
                    problem = error
        raise problem

    async def sleep(self, seconds: float) -> None:
        await self._backend.sleep(seconds)


def _proxy(access: Access) -> str | None:
    """Return the proxy to the API server: the kubeconfig's, or the environment's, as with kubectl."""
    parts = urlsplit(access.url)
    host = parts.hostname or ""
    if _is_listed(host, access.no_proxy or ""):
        return None
    if access.proxy:
        return access.proxy
    return None if proxy_bypass(host) else getproxies().get(parts.scheme)


def _is_listed(host: str, no_proxy: str) -> bool:
    """Return whether a comma-separated list has the host or a domain of it."""
    names = [name.strip().lstrip(".").lower() for name in no_proxy.split(",")]
    return any(name == "*" or host == name or host.endswith(f".{name}") for name in names if name)


def _through(proxy: str, access: Access, shared: dict[str, Any]) -> httpcore.AsyncConnectionPool:
    import httpcore

    try:
        parts = urlsplit(proxy)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        # The URL may hold a password.
        raise ConfigurationError(
            "the API server's proxy must be an address such as http://HOST:3128"
        ) from None
    login: tuple[bytes, bytes] | None = None
    if parts.username:
        login = unquote(parts.username).encode(), unquote(parts.password or "").encode()
    return httpcore.AsyncHTTPProxy(
        f"{parts.scheme}://{host}{port}",
        proxy_auth=login,
        proxy_headers=list(access.proxy_headers),
        **shared,
    )


def _keep_alive() -> list[_Option]:
    """Let the kernel notice within a minute that the other side has disappeared."""
    options: list[_Option] = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in (("TCP_KEEPIDLE", 20), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return options


@contextmanager
def _translated(access: Access | None = None) -> Iterator[None]:
    """Translate httpcore's errors: their message may quote what was sent, and they have no common base."""
    import httpcore

    lost = (httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError, httpcore.UnsupportedProtocol)
    try:
        yield
    except _Forbidden:
        if access is None or access.embedded is None:
            raise
        raise astray(access.embedded.where) from None
    except httpcore.TimeoutException:
        raise asyncio.TimeoutError from None
    except (asyncio.TimeoutError, TimeoutError):
        # The last is an OSError as well.
        raise
    except (*lost, OSError) as error:
        raise NoAnswer(_reason(error), untrusted=distrust(error) is not None) from None


def _reason(error: BaseException) -> str:
    """Return the system's reason, or the error's type."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and not isinstance(cause, ssl.SSLError) and (cause.errno or 0) > 0:
            return os.strerror(cause.errno or 0)
        cause = cause.__cause__ or cause.__context__
    return type(error).__name__
