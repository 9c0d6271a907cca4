# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Receives events by HTTP POST, with a small server.

It answers 202 once the event is queued, and keeps it in memory. The sender must post lost events again after
a crash, as the sentinel does. The head of a request decides whether it is accepted, before its body is read:
401 without the token, 413 for a body that is too long, 503 if too many events are unacknowledged.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.brokers.base import (
    LOGGER,
    Broker,
    Message,
    Take,
    number_option,
    reconnecting,
    text_option,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.cloud_events import LARGEST
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.http_limits import (
    KEEP_ALIVE_SECONDS,
    ConnectionLimiter,
    quiet_logger,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.recorder import ActivityRecorder
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.connection import (
    TokenFile,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    ConfigurationError,
    missing_package,
)

__all__ = ["WebhookBroker"]

# Bodies that are read concurrently, and seconds in which one must be complete.
_BODIES = 16
_READ = 30.0


@dataclass(frozen=True)
class WebhookBroker(Broker):
    """One URL for POST requests.

    :param token: the token of ``Authorization: Bearer``; None: no token.
    :param prefetch: maximum number of unacknowledged messages.
    """

    NAME: ClassVar[str] = "webhook"
    OPTIONS: ClassVar[tuple[str, ...]] = ("listen", "path", "token_file", "prefetch")

    host: str
    port: int
    path: str
    prefetch: int
    token: TokenFile | None = field(repr=False)
    _library: Any = field(repr=False, compare=False)
    _numbers: Any = field(default_factory=itertools.count, repr=False, compare=False)
    _unacknowledged: set[int] = field(default_factory=set, repr=False, compare=False)
    # The real address: port 0 means any free one.
    addresses: list[str] = field(default_factory=list, compare=False)

    @classmethod
    def validate(cls, options: Mapping[str, Any], prefetch: int) -> WebhookBroker:
        """See ``Broker``."""
        try:
            from aiohttp import web
        except ImportError as error:
            raise missing_package(error, "aiohttp") from None
        host, port = _listen(options.get("listen"))
        if not port.isascii() or not port.isdecimal() or int(port) > 65535:
            raise ConfigurationError("broker.listen must be an address and a port, such as 127.0.0.1:8080")
        path = text_option(options, "path", "/")
        if not path.startswith("/"):
            raise ConfigurationError("broker.path must begin with /")
        host = host.strip("[]")
        token = TokenFile(text_option(options, "token_file")) if options.get("token_file") else None
        if token is not None:
            token.token()
        elif not _is_loopback(host):
            raise ConfigurationError(
                "broker.token_file is required unless broker.listen is a loopback address"
            )
        held = number_option(options, "prefetch", prefetch, 10**6)
        return cls(host, int(port), path, held, token, web)

    async def run(self, take: Take, recorder: ActivityRecorder) -> None:
        """See ``Broker``."""
        # Nothing acknowledges the messages of an earlier session.
        self._unacknowledged.clear()
        await reconnecting(
            lambda connected: self._session(take, connected, recorder), self._explain, recorder
        )

    async def acknowledge(self, tokens: Sequence[Any]) -> int:
        """Make room for the same number of new messages."""
        self._unacknowledged.difference_update(tokens)
        return len(tokens)

    def _explain(self, error: BaseException) -> str:
        why = getattr(error, "strerror", None) or type(error).__name__
        return f"the webhook at {self.host}:{self.port}: {why}"

    async def _session(self, take: Take, connected: Callable[[], None], recorder: ActivityRecorder) -> None:
        web = self._library
        # Bodies are read some at a time: memory would not hold the maximum number at once.
        reading = asyncio.Semaphore(_BODIES)

        async def expected(request: Any) -> Any:
            """Answer a client that sends ``Expect: 100-continue`` before its body."""
            if request.headers.get("Expect", "").lower() != "100-continue":
                raise web.HTTPExpectationFailed
            refusal = self._refusal(request, recorder)
            if refusal is None:
                await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            return refusal

        async def posted(request: Any) -> Any:
            refusal = self._refusal(request, recorder)
            return refusal if refusal is not None else await self._posted(request, take, recorder, reading)

        limiter = ConnectionLimiter(web)
        application = web.Application(client_max_size=LARGEST, middlewares=[limiter.middleware])
        application.router.add_post(self.path, posted, expect_handler=expected)
        runner = web.AppRunner(
            application, access_log=None, logger=quiet_logger(LOGGER), keepalive_timeout=KEEP_ALIVE_SECONDS
        )
        await runner.setup()
        try:
            async with limiter.open(runner, self.host or None, self.port) as addresses:
                self.addresses[:] = [f"http://{host}:{port}{self.path}" for host, port, *_more in addresses]
                connected()
                LOGGER.info("webhook: listening on %s", ", ".join(self.addresses))
                await asyncio.Event().wait()
        finally:
            await runner.cleanup()

    def _refusal(self, request: Any, recorder: ActivityRecorder) -> Any:
        """Return the response that refuses a request without reading its body; None if the request is accepted."""
        if self.token is not None and not _is_allowed(request, self.token):
            return _answer(self._library, 401, "unauthorized")
        if (request.content_length or 0) > LARGEST:
            return self._too_large(recorder)
        if len(self._unacknowledged) >= self.prefetch:
            return _answer(self._library, 503, "busy", {"Retry-After": "1"})
        return None

    async def _posted(
        self, request: Any, take: Take, recorder: ActivityRecorder, reading: asyncio.Semaphore
    ) -> Any:
        token = next(self._numbers)
        # Counted from here on, so that simultaneous requests respect the limit.
        self._unacknowledged.add(token)
        taken = False
        try:
            async with asyncio.timeout(_READ), reading:
                body = await request.read()
            take(Message(body, request.headers, token))
            taken = True
        except self._library.HTTPRequestEntityTooLarge:
            return self._too_large(recorder)
        except TimeoutError:
            return _answer(self._library, 408, "too slow")
        except (self._library.RequestPayloadError, ConnectionError):
            # The body does not match its head, or the client has disconnected.
            return _answer(self._library, 400, "the request body is incomplete")
        finally:
            if not taken:
                self._unacknowledged.discard(token)
        return _answer(self._library, 202, "accepted")

    def _too_large(self, recorder: ActivityRecorder) -> Any:
        """Refuse a body that is too long, and count it as garbage."""
        recorder.garbage("too_large")
        LOGGER.warning("an unusable message was refused: too_large")
        return _answer(self._library, 413, "too large")


def _listen(value: Any) -> tuple[str, str]:
    """Parse address and port: as one string, or as the AdapterConfig has them, in two fields."""
    if isinstance(value, str):
        host, _colon, text_of_port = value.rpartition(":")
        return host, text_of_port
    if isinstance(value, Mapping):
        value = SimpleNamespace(**value)
    address, port = getattr(value, "address", None), getattr(value, "port", None)
    return str(address or "127.0.0.1"), str(8081 if port is None else port)


def _is_loopback(host: str) -> bool:
    """Return whether it is a loopback address. An empty host means all addresses."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_allowed(request: Any, token: TokenFile) -> bool:
    given = request.headers.get("Authorization", "").encode("utf-8", "replace")
    try:
        wanted = f"Bearer {token.token()}".encode()
    except ConfigurationError as error:
        LOGGER.error("%s", error.message)
        return False
    return hmac.compare_digest(given, wanted)


def _answer(library: Any, status: int, word: str, headers: Mapping[str, str] | None = None) -> Any:
    return library.Response(
        status=status,
        text=json.dumps({"status": word}),
        content_type="application/json",
        headers=headers,
    )
