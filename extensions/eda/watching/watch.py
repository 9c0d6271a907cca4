# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Watches one Secret, or a kind, until the process ends, and continues after all errors of the server."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from typing import Callable

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.accesses import Accesses
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.api import (
    ApiServers,
    Named,
    Nonsense,
    SecretReader,
    WatchExpired,
    WatchFailed,
    WatchRefused,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.hosted_control_plane import (
    original_secret,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.settings import Watched
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.watch_access import (
    Access,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.watch_transport import (
    NoAnswer,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    ConfigurationError,
    PermissionDenied,
    PullSecretError,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import parse_retry_after

__all__ = ["LOGGER", "Pauses", "Watch"]

LOGGER = logging.getLogger("hyperfleet.pull_secret.kubernetes_secret")

# Consecutive failures before a report and a new list: usually the next attempt succeeds.
_REPORTED = 3
# Seconds after which a watch counts as working, and how many consecutive watches may end earlier before the
# pauses grow.
_LIVED = 10.0
_SHORT = 5


class Pauses:
    """Returns the seconds before the next attempt, with a random factor from 0.5 to 1.5."""

    def __init__(self, first: float = 0.5, most: float = 30.0, refused: float = 60.0) -> None:
        self._first, self._most, self._refused = first, most, refused

    def after(self, failures: int, error: BaseException | None) -> float:
        if isinstance(error, (WatchRefused, ConfigurationError, PermissionDenied)):
            seconds = self._refused
        else:
            seconds = min(self._most, self._first * 2.0 ** min(failures - 1, 20))
        asked = parse_retry_after(error.retry_after) if isinstance(error, WatchFailed) else None
        # A thousand watches that a server lost at once must not return at once.
        return max(seconds * random.uniform(0.5, 1.5), min(asked or 0.0, 300.0))  # noqa: S311


class Watch:
    """Watches one Secret, and reports by callbacks.

    :param changed: called with (secret, kind, resourceVersion) for each change. Kind and resourceVersion are None
        if the Secret does not exist at the first list.
    :param trouble: called with (secret, text) for a persistent failure. The text is None when the watch works
        again.
    """

    def __init__(
        self,
        watched: Watched,
        servers: ApiServers,
        accesses: Accesses,
        changed: Callable[[Named, str | None, str | None], None],
        trouble: Callable[[Named, str | None], None],
        pauses: Pauses,
    ) -> None:
        self.watched = watched
        self.secret = Named(watched.namespace, watched.name or watched.kind or "(the original)")
        self._servers = servers
        self._accesses = accesses
        self._changed = changed
        self._trouble = trouble
        self._pauses = pauses
        # The Secret's version when last seen: "" is absent, None is never.
        self._seen: str | None = None
        # The version from which to watch; None: list first.
        self._at: str | None = None
        self._failures = 0
        self._short = 0
        self._mended: set[int] = set()
        self._reported: str | None = None
        self._used: Access | None = None
        # When the current watch began, in monotonic time.
        self._opened: float | None = None

    async def run(self) -> None:
        """Never returns; cancel it."""
        while True:
            self._opened = None
            error: Exception | None = None
            try:
                await self._follow()
            except Exception as caught:  # noqa: BLE001 - a watch must neither end nor stop the others
                error = caught
            lived = time.monotonic() - self._opened if self._opened else 0.0
            if lived >= _LIVED:
                self._works()
            self._short = self._short + 1 if lived < _LIVED else 0
            often = self._short - _SHORT
            mended = self._mends(error)
            if often <= 0 and (mended or (error is None and lived >= 1.0)):
                continue
            if not mended:
                self._failures += 1
                self._note(error)
            await asyncio.sleep(self._pauses.after(max(self._failures, often, 1), None if mended else error))

    async def _follow(self) -> None:
        """List if necessary, and watch until the server ends it."""
        self._used = None
        access = self._used = await self._accesses.get(self.watched.connection)
        async with self._servers.reach(access) as server:
            if self._at is not None and not await self._still_named(server):
                self._at = None
            if self._at is None:
                self.secret = await self._named(server)
                found = await server.find(self.secret)
                self._listed(found.version)
                self._at = found.at
            async with server.watch(self.secret, self._at) as events:
                self._opened = time.monotonic()
                async for kind, version in events:
                    self._at = version
                    self._works()
                    if kind != "BOOKMARK":
                        self._event(kind, version)

    async def _named(self, server: SecretReader) -> Named:
        """Return the Secret; a HostedControlPlane may name another one by now."""
        watched = self.watched
        if watched.kind is not None:
            return await server.collection(watched.kind, watched.selector)
        name = watched.name or await original_secret(server.read, watched.namespace, watched.plane)
        return Named(watched.namespace, name)

    async def _still_named(self, server: SecretReader) -> bool:
        if self.watched.kind is not None:
            return True
        try:
            return await self._named(server) == self.secret
        except (PullSecretError, NoAnswer, OSError, asyncio.TimeoutError):
            # The watch reports any problem.
            return True

    def _listed(self, version: str) -> None:
        seen, self._seen = self._seen, version
        if seen is None:
            self._changed(self.secret, "ADDED" if version else None, version or None)
        elif version != seen:
            self._changed(
                self.secret, ("MODIFIED" if seen else "ADDED") if version else "DELETED", version or seen
            )

    def _event(self, kind: str, version: str) -> None:
        if self.secret.path:
            # Controllers write these objects all the time.
            if kind != "MODIFIED":
                self._changed(self.secret, kind, version)
            return
        # After a list, the watch repeats known changes.
        if kind == "DELETED":
            if self._seen:
                self._seen = ""
                self._changed(self.secret, kind, version)
        elif version != self._seen:
            self._seen = version
            self._changed(self.secret, kind, version)

    def _mends(self, error: Exception | None) -> bool:
        """Do what most often repairs this error, but only once until the watch works again; return whether it was
        done.
        """
        if not isinstance(error, (WatchExpired, WatchRefused)) or error.status not in (401, 410):
            return False
        if isinstance(error, WatchExpired):
            self._at = None
        else:
            # Tokens expire, and the next one usually exists already.
            self._accesses.forget(self.watched.connection, self._used)
        first = error.status not in self._mended
        self._mended.add(error.status)
        return first

    def _works(self) -> None:
        self._failures = 0
        self._mended.clear()
        if self._reported:
            self._reported = None
            self._trouble(self.secret, None)

    def _note(self, error: Exception | None) -> None:
        lasting = self._failures >= _REPORTED
        if error is not None and (lasting or _is_refused(error)):
            # The files may have changed, or the token is no longer accepted.
            self._accesses.forget(self.watched.connection, self._used)
        if lasting:
            self._at = None
        if error is None:
            return
        text = describe_failure(error)
        LOGGER.debug("watching %s/%s: %s", *self.secret[:2], text)
        if (lasting or _is_refused(error)) and text != self._reported:
            self._reported = text
            self._trouble(self.secret, text)


def _is_refused(error: Exception) -> bool:
    return isinstance(error, (WatchRefused, PullSecretError))


def describe_failure(error: Exception) -> str:
    """Return a description of the failure: never a library's message, which may quote what was sent."""
    if isinstance(error, PullSecretError):
        return str(error)
    if isinstance(error, Nonsense):
        return "the answer is not from a Kubernetes API server"
    if isinstance(error, WatchFailed):
        said = {
            401: "HTTP 401: the API server does not accept the credentials",
            403: "HTTP 403: the user needs permission to get, list and watch it",
            406: "HTTP 406: the server cannot send Tables, which the watch needs",
        }
        return said.get(error.status, f"the API server answers with HTTP {error.status}")
    if isinstance(error, NoAnswer):
        if error.untrusted:
            return "the API server's certificate is not accepted"
        return f"no connection to the API server: {error}"
    if isinstance(error, (asyncio.TimeoutError, TimeoutError)):
        return "the API server does not answer in time"
    if isinstance(error, OSError):
        reason = getattr(error, "strerror", None)
        return f"no connection to the API server: {reason or type(error).__name__}"
    return f"internal error: {type(error).__name__}"
